#!/bin/sh
# Checks that each row of the tables of converters has a recorded case and stands in the README.
#   rows.sh TENON TESTS
tenon=$1 folder=$2
rows=0
missing=0
index=$("$tenon" plugins --index) || exit 1
for row in $(printf '%s\n' "$index" |
  sed -nE 's/^\{"kind": "converter", "name": "([^"]*)", "plugin": "tensorrt", .*"domain": "([^"]*)".*/\1:\2/p'); do
  type=${row%%:*}
  rows=$((rows + 1))
  set -- "$folder"/cases/*/"${type}"_*/model.onnx
  if [ ! -f "$1" ]; then
    echo "$type has no recorded case"
    missing=$((missing + 1))
  fi
  if ! grep -qE "^\| ([A-Za-z0-9_]+, )*${type}[, |]" "$folder/../README.md"; then
    echo "$type is not in README.md"
    missing=$((missing + 1))
  fi
done
echo "$rows rows, $missing missing"
[ "$rows" -gt 0 ] && [ "$missing" -eq 0 ]
