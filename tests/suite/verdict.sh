#!/bin/sh
# What `tenon suite` concludes, on the networks that the demo runs and one case that is wrong.
#   verdict.sh TENON DEMO WORK
set -u
tenon=$1
demo=$2
work=$(mktemp -d "$3/verdict.XXXXXX")
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
failures=0

# The outputs of two data sets are exchanged.
cases=$work/cases
mkdir -p "$cases/right" "$cases/wrong"
for name in right wrong; do
  cp "$demo/digits/model.onnx" "$cases/$name"
  cp -r "$demo/digits/test_data_set_0" "$cases/$name"
done
cp "$demo/digits/test_data_set_1/output_0.pb" "$cases/wrong/test_data_set_0/output_0.pb"
# A model that needs what nobody has.
mkdir "$cases/other"
sed 's/Relu/Rulu/g' "$demo/digits/model.onnx" >"$cases/other/model.onnx"
cp -r "$demo/digits/test_data_set_0" "$cases/other"

# check WHAT STATUS WORDS [options...]: the exit status, and a line that must be there.
check() {
  what=$1
  status=$2
  words=$3
  shift 3
  "$tenon" suite "$cases" "$@" >"$work/log" 2>&1
  got=$?
  if [ $got -ne "$status" ] || ! grep -q -e "$words" "$work/log"; then
    echo "$what: exit status $got, expected $status and '$words':"
    cat "$work/log"
    failures=$((failures + 1))
  fi
}

counts='^1 passed, 1 failed, 1 skipped$'
known() {
  printf '%s\n' "$@" >"$work/known"
}
check 'a failure' 1 "$counts"
check 'a skip says why' 1 '^skipped other: .*Rulu'
known '# comment' 'wrong    the outputs are those of another digit'
check 'a known failure' 0 "$counts" --known "$work/known"
check 'a known failure says why' 0 'known: the outputs are those of another digit' --known "$work/known"
known 'wrong known' 'right is said to fail'
check 'an unexpected pass' 1 'unexpected pass: right is known to fail (is said to fail)' \
  --known "$work/known"
known 'wrong known' '~right fails now and then'
check 'a pass by chance' 0 "$counts" --known "$work/known"
known 'wrong known' 'gone is no case any more'
check 'a pattern without a case' 1 "'gone' in .* names no case" --known "$work/known"
known 'wrong'
check 'a pattern without a reason' 3 'known:1: a line is a pattern, a space and a reason' \
  --known "$work/known"
check 'too few' 1 'only 1 cases passed, at least 2 should' --filter 'right' --at-least 2
check 'a filter' 0 '^1 passed, 0 failed, 0 skipped$' --filter 'r*' --at-least 1
check 'no case' 3 'no case .* matches' --filter 'none'
exit $((failures > 0 ? 1 : 0))
