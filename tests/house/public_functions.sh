#!/bin/sh
# Each function of tenon.h is called by at least one example and at least one test, so that it is shown and tried.
#   public_functions.sh ROOT
#   public_functions.sh --self-test
set -eu

functions() { # HEADER: the names that it declares
  grep -v '^#' "$1" | tr '\n' ' ' | grep -oE 'TENON_API [^;]*;' | sed -E 's/^[^(]*[ *](tenon_[a-z_0-9]+)\(.*/\1/' | sort -u
}

# calls NAME FILE...: does one of the files call it? Comments do not count.
calls() {
  name=$1
  shift
  cat "$@" | sed -e 's|//.*||' -e 's|/\*.*\*/||' | grep -qE "(^|[^a-z_0-9])$name( *\(|[,)]|$)"
}

check() { # HEADER EXAMPLES TESTS: files, one list each
  failures=0
  for name in $(functions "$1"); do
    # shellcheck disable=SC2086 # paths of this tree have no spaces
    calls "$name" $2 || { echo "$name is in no example"; failures=$((failures + 1)); }
    # shellcheck disable=SC2086
    calls "$name" $3 || { echo "$name is in no test"; failures=$((failures + 1)); }
  done
  [ "$failures" = 0 ]
}

self_test() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  printf 'TENON_API int tenon_one(int a,\n  int b);\nTENON_API const char* tenon_two(void);\n' >"$work/h"
  [ "$(functions "$work/h" | tr '\n' ' ')" = "tenon_one tenon_two " ] || { functions "$work/h"; return 1; }
  printf 'x = tenon_one(1, 2);\nTRY(tenon_two());\n' >"$work/all"
  printf 'tenon_one(1, 2); /* tenon_two() */\ntenon_two_more();\n' >"$work/one"
  check "$work/h" "$work/all" "$work/all" || { echo "what is called was not found"; return 1; }
  if check "$work/h" "$work/all" "$work/one" >/dev/null || check "$work/h" "$work/one" "$work/all" >/dev/null; then
    echo "a function that nobody calls was missed"
    return 1
  fi
}

if [ "$1" = --self-test ]; then
  self_test
  exit 0
fi
root=$1
examples=$(find "$root/sdk/examples" -name '*.c' -o -name '*.h')
tests=$(find "$root/tests" -name '*.c' -o -path '*/tests/api/*.h'; find "$root/sdk" -name '*_test.c')
check "$root/sdk/include/tenon/tenon.h" "$examples" "$tests" || exit 1
echo "$(functions "$root/sdk/include/tenon/tenon.h" | wc -l) functions, each in an example and in a test"
