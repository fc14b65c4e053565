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
  split($0, row, "\t")
  if (row[2] == "-")
    tested[row[1]] = row[4]
  else
    tests[row[1], row[2], row[3]] = row[4]
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

function title(name) { return name == "onnx" ? "ONNX" : name == "uff" ? "UFF" : toupper(substr(name, 1, 1)) substr(name, 2) }

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
  if (name in tested)
    printf "; %s", tested[name]
  print "."
  if ((name, "-") in note)
    printf "\n%s\n", note[name, "-"]
  is_wanted[name, "-"] = 0
}

function begin_table(name, group) {
  if (group != "")
    printf "\n### %s\n", group
  printf "\n| type |%s becomes |%s notes |\n", has_versions[name] ? " versions |" : "", name in tested ? " tests |" : ""
  printf "|---|%s---|%s---|\n", has_versions[name] ? "---|" : "", name in tested ? "---|" : ""
}

function print_row(i,   op, words, remark, count) {
  op = made[format[i], domain[i], type[i], since[i]]
  if (!(op in summary) && op !~ /^(y =|let )/) # else a setting of the row's function
    op = builds[format[i], type[i]]
  if (op != "" && !(op in summary) && op !~ /^(y =|let )/)
    fail("there is no standard operator '" op "', which " type[i] " becomes")
  remark = until[i] == 0 ? note[format[i], type[i]] : ""
  if (remark == "" && op != "")
    remark = summary[op]
  words = since[i] " on"
  if (until[i] > 0)
    words = since[i] + 1 == until[i] ? since[i] "" : since[i] " to " until[i] - 1
  printf "| %s |", type[i]
  if (has_versions[format[i]])
    printf " %s |", words
  printf " %s |", op == "" ? "" : "`" cell(op) "`"
  count = tests[format[i], domain[i], type[i]] + tests[format[i], "*", type[i]]
  if (format[i] in tested)
    printf " %d |", count
  printf " %s |\n", cell(remark)
  is_wanted[format[i], type[i]] = 0
  if (format[i] == "caffe" && count == 0) # graphs of today cannot be made with TensorFlow's oldest operators
    fail("no test has a layer of type " type[i])
}

END {
  print "# Operators of model files"
  print ""
  print "*Operators with a converter. `tests/operators/update.sh` writes this page from the plugins; a test fails when it is"
  print "old. `tenon plugins --index` says the same of the plugins that you have.*"
  print ""
  print "*Becomes*: the standard operator or the [expression](expressions.md) that a node is, or is in most cases; where none"
  print "stands, several are built. Any plugin may offer further converters: [`maker.h`](../include/tenon/maker.h)."
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
