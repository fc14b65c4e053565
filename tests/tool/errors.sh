# shellcheck shell=bash disable=SC2154
# What is refused, and in which words.
printf 'no model' >text.txt
for bad in absent.onnx text.txt "$folder" /dev/null; do
  try 3 run "$bad"
  says "$bad: "
  fails_once
done
head -c 5000 "$digits/model.onnx" >short.onnx
try 3 run short.onnx
says "short.onnx"
fails_once
try 2 run
says "MODEL|PLAN is missing"
try 2 frobnicate
says "there is no command frobnicate"
try 2 run "$digits/model.onnx" --threds 4
says "did you mean --threads?"
try 2 run "$digits/model.onnx" --threds 4 --json
prints_json
says '"exit": 2'
try 2 build "$digits/model.onnx" -o plan --profile image --json
prints_json
says "NAME:MIN:OPT:MAX" '"exit": 2'
try 2 run "$digits/model.onnx" --batch 0
says "--batch wants a whole number, 1 or more"
try 2 run "$digits/model.onnx" --input "other=$digits/digit_7.pgm"
says "there is no input 'other'; the inputs are: image"
fails_once
try 3 run "$digits/model.onnx" --input "$digits/test_labels.npy"
says "test_labels.npy: has the shape 597, input 'image' is ?x1x8x8"
fails_once
try 3 run "$digits/model.onnx" --input "$root/README.md"
says "README.md: is neither a picture (PNG, JPEG, PGM, PPM), nor"
fails_once
try 0 run "$coins/model.onnx" --labels "$digits/labels.txt" --top 1
says "10 names for 384 classes"
try 3 run "$digits/model.onnx" --shapes image:1x3x8x8
says "dimension 1 is 1 in the file, the shape given says 3"
fails_once
try 2 build "$digits/model.onnx" -o plan --profile other:1x1x8x8:2x1x8x8:4x1x8x8
says "--profile: there is no input 'other'; the inputs are: image"
try 2 build "$digits/model.onnx" -o plan --profile image:8x1x8x8:4x1x8x8:1x1x8x8
says "which is not in order"
try 2 build "$digits/model.onnx" -o plan --profile image:1x1x8x8:4x1x8x8
says "there is no input 'image:1x1x8x8'" "three of one rank"
# What is read is not written over.
# keeps FILE ARGUMENTS...: a misuse, and the file stays what it is.
keeps() {
  local file=$1
  shift
  cp "$file" before
  try 2 "$@"
  says ": would be written over $file, which is read"
  fails_once
  cmp -s before "$file" || complain "$file was overwritten"
  cp before "$file"
}
cp "$digits/model.onnx" own.onnx
cp "$digits/model.prototxt" own.prototxt
cp "$digits/model.caffemodel" own.caffemodel
cp "$digits/digit_7.pgm" own.pgm
ln -s own.onnx link.onnx
try 0 build own.onnx -o own.plan
keeps own.onnx build own.onnx -o ./own.onnx
keeps own.onnx build own.onnx -o link.onnx
keeps own.caffemodel build own.prototxt --weights own.caffemodel -o own.caffemodel
keeps own.onnx convert own.onnx -o own.onnx
keeps own.onnx bench own.onnx --export-times own.onnx --seconds 0
keeps own.pgm bench own.onnx --input own.pgm --export-times own.pgm --seconds 0
keeps own.plan inspect own.plan --html own.plan --no-run
keeps own.caffemodel inspect own.prototxt --weights own.caffemodel --html own.caffemodel
keeps own.pgm run own.onnx --input own.pgm --picture own.pgm
keeps own.pgm run own.onnx --input own.pgm --overlay own.pgm
keeps own.pgm run own.onnx --truth own.pgm --picture own.pgm
mkdir taken
try 0 build own.onnx -o own.plan --verbose
says "times were measured"
try 2 build own.onnx -o taken --verbose
says "-o taken: is a folder"
built_nothing
try 3 build own.onnx -o nowhere/plan --verbose
says "-o nowhere/plan: cannot be written: No such file or directory"
built_nothing
try 3 build "$digits/model.onnx" -o plan --timing-cache own.onnx
says "own.onnx: is no timing cache, and is not overwritten"
cmp -s "$digits/model.onnx" own.onnx || complain "the model was overwritten"
try 3 build "$digits/model.onnx" -o plan --memory-limit 1B
says "the limit is 1"
fails_once
try 3 build "$digits/model.onnx" -o plan --exclude abacus
says "'abacus' cannot be excluded: there is no such plugin; there are: " "cpu, " "host, "
fails_once
try 3 build "$digits/model.onnx" -o plan --exclude cpu:abacus
says "'cpu:abacus' cannot be excluded: plugin cpu has no such kernel or rewrite; it has: affine_grid, average_pool"
fails_once
try 3 build "$digits/model.onnx" -o plan --exclude "standard:power of 4"
says "it has: biased convolution of blocks, convolution of blocks, power of 2"
try 0 build "$digits/model.onnx" -o plan --exclude cpu:convolution
try 0 build "$digits/model.onnx" -o plan --exclude "standard:power of 2" --exclude standard
try 3 build "$digits/model.onnx" -o absent/plan
says "absent/plan"
fails_once
# Tried with open extents and again with those of the data: what is missing is told once.
{ printf '\x93NUMPY\x01\x00v\x00' &&
  printf '%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }" &&
  head -c 8 /dev/zero; } >x.npy
try 3 run "$root/tests/fuzz/corpus/parser_onnx_reader/missing" --input x=x.npy
says "Nonesuch (version 13), used by 'y'"
fails_once
[[ $(grep -c 'missing:' err) == 1 ]] || complain "what is missing is told twice"
try 3 run "$digits/model.onnx" --outputs probabilitys
says "near it: 'probabilities'"
try 3 run "$digits/model.onnx" --device abacus
says "no plugin offers device 'abacus'; there are: " "cpu"
sets=(--data-set "$digits/test_data_set_0" --data-set "$digits/test_data_set_1")
for several in bench compare inspect; do
  try 2 "$several" "$digits/model.onnx" "${sets[@]}"
  says "test_data_set_0 is given already"
  fails_once
done
try 3 run "$coins/model.onnx" --truth "$digits/digit_7.pgm"
says "digit_7.pgm: a picture of 8 x 8 pixels is no mask for output 'mask', which is 1x1x288x384"
fails_once
try 3 run "$digits/model.onnx" --truth "$digits/test_labels.npy"
says "test_labels.npy: 597 labels for the 1 rows of output 'probabilities'"
fails_once
try 3 run "$digits/model.onnx" --data-set absent
says "--data-set absent: there is no such folder"
try 2 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --input "image=$digits/digit_3.pgm"
says "digit_7.pgm: input 'image' is given by $digits/digit_3.pgm already"
fails_once
try 2 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --mean 1,2,3
says "digit_7.pgm: --mean or --scale gives 3 numbers, the input has 1 channel"
fails_once
try 3 run "$digits/model.onnx" --truth 12
says "--truth 12: the classes of output 'probabilities' are 0 to 9"
try 3 run "$digits/model.onnx" --only-plugins --plugins "$folder" --json
prints_json
says '"error"'
fails_once
# What a network may be understood with is told where it is not.
silero=${TENON_TEST_DATA:-}/onnx_silero_vad_16k_op15/model.onnx
if [[ -f $silero ]]; then
  try 3 run "$silero"
  says "axis 1 (sequence) is open and taken to be 1 (--shapes" "which the window of the weights exceeds"
  fails_once
fi
