#!/usr/bin/env bash
# The figures of the house: size, shape and comment of the product's sources, without tests and fakes. What they
# mean stands in sdk/docs/house.md.
#
#   figures.sh ROOT             prints the table
#   figures.sh ROOT --details   and before it each name behind a figure
#   figures.sh ROOT --check     and fails where a figure is beyond its limit
#   figures.sh --self-test      each limit is seen to be noticed
set -euo pipefail
export LC_ALL=C
folder=$(cd "$(dirname "$0")" && pwd)

# Limits: none may grow. What is aimed at stands behind.
most_elsewhere_percent=3
most_circles=0
most_parameters=23 # 25
most_twice=0
most_guards=0
most_room_percent=13
most_headless=10
least_beside=0.15 # lines of tests per line of code, in each of these modules
beside='timing rehearsal candidate fusion layout choice schedule engine frame step control context builder'

measure() { # ROOT DETAILS
  cd "$1"
  find core $(ls -d plugin_registry plugins parser_* sdk 2>/dev/null || true) \
    \( -name '*.c' -o -name '*.h' -o -name '*.inc' \) ! -name '*_test.c' ! -name '*_fuzz.c' ! -name 'test*.h' \
    ! -name 'sample_*.h' ! -name 'fake_*' \
    ! -path '*/testing/*' ! -path '*/bench/*' ! -path 'sdk/examples/*' -print0 | sort -z |
    xargs -0 awk -v details="$2" -f "$folder/figures.awk"
}

check() { # the line of limits
  local elsewhere declared circles parameters twice guards room headless failures=0
  read -r _ elsewhere declared circles parameters twice guards room headless <<<"$1"
  above() {
    if awk "BEGIN { exit !($2 > $3) }"; then
      echo "$1: $2, at most $3"
      failures=$((failures + 1))
    fi
  }
  above 'percent of functions declared in the header of another source' \
    "$(awk "BEGIN { print $declared == 0 ? 0 : 100 * $elsewhere / $declared }")" $most_elsewhere_percent
  above 'circles of files' "$circles" $most_circles
  above 'functions with seven parameters or more' "$parameters" $most_parameters
  above 'names defined twice' "$twice" $most_twice
  above 'loops with a guard that they do not change' "$guards" $most_guards
  above 'percent of the core in its largest room' "$room" $most_room_percent
  above 'sources without a comment at the top' "$headless" $most_headless
  return $((failures > 0))
}

# Modules with fewer lines of tests beside their code than the limit.
check_beside() { # ROOT
  local room code tests failures=0
  for room in $beside; do
    [[ -d $1/core/$room ]] || continue
    tests=$(find "$1/core/$room" \( -name "*_test.c" -o -name "test_*.h" \) -exec cat {} + | wc -l)
    code=$(($(cat "$1/core/$room"/*.[ch] | wc -l) - tests))
    if awk "BEGIN { exit !($tests < $least_beside * $code) }"; then
      echo "core/$room: $tests lines of tests beside $code lines of code, at least $least_beside per line"
      failures=$((failures + 1))
    fi
  done
  return $((failures > 0))
}

self_test() {
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mkdir -p "$root"/core/{one,two} "$root"/sdk "$root"/plugins
  printf '#include "core/two/b.h"\n\nint tenon__a(int x);\nint tenon__c(int x);\n' >"$root/core/one/a.h"
  printf '#include "core/one/a.h"\n\nint tenon__b(int x);\n' >"$root/core/two/b.h"
  printf '#include "core/two/b.h"\n\nint tenon__b(int x) {\n  return x;\n}\n\nint tenon__c(int x) {\n  return x;\n}\n' \
    >"$root/core/two/b.c"
  printf '%s\n' '#include "core/one/a.h"' '' 'int tenon__a(int x) {' '  int sum = 0;' \
    '  for (int i = 0; x > 3 && i < 5; ++i) {' '    sum += i;' '  }' '  for (int i = 0; sum < 3 && i < 5; ++i) {' \
    '    sum += i;' '  }' '  return sum;' '}' '' 'int tenon__many(int a, int b, int c, int d, int e, int f,' \
    '                int g) {' '  return a + b + c + d + e + f + g;' '}' >"$root/core/one/a.c"
  measure "$root" '' >"$root/table" 2>"$root/limits"
  read -r _ elsewhere declared circles parameters twice guards _ headless <"$root/limits"
  [[ "$elsewhere $declared $circles $parameters $twice $guards $headless" == '1 3 1 1 0 1 2' ]] ||
    { cat "$root/table" "$root/limits"; echo 'figures of a known tree came out otherwise'; return 1; }
  local limits
  for limits in '4 100 0 0 0 0 0 0' '3 100 0 0 0 0 0 11'; do
    if check "limits $limits" >/dev/null; then echo "a limit was not noticed: $limits"; return 1; fi
  done
  check 'limits 3 100 0 0 0 0 0 10' >/dev/null
  mkdir "$root/core/step"
  seq 100 >"$root/core/step/a.c"
  seq 14 >"$root/core/step/a_test.c"
  if check_beside "$root" >/dev/null; then echo 'missing tests were not noticed'; return 1; fi
  seq 15 >"$root/core/step/a_test.c"
  check_beside "$root"
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  limits=$(mktemp)
  trap 'rm -f "$limits"' EXIT
  measure "$(cd "${1:?the root of the tree}" && pwd)" "$([[ ${2:-} == --details ]] && echo 1 || true)" 2>"$limits"
  if [[ ${2:-} == --check ]]; then
    check "$(cat "$limits")"
    check_beside "$1"
  fi
fi
