# shellcheck shell=bash disable=SC2154
# Plans: built for a profile, looked at, damaged.
try 0 build "$digits/model.onnx" -o batch.plan --profile image:1x1x8x8:4x1x8x8:8x1x8x8 --verbose
says "step 0 'conv1'" "times were measured" "batch.plan: built in"
try 0 run batch.plan --batch 3
says "f32 3x10"
try 3 run batch.plan --batch 9
says "extent 9 of axis 0 is outside the profile, 1 to 8"
try 0 build "$digits/model.onnx" -o trt.plan --minShapes=image:1x1x8x8 \
  --optShapes=image:4x1x8x8 --maxShapes=image:8x1x8x8
try 0 inspect batch.plan --verify --refusals --network
says "verified" "profile 1x1x8x8 : 4x1x8x8 : 8x1x8x8" "not reference:" "standard.softmax"
try 0 inspect batch.plan --json --no-run
prints_json
says '"refusals"' '"layout"' '"tactic"'
try 0 inspect batch.plan --json --no-run --verify
prints_json
says '"verified": true'
try 0 inspect "$coins/model.onnx" --html coins.html
says "coins.html: written"
for words in "<svg" "up1.conv1" "channels last" "why this one" "why not the others" "</html>"; do
  grep -qF -- "$words" coins.html || complain "the page does not hold $words"
done
! grep -qE '(src|href)="(https?:)?//' coins.html || complain "the page is not self-contained"
# A byte of the weights, which lie at the end, is another one: told by --verify.
size=$(stat -c %s batch.plan)
cp batch.plan damaged.plan
printf '\x5a\xa5\x5a' | dd of=damaged.plan bs=1 seek=$((size - 70000)) conv=notrunc 2>/dev/null
try 3 inspect damaged.plan --verify --no-run
head -c $((size / 2)) batch.plan >half.plan
try 3 run half.plan
says "half.plan"
fails_once
