#!/bin/sh
# The command with a Caffe network: its parts, settings, and words when something is missing.
#   command.sh TENON ROOT
set -eu
tenon=$1
digits=$2/sdk/demo/digits
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
failures=0

# try STATUS TEXT ARGUMENT...: the exit status, and what either stream must say.
try() {
  wanted=$1
  text=$2
  shift 2
  status=0
  "$tenon" "$@" >"$folder/out" 2>&1 || status=$?
  if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" "$folder/out"; then
    echo "FAILED: tenon $*: status $status, not $wanted, or it does not say: $text"
    sed 's/^/  | /' "$folder/out"
    failures=$((failures + 1))
  fi
}

model=$digits/model.prototxt
weights=$digits/model.caffemodel
try 0 "probabilities agrees" run "$model" --weights "$weights" --data-set "$digits/test_data_set_0"
try 0 "(hit)" run "$model" --part "$weights" --data-set "$digits/test_data_set_0"
try 0 "> 7 " run "$weights" --part "$model" --input "$digits/digit_7.pgm" --scale 0.003921569 \
  --labels "$digits/labels.txt"
try 0 "f32 5x10" run "$model" --weights "$weights" --shapes image:5x1x8x8
try 0 "f32 1x10" run "$model" --weights random
first=$("$tenon" run "$model" --weights random:3 2>/dev/null | tail -1)
again=$("$tenon" run "$model" --weights random:3 --no-cache 2>/dev/null | tail -1)
other=$("$tenon" run "$model" --weights random:4 2>/dev/null | tail -1)
if [ "$first" != "$again" ] || [ "$first" = "$other" ]; then
  echo "FAILED: --weights random:SEED: '$first', '$again', '$other'"
  failures=$((failures + 1))
fi
try 3 "there are no weights for 5 of its layers: 'conv1', 'conv2'" run "$model"
try 3 "name the network's prototxt as the model" run "$weights"
for seed in -1 +1 " 1" "" 1x 99999999999999999999; do
  try 3 "it can be \"random\" or \"random:SEED\"" run "$model" --weights "random:$seed"
done
# A layer of 72 Mi weights: the rest is not looked for.
sed 's/num_output: 16/num_output: 8388608/' "$model" >"$folder/large.prototxt"
try 3 "there are no weights for at least 1 of its layers: 'conv1'" run "$folder/large.prototxt"
# A model that cannot be built says what it is made of.
cat >"$folder/strange.prototxt" <<'END'
input: 'x' input_dim: 1 input_dim: 3 input_dim: 4 input_dim: 4
layer { name: 'a' type: 'Strange' bottom: 'x' top: 'y' top: 'other' }
layer { name: 'b' type: 'ReLU' bottom: 'y' top: 'y' }
END
for line in "x: f32 1x3x4x4" "output    other: f32" "output    y: f32" "1 Strange missing" "1 ReLU by caffe"; do
  try 3 "$line" inspect "$folder/strange.prototxt" --no-build
done
try 3 "'colour=red' is set, which the parser for format 'caffe' does not know" run "$model" \
  --weights "$weights" --setting colour=red
try 3 "'stage=x' is set, which the parser for format 'onnx' does not know" run \
  "$digits/model.onnx" --setting stage=x
printf "layer {\n  name: }" >"$folder/bad.prototxt"
try 3 "bad.prototxt: line 2, column 9: expected a value, found '}'" inspect "$folder/bad.prototxt"
[ "$failures" = 0 ]
