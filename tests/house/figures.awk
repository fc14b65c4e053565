# Figures of a tree of clang-formatted C: what figures.sh prints. Reads every file once, strips comments and
# strings, and takes declarations and definitions at the left margin.

function room_of(file,  parts) {
  split(file, parts, "/")
  return parts[1] == "core" ? parts[1] "/" parts[2] : parts[1] == "sdk" || parts[1] == "plugins" ? parts[1] "/" parts[2] : parts[1]
}

function stem_of(file) {
  sub(/\.([ch]|inc)$/, "", file)
  return file
}

# The line without comments, string and character literals; `in_comment` goes on over lines.
function code_of(line,  out, at) {
  out = ""
  while (line != "") {
    if (in_comment) {
      at = index(line, "*/")
      if (at == 0) return out
      line = substr(line, at + 2)
      in_comment = 0
    } else if (match(line, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'|\/\*|\/\//)) {
      out = out substr(line, 1, RSTART - 1)
      at = substr(line, RSTART, RLENGTH)
      line = substr(line, RSTART + RLENGTH)
      if (at == "/*") in_comment = 1
      else if (at == "//") return out
      else out = out "\"\""
    } else {
      return out line
    }
  }
  return out
}

function parameter_count(head,  depth, count, i, c, inside) {
  depth = 0
  count = 0
  inside = ""
  for (i = index(head, "("); i <= length(head); ++i) {
    c = substr(head, i, 1)
    if (c == "(") ++depth
    else if (c == ")" && --depth == 0) break
    else if (c == "," && depth == 1) ++count
    if (depth > 0 && i > index(head, "(")) inside = inside c
  }
  gsub(/[ \t]/, "", inside)
  return inside == "" || inside == "void" ? 0 : count + 1
}

function name_of(head,  left) {
  left = substr(head, 1, index(head, "(") - 1)
  sub(/[ \t]+$/, "", left)
  sub(/.*[^A-Za-z0-9_]/, "", left)
  return left
}

# A guard that the loop cannot change: a part of the condition none of whose names is in the step, assigned in
# the body, or handed out by address there; a member that a pointer leads to also where a call gets the pointer.
function count_guards(k,  head, cond, parts, names, n, i, j, step, word, free, body, rest) {
  head = loop_head[k]
  body = loop_body[k]
  n = split(head, parts, ";")
  if (n < 3) return 0
  cond = parts[2]
  step = parts[3]
  n = split(cond, parts, "&&")
  if (n < 2) return 0
  for (i = 1; i <= n; ++i) {
    rest = parts[i]
    free = 1
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
      word = substr(rest, RSTART, RLENGTH)
      rest = substr(rest, RSTART + RLENGTH)
      if (step ~ "(^|[^A-Za-z0-9_])" word "($|[^A-Za-z0-9_])" ||
          body ~ "(^|[^A-Za-z0-9_])" word "[^A-Za-z0-9_=;]*(=[^=]|\\+\\+|--|[-+*|&]=)" ||
          body ~ "(\\+\\+|--|&)" word "($|[^A-Za-z0-9_])" || rest ~ /^\(/ ||
          (rest ~ /^->/ && body ~ "[(,] *" word "[,)]")) { # what a pointer leads to, and a call is given it
        free = 0
      }
    }
    if (free) return 1
  }
  return 0
}

function end_function() {
  if (current == "") return
  ++function_count
  function_length[function_count] = FNR - current_start + 1
  if (function_length[function_count] > longest) {
    longest = function_length[function_count]
    longest_name = current
  }
  if (function_length[function_count] >= 6) {
    if (body_text in body_seen) ++same_bodies
    body_seen[body_text] = current
  }
  current = ""
}

FNR == 1 {
  in_comment = 0
  head = ""
  current = ""
  depth = 0
  is_header = FILENAME ~ /\.h$/
  file = FILENAME
  sub(/^\.\//, "", file)
  ++files
  room = room_of(file)
  if (file ~ /\.c$/ && $0 !~ /^\/\*/) {
    ++headless
    if (details) print "no comment at the top: " file
  }
  kind = file ~ /^sdk\/include/ ? file : is_header ? "private headers" : "sources"
}

{
  ++lines
  ++room_lines[room]
  ++kind_lines[kind]
  was_comment = in_comment
  raw = $0
  code = code_of(raw)
  if (was_comment || raw ~ /^[ \t]*\/[*\/]/) ++kind_comments[kind]

  if (raw ~ /^#include "/) {
    split(raw, quoted, "\"")
    target = quoted[2]
    if (target ~ /^core\// && file ~ /^core\// && stem_of(target) != stem_of(file)) {
      edge[stem_of(file), stem_of(target)] = 1
      node[stem_of(file)] = node[stem_of(target)] = 1
    }
    target_room = room_of(target)
    if (target_room != room && target ~ /^core\//) arrow[room, target_room] = 1
  }
  if (raw ~ /^#/ || continued) {
    continued = raw ~ /\\$/
    next
  }
  continued = 0

  if (current != "") {
    body_text = body_text code "\n"
    # Loops: the head may run over lines; the body ends at the head's indentation.
    if (match(code, /^ *for \(/)) {
      ++loops
      loop_indent[loops] = match(code, /[^ ]/)
      loop_place[loops] = file ":" FNR
      loop_head[loops] = ""
      loop_body[loops] = ""
      loop_open[loops] = 1
      loop_in_head[loops] = 1
    }
    for (k = loops; k > 0 && k > loops - 12; --k) {
      if (!loop_open[k]) continue
      if (loop_in_head[k]) {
        loop_head[k] = loop_head[k] " " code
        if (code ~ /\{$/ || code ~ /;$/) loop_in_head[k] = 0
      } else if (match(code, /[^ ]/) == loop_indent[k] && code ~ /^ *\}/) {
        loop_open[k] = 0
      } else {
        loop_body[k] = loop_body[k] "\n" code
      }
    }
    if (code ~ /^\}/) end_function()
    next
  }
  if (head == "" && code !~ /^[A-Za-z_]/) next
  head = head " " code
  gsub(/__attribute__ *\(\(([^()]|\([^()]*\))*\)\)/, "", head)
  open_braces = gsub(/\{/, "{", head) - gsub(/\}/, "}", head)
  if (head ~ /^ *(typedef|struct|enum|union|static const|const)[^(]*[ =]\{/ && open_braces > 0) next
  if (head ~ /;[ \t]*$/ || head ~ /\{[ \t]*$/ || head ~ /\}[ \t]*;?[ \t]*$/) {
    is_definition = head ~ /\{[ \t]*$/
    if (head ~ /^ *typedef/ || head ~ /^ *(struct|enum|union)[^(]*\{/ || head !~ /\(/ || head ~ /=[^=].*[({]/) {
      if (match(head, /[A-Za-z0-9_]+;[ \t]*$/) && head ~ /^ *typedef/ && head !~ /typedef (struct|enum|union) [A-Za-z0-9_]+ [A-Za-z0-9_]+;/) {
        type = substr(head, RSTART, RLENGTH)
        sub(/;.*/, "", type)
        if (is_header && file ~ /^(core|plugin_registry|sdk\/library)\//) note_name(type)
      }
    } else {
      name = name_of(head)
      if (is_definition) {
        current = name
        current_start = FNR
        body_text = ""
        parameters = parameter_count(head)
        if (parameters >= 7) {
          ++many_parameters
          if (details) print "many parameters: " name " in " file ", " parameters
        }
        if (head !~ /^ *static/ && !is_header) {
          if (file ~ /^core\//) defined[name] = file
          if (file ~ /^(core|plugin_registry|sdk\/library)\//) note_name(name)
        }
      } else if (is_header && head !~ /^ *static/ && file ~ /^core\//) {
        declared[name] = file
      }
    }
    head = ""
  }
}

function note_name(name) {
  if (name in name_home && name_home[name] != file) {
    if (!(name in twice)) ++name_twice
    twice[name] = name_home[name] " and " file
  }
  name_home[name] = file
}

function visit(from,  pair, parts) {
  seen[from] = 1
  for (pair in edge) {
    split(pair, parts, SUBSEP)
    if (parts[1] == from && !(parts[2] in gone) && !(parts[2] in seen)) visit(parts[2])
  }
}

function percent(part, whole) { return whole == 0 ? 0 : 100 * part / whole }

END {
  for (name in declared) {
    if (!(name in defined)) continue
    ++declared_count
    if (stem_of(declared[name]) != stem_of(defined[name])) {
      ++elsewhere
      if (details) print "declared elsewhere: " name " in " declared[name] ", defined in " defined[name]
    }
  }
  if (details) for (name in twice) print "named twice: " name " in " twice[name]
  for (k = 1; k <= loops; ++k) {
    if (!count_guards(k)) continue
    ++guards
    if (details) print "guard: " loop_place[k]
  }

  # Circles: what leads nowhere, or is led to by nobody, is in none.
  do {
    changed = 0
    delete from_count
    delete to_count
    for (pair in edge) {
      split(pair, parts, SUBSEP)
      if (!(parts[1] in gone) && !(parts[2] in gone)) {
        ++from_count[parts[1]]
        ++to_count[parts[2]]
      }
    }
    for (stem in node) {
      if (!(stem in gone) && (from_count[stem] == 0 || to_count[stem] == 0)) {
        gone[stem] = 1
        changed = 1
      }
    }
  } while (changed)
  for (stem in node) {
    if (stem in gone) continue
    delete seen
    visit(stem)
    for (other in seen) reaches[stem, other] = 1
  }
  for (stem in node) {
    if (stem in gone || stem in counted) continue
    members = 1
    list = stem
    for (other in node) {
      if (other != stem && !(other in gone) && reaches[stem, other] && reaches[other, stem]) {
        ++members
        counted[other] = 1
        list = list " " other
      }
    }
    if (members > 1) {
      ++circles
      circle_files += members
      if (details) print "circle: " list
    }
  }

  for (i = 2; i <= function_count; ++i) { # insertion into buckets by length
    ++length_count[function_length[i]]
  }
  ++length_count[function_length[1]]
  for (i = 1; i <= longest; ++i) {
    passed += length_count[i]
    if (median == 0 && passed >= function_count / 2) median = i
    if (p99 == 0 && passed >= function_count * 0.99) p99 = i
  }
  for (name in room_lines) if (name ~ /^core\//) core_lines += room_lines[name]
  for (name in room_lines) {
    if (name ~ /^core\// && room_lines[name] > largest) {
      largest = room_lines[name]
      largest_room = name
    }
  }
  for (pair in arrow) ++arrows

  printf "%-44s %d, %d lines\n", "files", files, lines
  printf "%-44s %d: median %d, p99 %d, longest %d (%s)\n", "functions, lines of", function_count, median, p99, longest, longest_name
  printf "%-44s %d\n", "functions with seven parameters or more", many_parameters
  printf "%-44s %.1f %% (%d of %d)\n", "declared here, defined there (core)", percent(elsewhere, declared_count), elsewhere, declared_count
  printf "%-44s %d of %d files\n", "circles of files (core)", circles, circle_files
  printf "%-44s %d\n", "arrows between rooms (core)", arrows
  printf "%-44s %d\n", "names defined twice", name_twice
  printf "%-44s %d\n", "same bodies of six lines or more", same_bodies
  printf "%-44s %d\n", "sources without a comment at the top", headless
  printf "%-44s %d of %d\n", "loops with a guard that they do not change", guards, loops
  for (name in kind_lines) printf "%-44s %.1f %%\n", "comment share, " name, percent(kind_comments[name], kind_lines[name]) | "sort"
  close("sort")
  printf "%-44s %d lines, largest %s with %.1f %%\n", "core", core_lines, largest_room, percent(largest, core_lines)
  for (name in room_lines) printf "  %-42s %6d %5.1f %%\n", name, room_lines[name], percent(room_lines[name], name ~ /^core\// ? core_lines : lines) | "sort -k2,2nr"
  close("sort -k2,2nr")
  print "limits", 0 + elsewhere, 0 + declared_count, 0 + circles, 0 + many_parameters, 0 + name_twice, 0 + guards, percent(largest, core_lines), 0 + headless > "/dev/stderr"
}
