#!/usr/bin/env bash
# Each room of the core has a page, README.md, that names its nouns in reading order: every header and every source
# without one of its own, and nothing that is not there. Names of passes alone may be missing from the optimiser's.
#
#   rooms.sh ROOT | --self-test
set -euo pipefail
export LC_ALL=C

check_room() { # FOLDER
  local folder=$1 room page=$1/README.md there told
  room=$(basename "$folder")
  if [[ ! -f $page ]]; then
    echo "core/$room has no README.md"
    return 1
  fi
  there=$(find "$folder" \( -name '*.[ch]' -o -name '*.inc' \) ! -name '*_test.c' ! -name '*_fuzz.c' \
    ! -name 'test*.h' ! -name 'sample_*.h' -printf '%f\n' | sed -E 's/\.([ch]|inc)$//' | sort -u)
  # Passes are told by the table in passes.h.
  if [[ -f $folder/passes.h ]]; then
    there=$(comm -23 <(echo "$there") \
      <(sed -nE 's/^ *X\("[^"]*", [a-z]*, ([a-z_]*)\).*/\1/p' "$folder/passes.h" | grep -vxE 'rewrites|merge_equal' | sort -u))
  fi
  told=$(sed -nE 's/^\| (`[^|]*`) \|.*/\1/p' "$page" | grep -oE '`[a-z_]+`' | tr -d '`' | sort)
  local fault=0
  if [[ $(sort -u <<<"$told") != "$told" ]]; then
    echo "core/$room/README.md names twice: $(uniq -d <<<"$told" | tr '\n' ' ')"
    fault=1
  fi
  local missing extra
  missing=$(comm -23 <(echo "$there") <(sort -u <<<"$told"))
  extra=$(comm -13 <(echo "$there") <(sort -u <<<"$told"))
  if [[ -n $missing ]]; then
    echo "core/$room/README.md does not name: $(tr '\n' ' ' <<<"$missing")"
    fault=1
  fi
  if [[ -n $extra ]]; then
    echo "core/$room/README.md names what is not there: $(tr '\n' ' ' <<<"$extra")"
    fault=1
  fi
  return $fault
}

check_all() { # ROOT
  local folder failures=0 room
  for folder in "$1"/core/*/; do
    check_room "${folder%/}" || failures=$((failures + 1))
    # The picture of the house shows the room.
    room=$(basename "$folder")
    if ! grep -qE "(^|[ +-])$room/ " "$1/sdk/docs/house.md"; then
      echo "sdk/docs/house.md does not show core/$room/"
      failures=$((failures + 1))
    fi
  done
  return $((failures > 0))
}

self_test() {
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mkdir -p "$root/core/one" "$root/sdk/docs"
  echo ' +- one/   a b' >"$root/sdk/docs/house.md"
  touch "$root"/core/one/{a.h,a.c,b.inc,a_test.c}
  printf '| `a`, `b` | two |\n' >"$root/core/one/README.md"
  check_all "$root"
  local page
  for page in '| `a` | one |' '| `a`, `b`, `c` | three |' '| `a`, `a`, `b` | twice |'; do
    echo "$page" >"$root/core/one/README.md"
    if check_all "$root" >/dev/null; then
      echo "missed: $page"
      return 1
    fi
  done
  rm "$root/core/one/README.md"
  if check_all "$root" >/dev/null; then echo 'missed: no page'; return 1; fi
  printf '| `a`, `b` | two |\n' >"$root/core/one/README.md"
  echo 'nothing' >"$root/sdk/docs/house.md"
  if check_all "$root" >/dev/null; then echo 'missed: a room that the house does not show'; return 1; fi
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  check_all "$(cd "${1:?the root of the tree}" && pwd)"
fi
