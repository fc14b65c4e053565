# shellcheck shell=bash disable=SC2154
# A model as an ONNX file, and its reading options are obeyed or refused.
try 0 convert "$digits/model.prototxt" --weights "$digits/model.caffemodel" -o fixed.onnx --json
prints_json
says '"file": "fixed.onnx", "format": "ONNX", "bytes": '"$(stat -c %s fixed.onnx)"
try 0 convert "$digits/model.onnx" -o fixed.onnx --shapes image:1x1x8x8
try 0 inspect fixed.onnx --no-build
says "image: f32 1x1x8x8"
try 2 convert "$digits/model.onnx"
says "-o FILE is missing"

# ONNX: what is written is read back, extents that are open stay so, and it computes the same.
try 0 convert "$digits/model.onnx" -o back.onnx
says "back.onnx: " " bytes of ONNX"
try 0 run back.onnx --input "$digits/digit_7.pgm" --scale 0.003921569 --truth 7
says "which is right"
try 0 run back.onnx --data-set "$digits/test_data_set_0"
try 0 convert "$coins/model.onnx" -o coins.onnx
try 0 run coins.onnx --data-set "$coins/test_data_set_0"
branches=$root/tests/branches/cases/both_work
try 0 convert "$branches/model.onnx" -o branches.onnx
try 0 run branches.onnx --data-set "$branches/taken"
try 0 run branches.onnx --data-set "$branches/not_taken"
try 0 convert "$root/tests/fuzz/corpus/parser_uff_graph_def/batch_norm" -o norm.onnx
try 0 run norm.onnx

# What ONNX has no name for is named: all of it, and no file is written.
cat >boxes.prototxt <<'EOF'
input: "places" input_shape { dim: 1 dim: 8 }
input: "scores" input_shape { dim: 1 dim: 4 }
input: "priors" input_shape { dim: 1 dim: 2 dim: 8 }
layer { name: "found" type: "DetectionOutput" bottom: "places" bottom: "scores" bottom: "priors" top: "found"
  detection_output_param { num_classes: 2 nms_param { nms_threshold: 0.5 } keep_top_k: 5 } }
layer { name: "fewer" type: "DetectionOutput" bottom: "places" bottom: "scores" bottom: "priors" top: "fewer"
  detection_output_param { num_classes: 2 nms_param { nms_threshold: 0.5 } keep_top_k: 1 } }
EOF
try 3 convert boxes.prototxt -o boxes.onnx
says "ONNX has no operation for these nodes:" "standard.detection_output/1 'found'" \
  "standard.detection_output/1 'fewer'"
[[ ! -e boxes.onnx ]] || complain "a file was written"
try 2 convert "$digits/model.onnx" -o digits.caffemodel
says "-o digits.caffemodel: the command writes ONNX; use a name that ends with .onnx"

# Nothing is built: what is for building is no option of it.
try 0 convert --help-all
says "--shapes" "--outputs" "--weights" "--setting"
for option in --reference --no-fusion --strict --threads=4 --device=cpu --workspace=64M --exclude=cpu \
  --timing-cache=t --no-timing-cache --no-cache --tuned-only --time-budget=1; do
  ! grep -q -- "${option%%=*}" out || complain "the help shows ${option%%=*}"
done
for option in --reference --threads=4 --exclude=cpu --no-cache; do
  "$tenon" convert "$digits/model.onnx" -o refused.onnx "$option" >refused 2>&1 &&
    complain "$option is taken"
  grep -q "unknown option ${option%%=*}" refused || complain "it does not say that $option is none"
done
[[ ! -e refused.onnx ]] || complain "a file was written"

# Names that no input has, wherever a model is read.
readings=("convert $digits/model.onnx -o refused.onnx" "inspect $digits/model.onnx --no-build"
  "inspect $digits/model.onnx --network")
for reading in "${readings[@]}"; do
  for option in "--shapes=typo:1x1x8x8" "--profile=typo:1x1x8x8"; do
    # shellcheck disable=SC2086
    try 2 $reading "$option"
    says "${option%%=*}: there is no input 'typo'; the inputs are: image"
    fails_once
    [[ ! -s out ]] || complain "it shows something all the same"
  done
done
[[ ! -e refused.onnx ]] || complain "a file was written"
try 2 inspect "$digits/model.onnx" --no-build --input "typo=$digits/test_images.npy"
says "there is no input 'typo'; the inputs are: image"
try 3 inspect "$digits/model.onnx" --no-build --input "$digits/test_labels.npy"
says "test_labels.npy: has the shape 597, input 'image' is ?x1x8x8"
try 0 inspect "$digits/model.onnx" --no-build --input "$digits/test_images.npy"
try 2 inspect "$digits/model.onnx" --no-build --batch 4
says "--batch 4: nothing is built, and open extents stay open"
fails_once

# The only mode that ONNX has is no obstacle.
node=$(part_of 1 "$(digits_of x)")$(part_of 2 "$(digits_of y)")$(part_of 4 "$(digits_of SpaceToDepth)")
node+=$(part_of 5 "$(part_of 1 "$(digits_of blocksize)")$(varint_of 3 2)$(varint_of 20 2)")
graph=$(part_of 1 "$node")$(part_of 2 "$(digits_of g)")$(part_of 11 "$(value_info x 1 1 1 4 4)")
graph+=$(part_of 12 "$(value_info y 1 1 4 2 2)")
write_bytes blocks.onnx "$(varint_of 1 8)$(part_of 7 "$graph")$(part_of 8 "$(varint_of 2 13)")"
try 0 convert blocks.onnx -o blocks_again.onnx
try 0 run blocks_again.onnx
