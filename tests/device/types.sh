#!/usr/bin/env bash
# Narrower types on the device `far`, whose products are there in bf16 too: with the build's permission they are taken,
# conversions go into the expressions around them; a network that bf16 ruins is noticed on samples, and what does the
# harm stays as it is, by name.
#   tests/device/types.sh BUILD ROOT
# shellcheck source=tests/device/common.sh
. "$(dirname "$0")/common.sh"

# make NAME MODEL OPTIONS...: the plan, and what was said.
make() {
  local name=$1 model=$2
  shift 2
  "$tenon" build "$model" -o "$name.plan" --plugins "$far" --device far:0 --no-measuring -v "$@" >out 2>&1 ||
    complain "building $name"
  "$tenon" inspect "$name.plan" --plugins "$far" --refusals >"$name.txt" 2>&1
}

# narrow NAME: how many steps write bf16.
narrow() { grep -cE '^ +[0-9]+ .* bf16 +[^ ]' "$1.txt"; }
steps() { grep -oE ': [0-9]+ steps' out | grep -oE '[0-9]+'; }

digits=$root/sdk/demo/digits
make exact "$digits/model.onnx"
(($(narrow exact) == 0)) || complain "bf16 without being asked for"
before=$(steps)
make bf16 "$digits/model.onnx" --bf16
(($(narrow bf16) >= 4)) || complain "the products of digits are not in bf16"
# One conversion of the input and one of the result: all others are in expressions.
(($(steps) <= before + 2)) || complain "conversions are steps of their own: $(steps), not $before"
"$tenon" run bf16.plan --plugins "$far" --input "$digits/digit_7.pgm" >out 2>&1 || complain "running it"

if [[ -z ${TENON_TEST_DATA:-} ]]; then
  echo "TENON_TEST_DATA is not set: networks that bf16 ruins are left out"
  exit $((failures > 0))
fi

detector=$TENON_TEST_DATA/onnx_fastestdet
sample=$detector/test_data_set_0
make ruined "$detector/model.onnx" --bf16 --accuracy-bound 1 --samples "$sample"
grep -qE 'on 1 sample the results differ by 0\.01[0-9]? ' out || complain "bf16 does not ruin it as it did"
all=$(narrow ruined)
make guarded "$detector/model.onnx" --bf16 --samples "$sample"
error=$(grep -oE 'on 1 sample the results differ by [0-9.e-]+' out | grep -oE '[0-9.e-]+$')
awk -v e="${error:-1}" 'BEGIN { exit !(e <= 0.01) }' || complain "its results differ by ${error:-?}"
kept=$(grep -c "stays as it is: in bf16, by itself, it changes the results by" out)
((kept > 0)) || complain "no value is named that stays as it is"
grep -q "types: '.*' stays as it is: in bf16" guarded.txt || complain "the plan does not say which value stays, and why"
some=$(narrow guarded)
((some > 0 && some < all)) || complain "$some of $all tensors are in bf16"
# What the build was told of its results, the plan's own run shows.
"$tenon" run guarded.plan --plugins "$far" --data-set "$sample" >out 2>&1
grep -q 'largest difference' out || complain "running it"
# Made again for other plugins, or read again: what stays, stays.
value=$(sed -nE "s/.*types: '([^']*)' stays.*/\1/p" guarded.txt | head -1)
make told "$detector/model.onnx" --bf16 --keep "$value"
grep -q "types: '$value' stays as it is: the build was told so" told.txt || complain "--keep keeps nothing"
exit $((failures > 0))
