#!/bin/sh
# The tables of the documents name all that there is: folders of tests and of plugins in house.md, labels of tests
# in CONTRIBUTING.md.
#   documents.sh ROOT BUILD [CTEST]
set -eu
root=$1 build=$2 ctest=${3:-ctest}
failures=0

# named FILE WORD: the word stands there as code.
named() {
  grep -qF "\`$2\`" "$root/$1" || {
    echo "$1 does not name $2"
    failures=$((failures + 1))
  }
}

for folder in "$root"/tests/*/; do
  named sdk/docs/house.md "tests/$(basename "$folder")"
done
for folder in "$root"/plugins/*/ "$root"/parser_*/; do
  folder=${folder%/}
  named sdk/docs/house.md "${folder#"$root/"}"
done
labels=$("$ctest" --test-dir "$build" --print-labels | sed -n 's/^  \([a-z][a-z]*\)$/\1/p')
[ -n "$labels" ] || {
  echo "ctest prints no labels"
  failures=$((failures + 1))
}
for label in $labels; do
  named CONTRIBUTING.md "$label"
done
[ "$failures" = 0 ]
