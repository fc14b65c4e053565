#!/bin/sh
# The tables of the documents name all that there is: folders of tests and of plugins in house.md, labels of tests
# in CONTRIBUTING.md. And each file that house.md and the glossary name is there; house.md names one of each room.
#   documents.sh ROOT BUILD [CTEST] | --self-test
set -eu

# files_named DOCUMENT: paths of files from the root, as code.
files_named() {
  grep -oE '`(core|sdk|plugins|plugin_registry|parser_[a-z]+|tests)/[A-Za-z_0-9/]+\.[a-z]+`' "$1" | tr -d '`' | sort -u
}

check_files() { # ROOT
  faults=0
  for document in house glossary; do
    for file in $(files_named "$1/sdk/docs/$document.md"); do
      [ -f "$1/$file" ] || {
        echo "sdk/docs/$document.md names $file, which is not there"
        faults=$((faults + 1))
      }
    done
  done
  for room in "$1"/core/*/; do
    room=core/$(basename "$room")
    files_named "$1/sdk/docs/house.md" | grep -q "^$room/" || {
      echo "sdk/docs/house.md names no file of $room"
      faults=$((faults + 1))
    }
  done
  [ "$faults" = 0 ]
}

if [ "${1:-}" = --self-test ]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/core/one" "$work/sdk/docs"
  touch "$work/core/one/a.c" "$work/core/one/b.h"
  echo 'see `core/one/a.c`' >"$work/sdk/docs/house.md"
  echo '| b | `core/one/b.h` |' >"$work/sdk/docs/glossary.md"
  check_files "$work"
  mkdir "$work/core/two"
  ! check_files "$work" >/dev/null || { echo 'missed: a room without a file'; exit 1; }
  rmdir "$work/core/two"
  rm "$work/core/one/b.h"
  ! check_files "$work" >/dev/null || { echo 'missed: a file that is not there'; exit 1; }
  exit 0
fi
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
check_files "$root" || failures=$((failures + 1))
[ "$failures" = 0 ]
