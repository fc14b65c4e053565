# shellcheck shell=bash disable=SC2154
# What is run, written and measured.
try 0 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --scale 0.003921569 \
  --labels "$digits/labels.txt" --top 2 --truth 7
says "(cache: miss)" "    class score      label" "  > 7     0.997" "which is right"
try 0 run "$digits/model.onnx" --input "$digits/digit_3.pgm" --scale 0.003921569 --top 1
says "(hit)" "> 3 "
try 0 run "$digits/model.onnx" --input "$digits/digit_3.pgm" --no-cache --top 1
says "(cache: off)"
try 0 run "$digits/model.onnx" --data-set "$digits/test_data_set_0"
says "output probabilities agrees"
try 0 run "$digits/model.onnx" --data-set "$digits/test_data_set_0" --top 1 --truth 7
says "output probabilities agrees" "> 7 " "which is right"
cp -r "$digits/test_data_set_0" wrong
cp "$digits/test_data_set_1/output_0.pb" wrong/output_0.pb
try 1 run "$digits/model.onnx" --data-set wrong
try 0 run "$digits/model.onnx" --input "$digits/test_images.npy" --scale 0.003921569 \
  --truth "$digits/test_labels.npy" --json
prints_json
says '"accuracy": 0.99'
try 0 run "$digits/model.onnx" --batch 3 --output written
says "image' (f32 3x1x8x8) is not given: random numbers, seed 0"
[[ -s written/output_0_probabilities.npy ]] || complain "no output was written"
# Numbers that are made up name no row that a table does not have.
cat >embed.prototxt <<'NET'
input: "word" input_shape { dim: 2 dim: 30 }
layer { name: "e" type: "Embed" bottom: "word" top: "y" embed_param { input_dim: 3 num_output: 2 } }
NET
try 0 run embed.prototxt --weights random
says "input 'word' (f32 2x30) is not given: random numbers from 0 to 2, seed 0"
mkdir other
cp -r "$digits/test_data_set_1" other/test_data_set_0
try 0 run "$digits/model.onnx" --data-set "$digits/test_data_set_0/" \
  --data-set "$digits/test_data_set_1/" --output each
[[ -s each/test_data_set_0/output_0_probabilities.npy &&
  -s each/test_data_set_1/output_0_probabilities.npy ]] || complain "not each has its results"
try 2 run "$digits/model.onnx" --data-set "$digits/test_data_set_0" \
  --data-set other/test_data_set_0/ --output each
says "--data-set other/test_data_set_0/: has the name of $digits/test_data_set_0"
try 0 run "$digits/model.onnx" --input "$coins/coins.pgm"
says "384 x 288 pixels are resized to 8 x 8"
try 0 run "$coins/model.onnx" --input "$coins/coins.pgm" --scale 0.003921569 \
  --truth "$coins/labels.pgm" --picture mask.pgm --overlay overlay.png
says "overlap (IoU) 0.99"
[[ -s mask.pgm && -s overlay.png ]] || complain "no pictures were written"
try 0 bench "$digits/model.onnx" --seconds 0.1 --json
prints_json
says '"median_ms"' '"p10_ms"' '"p90_ms"' '"load_ms"' '"build_ms"' '"arena_bytes"' \
  '"peak_rss_bytes"' '"threads"' '"device"' '"steps"'
try 0 bench "$digits/model.onnx" --seconds 0.1 --profile-steps
says "median" "throughput" "conv2"
# What the steps of a loop's body take is a part of what the loop takes.
try 0 run "$root/tests/fuzz/corpus/parser_onnx_reader/loop" --profile-steps --json
says '"depth": 1' '"median_us": '
awk -F '"share": ' '/"depth": 0/ { sum += $2 } END { exit !(sum > 0.999 && sum < 1.001) }' out ||
  complain "the shares of the main graph's steps are not all"
try 0 compare "$digits/model.onnx" --data-set "$digits/test_data_set_0"
says "all agree with the reference"
# What is said of the inputs is said once, for both plans.
try 0 compare "$digits/model.onnx"
(($(grep -c 'random numbers' err) == 1)) || complain "the warning comes twice"
(($(grep -c 'taken to be 1' err) == 1)) || complain "the warning comes twice"
processors=$(env -u OMP_NUM_THREADS -u OMP_THREAD_LIMIT nproc)
try 0 run "$digits/model.onnx" --threads $((processors + 1))
says "--threads $((processors + 1)): this process has $processors processors"

# Names from models steer no terminal: what is printed, warned of and written as JSON.
escape=$'\033'
node_name="a${escape}[2Jb" make_model evil.onnx "Re${escape}]0;lu" 1 2
try 3 run evil.onnx
! grep -q "$escape" out err || complain "an escape sequence gets through"
says '\x1b]0;lu'
node_name="a${escape}[2Jb" make_model odd.onnx Relu 1 2
for arguments in "run odd.onnx --profile-steps" "inspect odd.onnx --refusals" \
  "inspect odd.onnx --network" "inspect odd.onnx --json" "run odd.onnx --verbose --verbose"; do
  # shellcheck disable=SC2086
  try 0 $arguments
  ! grep -q "$escape" out err || complain "an escape sequence gets through"
done
cp "$digits/model.onnx" "${escape}[31m.onnx"
try 0 run "${escape}[31m.onnx"
! grep -q "$escape" out err || complain "an escape sequence gets through"
mkdir odd
echo none >"odd/${escape}[31m.so"
"$tenon" plugins --plugins odd >out 2>err
! grep -q "$escape" out err || complain "an escape sequence gets through"
"$tenon" doctor --plugins odd >out 2>err
! grep -q "$escape" out err || complain "an escape sequence gets through"
