#!/usr/bin/env bash
# The `tenon` command as a user meets it: what it prints, what it refuses, how it exits.
#   tests/tool/command.sh TENON ROOT PART
set -uo pipefail
tenon=${1:?the command}
root=${2:?the repository}
part=${3:?run, errors, build, listing, suite, interrupt or readme}
digits=$root/sdk/demo/digits
coins=$root/sdk/demo/coins
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
cd "$folder" || exit 1
failures=0

complain() {
  echo "FAILED: tenon $command"
  echo "  $1"
  sed 's/^/  | /' out err
  failures=$((failures + 1))
}

# try STATUS ARGUMENTS...: runs the command; its words are in the files out and err.
try() {
  local wanted=$1 status
  shift
  command=$*
  "$tenon" "$@" >out 2>err
  status=$?
  ((status == wanted)) || complain "its exit status is $status, not $wanted"
}
# says TEXT...: either stream has each of them.
says() {
  local text
  for text in "$@"; do
    grep -qF -- "$text" out err || complain "it does not say: $text"
  done
}
# fails_once: one error on standard error, nothing else about it.
fails_once() {
  (($(grep -c '^error: ' err) == 1)) || complain "there is not one error message"
}
# prints_json: each line of standard output is one object; parsed where there is Python.
prints_json() {
  [[ -s out ]] || complain "standard output is empty"
  if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
for line in sys.stdin: assert isinstance(json.loads(line), dict), line' <out 2>>err ||
      complain "standard output is not JSON, one object a line"
  else
    ! grep -qvE '^\{.*\}$' out || complain "standard output is not one object a line"
  fi
}

run_part() {
  try 0 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --scale 0.003921569 \
    --labels "$digits/labels.txt" --top 2 --truth 7
  says "(cache: miss)" "> 7 " "which is right"
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
  mkdir other
  cp -r "$digits/test_data_set_1" other/test_data_set_0
  try 0 run "$digits/model.onnx" --data-set "$digits/test_data_set_0/" \
    --data-set "$digits/test_data_set_1/" --output each
  [[ -s each/test_data_set_0/output_0_probabilities.npy &&
    -s each/test_data_set_1/output_0_probabilities.npy ]] || complain "not each has its results"
  try 3 run "$digits/model.onnx" --data-set "$digits/test_data_set_0" \
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
  says '"depth": 1'
  awk -F '"share": ' '/"depth": 0/ { sum += $2 } END { exit !(sum > 0.999 && sum < 1.001) }' out ||
    complain "the shares of the main graph's steps are not all"
  try 0 compare "$digits/model.onnx" --data-set "$digits/test_data_set_0"
  says "all agree with the reference"
}

errors_part() {
  printf 'no model' >text.txt
  local bad
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
  try 3 build "$digits/model.onnx" -o plan --profile image --json
  prints_json
  says "NAME:MIN:OPT:MAX" '"exit": 3'
  try 2 run "$digits/model.onnx" --batch 0
  says "--batch wants a whole number, 1 or more"
  try 3 run "$digits/model.onnx" --input "other=$digits/digit_7.pgm"
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
  try 3 build "$digits/model.onnx" -o plan --profile other:1x1x8x8:2x1x8x8:4x1x8x8
  says "--profile: there is no input 'other'; the inputs are: image"
  try 3 build "$digits/model.onnx" -o plan --profile image:8x1x8x8:4x1x8x8:1x1x8x8
  says "which is not in order"
  try 3 build "$digits/model.onnx" -o plan --profile image:1x1x8x8:4x1x8x8
  says "there is no input 'image:1x1x8x8'" "three of one rank"
  cp "$digits/model.onnx" own.onnx
  try 3 build own.onnx -o ./own.onnx
  says "./own.onnx: is the model itself"
  mkdir taken
  try 3 build own.onnx -o taken --verbose
  says "-o taken: is a folder"
  grep -q "is built" out err && complain "it was built all the same"
  try 3 build own.onnx -o nowhere/plan --verbose
  says "-o nowhere/plan: cannot be written: No such file or directory"
  grep -q "is built" out err && complain "it was built all the same"
  try 3 build "$digits/model.onnx" -o plan --timing-cache own.onnx
  says "own.onnx: is no timing cache, and is not overwritten"
  cmp -s "$digits/model.onnx" own.onnx || complain "the model was overwritten"
  try 3 build "$digits/model.onnx" -o plan --memory-limit 1
  says "the limit is 1"
  fails_once
  try 0 build "$digits/model.onnx" -o plan --exclude abacus --exclude cpu:abacus
  says "--exclude abacus: there is no such plugin" "--exclude cpu:abacus: there is no such"
  try 0 build "$digits/model.onnx" -o plan --exclude cpu:convolution
  ! grep -q 'there is no such' err || complain "a kernel is not known"
  try 3 build "$digits/model.onnx" -o absent/plan
  says "absent/plan"
  fails_once
  try 3 run "$digits/model.onnx" --outputs probabilitys
  says "near it: 'probabilities'"
  try 3 run "$digits/model.onnx" --device abacus
  says "no plugin offers device abacus that this machine has; there are: cpu"
  local sets=(--data-set "$digits/test_data_set_0" --data-set "$digits/test_data_set_1") several
  for several in bench compare inspect; do
    try 3 "$several" "$digits/model.onnx" "${sets[@]}"
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
  try 3 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --input "image=$digits/digit_3.pgm"
  says "digit_7.pgm: input 'image' is given by $digits/digit_3.pgm already"
  fails_once
  try 3 run "$digits/model.onnx" --input "$digits/digit_7.pgm" --mean 1,2,3
  says "digit_7.pgm: --mean or --scale gives 3 numbers, the input has 1 channel"
  fails_once
  try 3 run "$digits/model.onnx" --truth 12
  says "--truth 12: the classes of output 'probabilities' are 0 to 9"
  try 3 run "$digits/model.onnx" --only-plugins --plugins "$folder" --json
  prints_json
  says '"error"'
  fails_once
}

build_part() {
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
  local words
  for words in "<svg" "up1.conv1" "channels last" "why this one" "why not the others" "</html>"; do
    grep -qF -- "$words" coins.html || complain "the page does not hold $words"
  done
  ! grep -qE '(src|href)="(https?:)?//' coins.html || complain "the page is not self-contained"
  # Nothing but a regular file is replaced, and a link stays what it is.
  mkfifo pipe
  ln -s linked.plan link.plan
  ln -s linked.html link.html
  try 3 build "$digits/model.onnx" -o pipe
  says "pipe: is no regular file; name a file"
  try 3 inspect batch.plan --no-run --html pipe
  says "pipe: is not a regular file"
  [[ -p pipe ]] || complain "the pipe was replaced"
  try 0 build "$digits/model.onnx" -o link.plan
  try 0 inspect link.plan --html link.html
  [[ -L link.plan && -f linked.plan && -L link.html && -f linked.html ]] ||
    complain "a link was replaced"
  # A byte of the weights, which lie at the end, is another one: told by --verify.
  size=$(stat -c %s batch.plan)
  cp batch.plan damaged.plan
  printf '\x5a\xa5\x5a' | dd of=damaged.plan bs=1 seek=$((size - 70000)) conv=notrunc 2>/dev/null
  try 3 inspect damaged.plan --verify --no-run
  head -c $((size / 2)) batch.plan >half.plan
  try 3 run half.plan
  says "half.plan"
  fails_once
}

listing_part() {
  local command_name
  try 0 --help
  for command_name in run build bench inspect compare suite plugins doctor; do
    says "  $command_name "
  done
  for command_name in run build bench inspect compare suite plugins doctor; do
    try 0 "$command_name" --help
    says "usage: tenon $command_name" "examples" "exit status"
    ! grep -qE ' $' out || complain "lines end with blanks"
    try 0 help "$command_name"
  done
  try 0 --version
  says "0.1"
  try 0 plugins --offers
  says "available  standard" "offers kernel" "0 refused"
  try 0 plugins --json
  prints_json
  try 0 plugins --index
  prints_json
  try 0 doctor
  says "device " "cpu 0: " "search path" "nothing is missing"
  try 0 doctor --json
  prints_json
  cp "$root/README.md" not_elf.so
  try 0 plugins --plugins "$folder"
  says "refused" "not_elf.so"
}

suite_part() {
  mkdir -p cases/wrong/test_data_set_0
  cp "$digits/model.onnx" cases/wrong
  cp "$digits/test_data_set_0/input_0.pb" "$digits/test_data_set_0/output_0.pb" \
    cases/wrong/test_data_set_0
  try 0 suite cases
  says "1 passed, 0 failed, 0 skipped"
  cp "$digits/test_data_set_1/output_0.pb" cases/wrong/test_data_set_0
  try 1 suite cases
  says "wrong: output 'probabilities' has shape 1x10, not 10x10" "0 passed, 1 failed, 0 skipped"
  echo '*wrong* its recorded output is of another shape' >known.txt
  try 0 suite cases --known known.txt
  echo '*coins* said to fail' >known.txt
  try 1 suite "$root/sdk/demo" --known known.txt
  says "unexpected pass: coins is known to fail (said to fail)" "2 passed, 0 failed, 0 skipped"
  try 0 suite "$root/sdk/demo" --json
  prints_json
  says '"passed": 2'
  # What a case that is ended leaves is removed.
  mkdir tmp
  TMPDIR=$folder/tmp try 1 suite "$root/sdk/demo" --timeout 0.05
  says "took longer than 0."
  [[ -z $(ls -A tmp) ]] || complain "temporary files were left: $(ls tmp)"
  try 3 suite "$root/sdk/demo" --filter 'nothing*'
  says "matches"
  try 3 suite absent
  try 0 compare "$digits/model.onnx" --json
  prints_json
  try 0 build "$digits/model.onnx" -o json.plan --json
  prints_json
}

# An interrupt ends a build: one message, its own exit status, no plan.
interrupt_part() {
  command="build, interrupted"
  "$tenon" build "$coins/model.onnx" -o interrupted.plan --no-timing-cache >out 2>err &
  local child=$! status
  # Until it measures; it has caught the signal by then.
  for _ in $(seq 100); do
    grep -q 'taken to be 1' err && break
    sleep 0.02
  done
  kill -INT "$child"
  wait "$child"
  status=$?
  # A machine that builds in less time than it takes to ask has nothing to cancel.
  if ((status != 0)); then
    ((status == 130)) || complain "its exit status is $status, not 130"
    says "cancelled"
    [[ ! -e interrupted.plan ]] || complain "a plan was left"
  fi
  warm_up_interrupted
}

# A warm-up, which has no progress, ends as well, and is told.
warm_up_interrupted() {
  command="bench, interrupted"
  "$tenon" bench "$digits/model.onnx" --warm-up 100 --json >out 2>err &
  local child=$! status
  for _ in $(seq 500); do
    grep -q 'is not given' err && break
    sleep 0.02
  done
  kill -INT "$child"
  wait "$child"
  status=$?
  ((status == 130)) || complain "its exit status is $status, not 130"
  says '"error": "interrupted"' '"exit": 130'
  fails_once
  prints_json
}

# The plugin in the README is a whole one.
readme_part() {
  local lines
  sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '/^```/d' >squareplus.c
  lines=$(wc -l <squareplus.c)
  ((lines >= 10 && lines <= 40)) || complain "the README's plugin has $lines lines"
  mkdir plugins
  command="(the README's plugin)"
  "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -Wno-missing-field-initializers -shared -fPIC \
    -fvisibility=hidden "-I$root/sdk/include" squareplus.c -Wl,-z,relro -Wl,-z,now \
    "-Wl,--version-script=$root/sdk/cmake/plugin.map" -o plugins/squareplus.so >out 2>err ||
    complain "it does not build"
  chmod 755 plugins plugins/squareplus.so
  try 0 plugins --plugins plugins --only-plugins --index
  says '"name": "example.squareplus/1"'
  try 0 plugins --plugins plugins --only-plugins
  says "squareplus" "0 refused"
}

"${part}_part"
((failures == 0)) && echo "$part: all as expected"
exit $((failures > 0))
