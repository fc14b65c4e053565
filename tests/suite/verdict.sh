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
# What is skipped may be known, too.
known 'wrong known' 'other    nobody has a Rulu'
check 'a known skip says why' 0 '^skipped other: .*known: nobody has a Rulu' --known "$work/known"

# A sum over axes that are an input: it can be built when their value is given.
cp -r "$(dirname "$0")/open_axes" "$cases"
check 'values that were needed are counted' 0 \
  "^1 passed, 0 failed, 0 skipped (1 of those passed with an input's value at build)$" --filter 'open*'
check 'and named' 0 '^passed  open_axes .*, built with the value of axes$' --filter 'open*' --verbose
check 'and told to programs' 0 '"input_constants": "axes"' --filter 'open*' --json
check 'values that are not given are counted' 0 \
  "^0 passed, 0 failed, 1 skipped (1 more pass with an input's value at build)$" \
  --filter 'open*' --no-input-constants
check 'and named, after the reason' 0 \
  '^skipped open_axes: .* be known when building; it passes when built with the value of axes$' \
  --filter 'open*' --no-input-constants
check 'likewise to programs' 0 '"would_pass_with_input_constants": 1' --filter 'open*' --json \
  --no-input-constants
# With another output it would not pass with it either.
cp "$cases/open_axes/test_data_set_0/input_0.pb" "$cases/open_axes/test_data_set_0/output_0.pb"
check 'what would fail all the same is not counted' 0 '^0 passed, 0 failed, 1 skipped$' \
  --filter 'open*' --no-input-constants
exit $((failures > 0 ? 1 : 0))
