# shellcheck shell=bash disable=SC2154
# A model of another format, and that what is asked of its reading is done or refused.
try 0 convert "$digits/model.onnx" -o digits.uff --shapes image:1x1x8x8
says "digits.uff: " " bytes of UFF"
try 0 convert "$digits/model.onnx" -o digits.uff --shapes image:1x1x8x8 --json
prints_json
says '"file": "digits.uff", "format": "UFF", "bytes": '"$(stat -c %s digits.uff)"
try 0 run digits.uff --input "$digits/digit_7.pgm" --scale 0.003921569 --truth 7
says "which is right"

# Nothing is built: what is for building is no option of it.
try 0 convert --help-all
says "--shapes" "--outputs" "--weights" "--setting"
rm digits.uff
for option in --reference --no-fusion --strict --threads=4 --device=cpu --workspace=64M --exclude=cpu \
  --timing-cache=t --no-timing-cache --no-cache --tuned-only --time-budget=1; do
  ! grep -q -- "${option%%=*}" out || complain "the help shows ${option%%=*}"
done
for option in --reference --threads=4 --exclude=cpu --no-cache; do
  "$tenon" convert "$digits/model.onnx" -o digits.uff "$option" >refused 2>&1 &&
    complain "$option is taken"
  grep -q "unknown option ${option%%=*}" refused || complain "it does not say that $option is none"
done
[[ ! -e digits.uff ]] || complain "a file was written"

# Names that no input has, wherever a model is read.
readings=("convert $digits/model.onnx -o digits.uff" "inspect $digits/model.onnx --no-build"
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
[[ ! -e digits.uff ]] || complain "a file was written"
try 2 inspect "$digits/model.onnx" --no-build --input "typo=$digits/test_images.npy"
says "there is no input 'typo'; the inputs are: image"
try 3 inspect "$digits/model.onnx" --no-build --input "$digits/test_labels.npy"
says "test_labels.npy: has the shape 597, input 'image' is ?x1x8x8"
try 0 inspect "$digits/model.onnx" --no-build --input "$digits/test_images.npy"
try 2 inspect "$digits/model.onnx" --no-build --batch 4
says "--batch 4: nothing is built, and what is open stays open"
fails_once
