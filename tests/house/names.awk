# Finds names in C sources, outside of comments. Reads lists first, then sources:
#   awk -f names.awk list=names FILE list=free FILE list=own FILE list= SOURCE...
# names: one a line, whatever plugins register. free: words that may stand anywhere. own: words that may be
# identifiers, but not literals. With words=1 it prints every identifier instead.
list == "names" { names[$0] = 1; next }
list == "free" { free[$0] = 1; next }
list == "own" { own[$1] = 1; next }

FNR == 1 { in_comment = 0 }

function found(word, kind) {
  print FILENAME ":" FNR ": " kind " " word
  count++
}

function identifier(word) {
  if (words) print word
  else if ((word in names) && !(word in free) && !(word in own)) found(word, "identifier")
}

# A literal is a name, or has an identity in it: "standard.name/1".
function literal(text,   rest, part) {
  if (words) return
  if ((text in names) && !(text in free)) found(text, "literal")
  rest = text
  while (match(rest, /[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*\/[0-9]/)) {
    part = substr(rest, RSTART, RLENGTH - 2)
    sub(/^[^.]*\./, "", part)
    if (part in names) found(part, "identity of")
    rest = substr(rest, RSTART + RLENGTH)
  }
}

{
  line = $0
  while (line != "") {
    if (in_comment) {
      end = index(line, "*/")
      if (end == 0) break
      line = substr(line, end + 2)
      in_comment = 0
    } else if (match(line, /^[A-Za-z_][A-Za-z0-9_]*/)) {
      identifier(substr(line, 1, RLENGTH))
      line = substr(line, RLENGTH + 1)
    } else if (match(line, /^"([^"\\]|\\.)*"/)) {
      length_found = RLENGTH
      literal(substr(line, 2, length_found - 2))
      line = substr(line, length_found + 1)
    } else if (match(line, /^'([^'\\]|\\.)*'/)) {
      line = substr(line, RLENGTH + 1)
    } else if (substr(line, 1, 2) == "/*") {
      in_comment = 1
      line = substr(line, 3)
    } else if (substr(line, 1, 2) == "//") {
      break
    } else {
      line = substr(line, 2)
    }
  }
}

END { exit count > 0 }
