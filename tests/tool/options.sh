# shellcheck shell=bash disable=SC2154
# An option that cannot act is refused, not ignored; so is one that contradicts another.
# refuses TEXT ARGUMENTS...: a misuse, told in one message.
refuses() {
  local text=$1
  shift
  try 2 "$@"
  says "$text"
  fails_once
}

# A plan is built already.
try 0 build "$digits/model.onnx" -o fixed.plan
cp "$digits/test_images.npy" x.npy
for option in --reference --no-fusion --strict --no-measuring --tuned-only --bf16 \
  --no-refusals --outputs=relu1 --exclude=nonsuch --device=gpu \
  --memory-limit=1M --workspace=1M --format=foo --part=x --time-budget=1 --timing-cache=t \
  --profile=image:1x1x8x8:4x1x8x8:8x1x8x8 --minShapes=image:1x1x8x8 --optShapes=image:1x1x8x8 \
  --maxShapes=image:1x1x8x8 --input-constant=image=x.npy --optimizer-limit=3; do
  for command_name in run bench inspect; do
    refuses "; fixed.plan is a plan already" "$command_name" fixed.plan "$option"
    says "${option%%=*} is for "
  done
done
refuses "--reference is for building; fixed.plan is a plan already" run fixed.plan --reference \
  --json
prints_json

# What is asked not to be done is not done.
try 0 run fixed.plan --no-cache --no-timing-cache

# The batch, where there is none.
refuses "--batch 4: axis 0 of input 'image' is fixed at 1" run fixed.plan --batch 4
refuses "--batch 4: axis 0 of input 'image' is fixed at 1" bench fixed.plan --batch 4 --seconds 0
try 0 run fixed.plan --batch 1
refuses "--batch 8: axis 0 of input 'image' is fixed at 2" run "$digits/model.onnx" --batch 8 \
  --shapes image:2x1x8x8
refuses "--batch 8: axis 0 of input 'image' is fixed at 2" bench "$digits/model.onnx" --batch 8 \
  --shapes image:2x1x8x8
refuses "--batch 500: the 597 of $digits/test_images.npy cannot be repeated to that" \
  run "$digits/model.onnx" --input "$digits/test_images.npy" --batch 500
refuses "--batch and --profile contradict each other" build "$digits/model.onnx" -o p --batch 3 \
  --profile image:1x1x8x8:4x1x8x8:8x1x8x8

# Shapes, of what is built and of what is run.
refuses "--shapes: axis 0 of input 'image' is fixed at 1, not 4" run fixed.plan \
  --shapes image:4x1x8x8
refuses "--shapes: there is no input 'picture'; the inputs are: image" run fixed.plan \
  --shapes picture:1x1x8x8
try 0 build "$digits/model.onnx" -o open.plan --profile image:1x1x8x8:4x1x8x8:8x1x8x8
try 0 run open.plan --shapes image:3x1x8x8
says "f32 3x10"
refuses "--shapes gives 'image' another shape than it has, which is 1x1x8x8" run open.plan \
  --shapes image:3x1x8x8 --input "$digits/digit_7.pgm"
refuses "--shapes gives 'image' a shape, and the profile gives it a range" \
  build "$digits/model.onnx" -o p --shapes image:2x1x8x8 --profile image:1x1x8x8:4x1x8x8:8x1x8x8
refuses "axis 0 of 'image' 8, 4 and 1, which is not in order" build "$digits/model.onnx" -o p \
  --profile image:8x1x8x8:4x1x8x8:1x1x8x8

# What acts on something that is not there.
refuses "--mean does nothing without one of --input --data-set" run fixed.plan --mean 1
refuses "--mean and --scale are for pictures, and for arrays of bytes" run fixed.plan --scale 1 \
  --data-set "$digits/test_data_set_0"
refuses "--rtol does nothing without --data-set" run fixed.plan --rtol 1
refuses "--overlay does nothing without --input" run fixed.plan --overlay o.png
refuses "--only-plugins does nothing without --plugins" plugins --only-plugins
refuses "--timing-cache and --no-timing-cache contradict each other" build "$digits/model.onnx" \
  -o p --timing-cache t --no-timing-cache
refuses "--no-measuring and --time-budget contradict each other" build "$digits/model.onnx" \
  -o p --no-measuring --time-budget 1
refuses "--no-tf32 and --best contradict each other" build "$digits/model.onnx" -o p --no-tf32 --best
refuses "--branch-streams 9: at most 8 are possible" build "$digits/model.onnx" -o p --branch-streams 9
refuses "it is --branch-streams N" build "$digits/model.onnx" -o p --maxAuxStreams=2
refuses "--refusals and --no-refusals contradict each other" inspect "$digits/model.onnx" \
  --refusals --no-refusals
refuses "--index and --offers contradict each other" plugins --index --offers
refuses "--threads is given twice: 1 and 2" run fixed.plan --threads 1 --threads 2

# Values that are none, or cannot be meant.
refuses "--output wants DIR, not \"\"" run fixed.plan -o ''
refuses "--workspace wants a unit: 64M are mebibytes, 64B are bytes" build "$digits/model.onnx" \
  -o p --workspace 64
try 0 build "$digits/model.onnx" -o p --workspace 64MiB
refuses "--scale: \"x\" is not one number" run fixed.plan --input "$digits/digit_7.pgm" --scale x

# Other tools' names, near misses, and what stands in the wrong place.
refuses "--warm-up, in seconds where trtexec counts milliseconds" bench fixed.plan --warmUp=200
refuses "it is --profile-steps" bench fixed.plan --dumpProfile
refuses "tenon build MODEL -o PLAN" bench --onnx=model.onnx
refuses "unknown option --int8: --fp16 and --bf16 permit narrower types" bench fixed.plan --int8
refuses "a plan stands without an option" bench --loadEngine=fixed.plan
refuses "there is no command rnu, did you mean run?" rnu fixed.plan
refuses "options stand after the command, as in tenon run -v" -v run fixed.plan
(($(cat out err | wc -l) == 1)) || complain "an error is followed by something else"
