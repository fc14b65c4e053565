#!/bin/sh
# Checks that each row of the tables of converters has a recorded case and stands in the README.
#   rows.sh TENON TESTS
tenon=$1 folder=$2
rows=0
missing=0
index=$("$tenon" plugins --index) || exit 1
for row in $(printf '%s\n' "$index" |
  sed -nE 's/^\{"kind": "converter", "name": "([^"]*)", "plugin": "microsoft", .*"domain": "([^"]*)".*/\1:\2/p'); do
  type=${row%%:*}
  domain=${row#*:}
  rows=$((rows + 1))
  if ! grep -qF "$domain" "$folder"/cases/*/"${type}"_*/model.onnx 2>/dev/null; then
    echo "$domain::$type has no recorded case"
    missing=$((missing + 1))
  fi
  if ! grep -qw "$type" "$folder/../README.md"; then
    echo "$domain::$type is not in README.md"
    missing=$((missing + 1))
  fi
done
echo "$rows rows, $missing missing"
[ "$rows" -gt 0 ] && [ "$missing" -eq 0 ]
