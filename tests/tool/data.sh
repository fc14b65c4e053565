# shellcheck shell=bash disable=SC2154,SC2034
# What is given to networks and what comes out: nonsense is refused, losses and NaN are told.

# A data set without tensors is none.
try 3 run "$digits/model.onnx" --data-set "$digits"
says "no input_0.pb or .npy is in it; did you mean $digits/test_data_set_0?"
fails_once
mkdir empty partial
try 3 run "$digits/model.onnx" --data-set empty
says "--data-set empty: no input_0.pb or .npy is in it"
fails_once
cp "$digits/test_data_set_0/output_0.pb" partial
try 3 run "$digits/model.onnx" --data-set partial
says "input 'image' is not recorded there, no input_0.pb or .npy"
mv partial/output_0.pb .
cp "$digits/test_data_set_0/input_0.pb" partial
try 1 run "$digits/model.onnx" --data-set partial
says "output probabilities DIFFERS: is not among the recorded ones"
! grep -q 'largest difference' out || complain "it invents a difference"
cp "$digits/test_data_set_1/output_0.pb" partial
try 1 run "$digits/model.onnx" --data-set partial
says "output probabilities DIFFERS: has shape 1x10, not 10x10"
! grep -q 'largest difference' out || complain "it invents a difference"
try 1 run "$digits/model.onnx" --data-set partial --json
prints_json
says '"max_absolute": null'

# An array says the shape where the model says none, also without the input's name.
make_model shapeless.onnx Abs 1 any
make_array three.npy '<f4' 3 "0000803f000000c000004040"
try 0 run shapeless.onnx --input three.npy
says "output y: f32 3" "1 2 3"
try 0 run shapeless.onnx --input x=three.npy
try 3 run shapeless.onnx
says "input 'x' (f32) has no shape in the file"

# Two inputs that call an extent alike and have it differently.
node=$(part_of 1 "$(digits_of a)")$(part_of 1 "$(digits_of b)")$(part_of 2 "$(digits_of y)")
node+=$(part_of 4 "$(digits_of Add)")
graph=$(part_of 1 "$node")$(part_of 2 "$(digits_of g)")$(part_of 11 "$(value_info a 1 length)")
graph+=$(part_of 11 "$(value_info b 1 length)")$(part_of 12 "$(value_info y 1 length)")
write_bytes pair.onnx "$(varint_of 1 8)$(part_of 7 "$graph")$(part_of 8 "$(varint_of 2 13)")"
make_array two.npy '<f4' 2 "0000803f000000c0"
try 3 run pair.onnx --input a=two.npy --input b=three.npy
says "input 'b': axis 0 ('length') has extent 3, but an input before it has 2 there"

# What is no number is told by its type, before its shape.
make_model flat.onnx Abs 1 3
make_array words.npy '|S1' 2 6162
try 3 run flat.onnx --input words.npy
says "words.npy: holds texts, input 'x' is f32"
make_array objects.npy '|O' 3 ""
try 3 run flat.onnx --input objects.npy
says "objects.npy: has elements of NumPy type |O, which are objects of Python"
make_array dates.npy '<M8[D]' 3 ""
try 3 run flat.onnx --input dates.npy
says "dates.npy: has elements of NumPy type <M8[D], which cannot be read"
make_array huge.npy '<f4' "4611686018427387904, 8" "0000803f"
try 3 run flat.onnx --input huge.npy
says "huge.npy: has 4 bytes of data, too few for 4611686018427387904x8 of <f4"

# A path with "=" in it.
mkdir 'a=b'
cp three.npy 'a=b'
try 0 run flat.onnx --input x=a=b/three.npy
says "1 2 3"
# A value whose name has a line end is compared as others are.
node=$(part_of 1 "$(digits_of x)")$(part_of 2 "$(digits_of $'u\nv')")$(part_of 4 "$(digits_of Abs)")
graph=$(part_of 1 "$node")
node=$(part_of 1 "$(digits_of $'u\nv')")$(part_of 2 "$(digits_of y)")$(part_of 4 "$(digits_of Sqrt)")
graph+=$(part_of 1 "$node")$(part_of 2 "$(digits_of g)")$(part_of 11 "$(value_info x 1 3)")
graph+=$(part_of 12 "$(value_info y 1 3)")
write_bytes lines.onnx "$(varint_of 1 8)$(part_of 7 "$graph")$(part_of 8 "$(varint_of 2 13)")"
try 0 compare lines.onnx
says "2 values compared, all agree"

# Memory that there is not, more than any process can address, is told with what it is for.
node=$(part_of 1 "$(digits_of x)")$(part_of 1 "$(digits_of r)")$(part_of 2 "$(digits_of y)")
node+=$(part_of 4 "$(digits_of Tile)")
graph=$(part_of 1 "$node")$(part_of 2 "$(digits_of g)")$(part_of 11 "$(value_info x 1 1024)")
graph+=$(part_of 11 "$(value_info r 7 1)")$(part_of 12 "$(value_info y 1 any)")
write_bytes tile.onnx "$(varint_of 1 8)$(part_of 7 "$graph")$(part_of 8 "$(varint_of 2 13)")"
make_array often.npy '<i8' 1 0000000010000000
# Sanitizers end a process that asks for so much, unless they are told to return NULL.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1 \
  TSAN_OPTIONS=${TSAN_OPTIONS:+$TSAN_OPTIONS:}allocator_may_return_null=1 \
  try 3 run tile.onnx --input r=often.npy --no-measuring
says "out of memory for 'y', f32 of extents [70368744177664]"

# Pictures for what is none, and of what is none.
make_model tokens.onnx Identity 7 batch length
try 3 run tokens.onnx --input "$digits/digit_7.pgm" --verbose
says "digit_7.pgm: a picture is no input 'x', which is i64: its numbers are no brightness"
fails_once
built_nothing
try 3 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --picture row.png
says "probabilities: 1 rows of 10 numbers are no picture"
[[ ! -e row.png ]] || complain "a picture was written"
tripled=1 make_model wide.onnx Concat 1 1 1 8 8
try 3 run wide.onnx --input "$digits/digit_7.pgm" --scale 0.003921569 --overlay wide.png
says "--overlay: output 'y', 24 x 8 with 1 channels, is no mask of an input of 8 x 8"
try 0 run wide.onnx --input "$digits/digit_7.pgm" --picture cut.png
says "numbers lie outside of 0 to 1 and are cut off"

# What conversions lose.
make_model integers.onnx Identity 7 3
make_array fractions.npy '<f8' 3 "00000000000000409a999999999905400000000000000040"
try 0 run integers.onnx --input fractions.npy
says "f64 is converted to i64 for input 'x', which changes 1 of 3 numbers, the first from 2.7 to 3"
make_model halves.onnx Identity 10 2
make_array large.npy '<f8' 2 "000000000017f1400000000000000040"
try 0 run halves.onnx --input large.npy
says "which changes 1 of 2 numbers, the first from 70000 to inf" \
  "output 'y': 0 of 2 are NaN, 1 are infinite" "y: f16 2, 0 of 2 are NaN, 1 infinite"
make_array whole.npy '<f8' 3 "000000000000004000000000000000400000000000000040"
try 0 run integers.onnx --input whole.npy
says "whole.npy: f64 is converted to i64 for input 'x'"
! grep -q changes err || complain "a loss is told where there is none"

# NaN is counted, in words and as JSON, and statistics are of the other numbers.
make_model root.onnx Sqrt 1 4
make_array signs.npy '<f4' 4 "000080bf00008040000000c00000803f"
try 0 run root.onnx --input signs.npy
says "are NaN, 0 infinite" "warning: output 'y': "
! grep -q 'mean -\?nan' out || complain "a mean is NaN"
try 0 run root.onnx --input signs.npy --json
prints_json
says '"infinite": 0, "values": [' 'null'
! grep -q '"nan": 0' out || complain "no NaN is counted"
try 0 run integers.onnx --input fractions.npy --json
says '"values": [2, 3, 2]'

# NaN is no largest number, wherever it stands.
make_model roots.onnx Sqrt 1 3
make_array first.npy '<f4' 3 "000080bf000080400000803f"  # -1, 4, 1
make_array last.npy '<f4' 3 "000080400000803f000080bf"   # 4, 1, -1
make_array none.npy '<f4' 3 "000080bf000080bf000080bf"
try 0 run roots.onnx --input first.npy --top 3 --truth 1
says "> 1     2" "which is right"
[[ $(awk '/^ +[>0-9]/ { print $(NF - 1) }' out | xargs) == "1 2 0" ]] ||
  complain "NaN is not the last"
try 0 run roots.onnx --input last.npy --top 1 --truth 0
says "> 0     2"
try 1 run roots.onnx --input none.npy --truth 0
says "which is another one"
try 0 run roots.onnx --input none.npy --top 2
says "> 0     "

# The truth: a single class that is another one differs.
try 1 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --scale 0.003921569 --truth 3
says "truth: 3, which is another one"
try 0 run "$digits/model.onnx" --input "$digits/test_images.npy" --scale 0.003921569 \
  --truth "$digits/test_labels.npy" --truth-at-least 0.9
try 1 run "$digits/model.onnx" --input "$digits/test_images.npy" --scale 0.003921569 \
  --truth "$digits/test_labels.npy" --truth-at-least 1
says "is less than 1.0000"

# Said before anything is built; what is built says so.
try 0 run "$digits/model.onnx" --no-cache --verbose
says "times were measured"
# early STATUS TEXT ARGUMENTS...
early() {
  local wanted=$1 text=$2
  shift 2
  try "$wanted" "$@" --no-cache --verbose
  says "$text"
  fails_once
  built_nothing
}
early 2 "--truth seven: is neither a class" run "$digits/model.onnx" --truth seven
early 2 "--picture a.jpg: pictures are written as .png, .pgm or .ppm" run "$digits/model.onnx" \
  --picture a.jpg
early 3 "--picture nowhere/a.png: cannot be written" run "$digits/model.onnx" \
  --picture nowhere/a.png
early 2 "--overlay: the file of --input is no picture" run "$digits/model.onnx" \
  --overlay a.png --input "$digits/test_images.npy"
early 3 "--labels absent: there is no such file" run "$digits/model.onnx" --labels absent
early 3 "--output fractions.npy/here: " run "$digits/model.onnx" -o fractions.npy/here
early 3 "--output fractions.npy: fractions.npy is no folder" bench "$digits/model.onnx" \
  -o fractions.npy
early 3 "--export-times nowhere/times: cannot be written" bench "$digits/model.onnx" \
  --export-times nowhere/times
early 3 "--html nowhere/page.html: cannot be written" inspect "$digits/model.onnx" \
  --html nowhere/page.html
early 2 "--picture with several data sets" run "$digits/model.onnx" --picture a.png \
  --data-set "$digits/test_data_set_0" --data-set "$digits/test_data_set_1"
