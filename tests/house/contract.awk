# plugin.h with each member of its structures deprecated under the name "structure.member": a compiler then tells
# where it is used. Lines stay where they are.
{
  line = $0
  code = $0
  if (in_comment) {
    if (!sub(/^.*\*\//, "", code)) {
      print line
      next
    }
    in_comment = 0
  }
  gsub(/\/\*[^*]*(\*[^*\/][^*]*)*\*\//, "", code)
  if (sub(/\/\*.*$/, "", code)) in_comment = 1
  if (structure == "") {
    if (match(code, /struct [a-z_0-9]+ \{/)) {
      structure = substr(code, RSTART + 7, RLENGTH - 9)
      if (only != "" && structure != only) structure = "" # no other one, where one is asked for
      depth = 1
      member = ""
    }
    print line
    next
  }
  if (code ~ /^[ \t]*union \{/) {
    ++depth
    print line
    next
  }
  if (code ~ /^[ \t]*\}/) {
    --depth
    if (depth == 0) structure = ""
    print line
    next
  }
  member = member " " code
  if (code ~ /;[ \t]*$/) {
    name = member
    if (match(name, /\(\*[a-z_0-9]+\)/)) {
      name = substr(name, RSTART + 2, RLENGTH - 3)
    } else {
      sub(/(\[[^]]*\])?;[ \t]*$/, "", name)
      sub(/.*[^a-z_0-9]/, "", name)
    }
    print structure "." name > names
    sub(/;[ \t]*(\/\*.*)?$/, " __attribute__((deprecated(\"" structure "." name "\")));", line)
    member = ""
  }
  print line
}
