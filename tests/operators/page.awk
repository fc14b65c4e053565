# Makes the page of operators: see update.sh, which says what the lists hold.

# The text or number of a field of a line of JSON; texts here have no quotes in them.
function field(name,   at) {
  at = index($0, "\"" name "\": ")
  if (at == 0)
    return ""
  at = substr($0, at + length(name) + 4)
  if (substr(at, 1, 1) != "\"") {
    sub(/[,}].*/, "", at)
    return at
  }
  at = substr(at, 2)
  sub(/".*/, "", at)
  return at
}

function fail(words) {
  print words > "/dev/stderr"
  failed = 1
}

function cell(text) {
  gsub(/\|/, "\\|", text)
  return text
}

list == "rows" {
  split($0, row, "\t")
  made[row[1], row[2], row[3], row[4]] = row[5]
}

list == "counts" {
  tests[$1, $2] = $3
  if ($2 == "-") {
    is_counted[$1] = 1
    by_opencv[$1] = $4
  }
}

list == "notes" && !/^#/ && NF > 2 {
  key = $1 SUBSEP $2
  if ($3 ~ /^=/)
    builds[key] = substr($3, 2)
  sub($3 ~ /^=/ ? "^[^ ]+ +[^ ]+ +[^ ]+ *" : "^[^ ]+ +[^ ]+ +", "")
  note[key] = $0
  is_wanted[key] = 1
}

list == "index" && field("kind") == "operator" {
  name = field("name")
  short = name
  sub(/^[^.]*\./, "", short)
  sub(/\/[0-9]+$/, "", short)
  summary[short] = field("summary")
}

list == "index" && field("kind") == "parser" { parser[field("name")] = field("summary") }

list == "index" && field("kind") == "converter" {
  ++converters
  format[converters] = field("format")
  domain[converters] = field("domain")
  type[converters] = field("name")
  since[converters] = field("since") + 0
  until[converters] = field("until") + 0
  if (since[converters] > 1 || until[converters] > 0)
    has_versions[format[converters]] = 1
}

# Before: by format, domain, type, version.
function is_before(a, b) {
  if (format[a] != format[b])
    return format[a] < format[b]
  if (domain[a] != domain[b])
    return domain[a] < domain[b]
  if (type[a] != type[b])
    return type[a] < type[b]
  return since[a] < since[b]
}

function title(name) { return name == "onnx" ? "ONNX" : name == "uff" ? "UFF" : name == "tensorflow" ? "TensorFlow" : toupper(substr(name, 1, 1)) substr(name, 2) }

function begin_format(name,   i, key, rows, types) {
  for (i = 1; i <= converters; ++i) {
    if (format[i] != name)
      continue
    ++rows
    key = domain[i] SUBSEP type[i]
    types += seen[name, key]++ ? 0 : 1
  }
  printf "\n## %s\n\n%s. %d types", title(name), parser[name], types
  if (rows > types)
    printf ", %d rows", rows
  if (is_counted[name])
    printf "; %d networks test them, %d against OpenCV, %d against NumPy", tests[name, "-"], by_opencv[name], \
      tests[name, "-"] - by_opencv[name]
  print "."
  if ((name, "-") in note)
    printf "\n%s\n", note[name, "-"]
  is_wanted[name, "-"] = 0
}

function begin_table(name, group) {
  if (group != "")
    printf "\n### %s\n", group
  printf "\n| type |%s becomes |%s notes |\n", has_versions[name] ? " versions |" : "", is_counted[name] ? " tests |" : ""
  printf "|---|%s---|%s---|\n", has_versions[name] ? "---|" : "", is_counted[name] ? "---|" : ""
}

function print_row(i,   op, words, remark) {
  op = made[format[i], domain[i], type[i], since[i]]
  if (op == "")
    op = builds[format[i], type[i]]
  # An expression stands for itself; what is neither is a parameter of the row's function.
  if (op != "" && !(op in summary) && op !~ /^y = /) {
    if (op ~ /^[a-z_]*_[a-z_0-9]*$/)
      fail("there is no standard operator '" op "', which " type[i] " becomes")
    op = ""
  }
  remark = until[i] == 0 ? note[format[i], type[i]] : ""
  if (remark == "" && op in summary)
    remark = summary[op]
  words = since[i] " on"
  if (until[i] > 0)
    words = since[i] + 1 == until[i] ? since[i] "" : since[i] " to " until[i] - 1
  printf "| %s |", type[i]
  if (has_versions[format[i]])
    printf " %s |", words
  printf " %s |", op == "" ? "" : "`" cell(op) "`"
  if (is_counted[format[i]])
    printf " %d |", tests[format[i], type[i]]
  printf " %s |\n", cell(remark)
  is_wanted[format[i], type[i]] = 0
  if (is_counted[format[i]] && tests[format[i], type[i]] == 0)
    fail("no test has a layer of type " type[i])
}

END {
  print "# Operators of model files"
  print ""
  print "*What the parsers convert. `tests/operators/update.sh` writes this page from the plugins; a test fails when it is"
  print "old. `tenon plugins --index` says the same of the plugins that you have.*"
  print ""
  print "*Becomes*: the standard operator that a node is, or is in most cases; where none stands, several are built. Any"
  print "plugin may offer further converters: [`maker.h`](../include/tenon/maker.h)."
  for (i = 1; i <= converters; ++i) { # by insertion
    for (k = i - 1; k >= 1 && is_before(i, order[k]); --k)
      order[k + 1] = order[k]
    order[k + 1] = i
  }
  for (i = 1; i <= converters; ++i) {
    this = order[i]
    if (i == 1 || format[this] != format[order[i - 1]])
      begin_format(format[this])
    if (i == 1 || format[this] != format[order[i - 1]] || domain[this] != domain[order[i - 1]])
      begin_table(format[this], domain[this])
    print_row(this)
  }
  for (key in is_wanted) {
    if (is_wanted[key]) {
      split(key, part, SUBSEP)
      fail("notes.txt: there is no converter for " part[1] " " part[2])
    }
  }
  exit failed
}
