#!/bin/sh
# What was compiled in one build is not compiled in the next: kept_code.sh TENON MODEL
# Beside the timing cache, where the second build has no compiler; damaged, it is missed.
set -eu
tenon=$1
model=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CACHE_HOME=$folder
export XDG_CACHE_HOME
build() { # PLAN
  "$tenon" build "$model" --device cuda --no-measuring --no-cache -o "$1"
}
fail() {
  echo "FAILED: $*"
  exit 1
}
# Nothing that other tests have compiled.
unset STAND_IN_CACHE
build "$folder/first"
STAND_IN_NO_COMPILER=1
export STAND_IN_NO_COMPILER
build "$folder/second"
cmp "$folder/first" "$folder/second" || fail "the plans differ"
"$tenon" run "$folder/second" >/dev/null
for file in "$folder"/tenon/timings.code/*; do
  : >"$file"
done
if build "$folder/third"; then
  fail "it was built without a compiler and without what was compiled before"
fi
unset STAND_IN_NO_COMPILER
build "$folder/third"
cmp "$folder/first" "$folder/third" || fail "the plans differ when all is compiled again"
