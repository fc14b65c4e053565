#!/bin/sh
# The tables of the documents name all that there is: folders of tests and of plugins in house.md, labels of tests
# in CONTRIBUTING.md. And each file that house.md and the glossary name is there; house.md names one of each room.
# Relative links lead to files. Functions and options that pages for users name exist. Messages in tables of causes are in the sources.
#   documents.sh ROOT BUILD [CTEST] | --self-test
set -eu

# files_named DOCUMENT: paths of files from the root, as code.
files_named() {
  grep -oE '`(core|sdk|plugins|plugin_registry|parser_[a-z]+|tests)/[A-Za-z_0-9/]+\.[a-z]+`' "$1" | tr -d '`' | sort -u
}

check_files() { # ROOT
  faults=0
  for document in house glossary gpu-rules; do
    [ -f "$1/sdk/docs/$document.md" ] || continue
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

# Links of the form [text](path#heading), not into the web.
check_links() { # ROOT
  faults=0
  for page in "$1"/README.md "$1"/CONTRIBUTING.md "$1"/sdk/docs/*.md "$1"/sdk/docs/*/*.md "$1"/tests/research/*.md; do
    [ -f "$page" ] || continue
    # shellcheck disable=SC2013 # no link has spaces
    for link in $(grep -oE '\]\([^):]+\)' "$page" | sed -e 's/^](//' -e 's/)$//'); do
      path=${link%%#*} heading=
      case $link in *'#'*) heading=${link#*#} ;; esac
      target=$page
      [ -z "$path" ] || target=$(dirname "$page")/$path
      [ -e "$target" ] || {
        echo "${page#"$1/"}: the link $link leads nowhere"
        faults=$((faults + 1))
        continue
      }
      # A heading's name is its text in lower case, without punctuation, with - for blanks.
      [ -z "$heading" ] || sed -n 's/^#* //p' "$target" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' | grep -qx -- "$heading" || {
        echo "${page#"$1/"}: $link names no heading"
        faults=$((faults + 1))
      }
    done
  done
  [ "$faults" = 0 ]
}

# The messages in the first column of tables "message, cause, remedy": each piece between dots is in a source.
check_messages() { # ROOT
  faults=0
  (cd "$1" && find core plugin_registry plugins sdk parser_* -name '*.c' -exec cat {} +) |
    sed -z 's/"[ \n]*\n *"//g; s/%[a-z.*0-9]*/.../g' >"$2"
  for page in "$1"/sdk/docs/*.md "$1"/sdk/docs/*/*.md; do
    [ -f "$page" ] || continue
    awk '/^\| message \| cause/ { on = 1; next } !/^\|/ { on = 0 } on && /^\| `/ { split($0, cell, " \\| "); print cell[1] }' "$page" |
      grep -o '`[^`]*`' | tr -d '`' | sed 's/\.\.\./\n/g' | while IFS= read -r piece; do
      [ "${#piece}" -lt 5 ] || grep -qF -- "$piece" "$2" || echo "${page#"$1/"}: no source has the message '$piece'"
    done
  done >"$2.faults"
  cat "$2.faults"
  [ ! -s "$2.faults" ]
}

# Functions, types and constants of the C interface that the pages for users name are in its headers.
check_names() { # ROOT
  faults=0
  cat "$1"/sdk/include/tenon/*.h "$1"/sdk/include/tenon/*/*.h >"$2" 2>/dev/null || true
  for page in "$1"/sdk/docs/from-*.md "$1"/sdk/docs/troubleshooting.md "$1"/sdk/docs/guide/*.md; do
    [ -f "$page" ] || continue
    for name in $(grep -oE '\b(tenon_[a-z_0-9]+|TENON_[A-Z_0-9]+)' "$page" | sort -u); do
      case $name in TENON_CPU | TENON_PLUGIN_PATH) continue ;; esac
      grep -qw -- "$name" "$2" || {
        echo "${page#"$1/"}: no header has $name"
        faults=$((faults + 1))
      }
    done
  done
  [ "$faults" = 0 ]
}

# Options in the second and third column of tables whose first column is another tool's.
check_options() { # ROOT TENON
  faults=0
  for command in run build bench inspect compare convert suite plugins doctor; do
    "$2" "$command" --help-all
  done >"$3"
  for option in $(awk -F ' \\| ' '/^\|/ { print $2, $3 }' "$1"/sdk/docs/from-*.md | grep -oE -- '--[a-z][a-zA-Z0-9-]*[a-zA-Z0-9]' | sort -u); do
    grep -qE -- "(^|[ ,])$option([ ,]|$)" "$3" || {
      echo "sdk/docs/from-*.md: tenon has no option $option"
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
  mkdir -p "$work/sdk/docs/guide"
  echo '[one](guide/page.md#a-heading) [two](#one)
# One' >"$work/sdk/docs/house.md"
  printf '## A "heading"\n| message | cause | remedy |\n|---|---|---|\n| `no such '"'...'"' is there` | it | that |\n' >"$work/sdk/docs/guide/page.md"
  printf 'fail("no such \047%%.*s\047 is "\n     "there")' >"$work/core/one/a.c"
  check_links "$work"
  check_messages "$work" "$work/words" 2>/dev/null
  echo '[one](guide/page.md#the-heading)' >"$work/sdk/docs/house.md"
  ! check_links "$work" >/dev/null || { echo 'missed: a heading that is not there'; exit 1; }
  echo '[one](guide/pages.md)' >"$work/sdk/docs/house.md"
  ! check_links "$work" >/dev/null || { echo 'missed: a link that leads nowhere'; exit 1; }
  mkdir -p "$work/sdk/include/tenon"
  echo 'int tenon_one(void);' >"$work/sdk/include/tenon/tenon.h"
  echo 'Call `tenon_one`.' >"$work/sdk/docs/from-x.md"
  check_names "$work" "$work/words"
  echo 'Call `tenon_two`.' >"$work/sdk/docs/from-x.md"
  ! check_names "$work" "$work/words" >/dev/null || { echo 'missed: a function that no header has'; exit 1; }
  printf '#!/bin/sh\necho "      --one N  first"\n' >"$work/tenon" && chmod +x "$work/tenon"
  echo '| `--two` | `--one` | |' >"$work/sdk/docs/from-x.md"
  check_options "$work" "$work/tenon" "$work/words"
  echo '| `--two` | `--two` | |' >"$work/sdk/docs/from-x.md"
  ! check_options "$work" "$work/tenon" "$work/words" >/dev/null || { echo 'missed: an option that does not exist'; exit 1; }
  sed -i 's/is there/is here/' "$work/sdk/docs/guide/page.md"
  ! check_messages "$work" "$work/words" >/dev/null 2>&1 || { echo 'missed: a message that no source has'; exit 1; }
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
words=$(mktemp)
trap 'rm -f "$words" "$words.faults"' EXIT
check_links "$root" || failures=$((failures + 1))
check_messages "$root" "$words" || failures=$((failures + 1))
check_names "$root" "$words" || failures=$((failures + 1))
[ ! -x "$build/bin/tenon" ] || check_options "$root" "$build/bin/tenon" "$words" || failures=$((failures + 1))
check_files "$root" || failures=$((failures + 1))
[ "$failures" = 0 ]
