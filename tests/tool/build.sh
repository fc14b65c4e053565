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
if command -v node >/dev/null; then
  node "$here/page.js" show coins.html >drawn || complain "the page cannot be drawn"
  for words in "<svg" "up1.conv1" "channels last" "why this one" "why not the others"; do
    grep -qF -- "$words" drawn || complain "the page does not show $words"
  done
fi
! grep -qE '(src|href)="(https?:)?//|innerHTML|outerHTML|document\.write|eval\(' coins.html ||
  complain "the page is not self-contained, or makes markup of text"
# Nothing but a regular file is replaced, and a link stays what it is.
mkfifo pipe
ln -s linked.plan link.plan
ln -s linked.html link.html
try 2 build "$digits/model.onnx" -o pipe
says "pipe: is no regular file; name a file"
try 2 inspect batch.plan --no-run --html pipe
says "pipe: is no regular file; name a file"
[[ -p pipe ]] || complain "the pipe was replaced"
try 0 build "$digits/model.onnx" -o link.plan
try 0 inspect link.plan --html link.html
[[ -L link.plan && -f linked.plan && -L link.html && -f linked.html ]] ||
  complain "a link was replaced"
# Another build of a plugin: the plan is made again for it, each command says so, and --verify fails.
mkdir plugins
cp "${TENON_PLUGIN_PATH%%:*}"/*.so plugins
printf '%s' another >>plugins/cpu.so
chmod 755 plugins plugins/*.so
try 0 run batch.plan --input "$digits/digit_7.pgm" --scale 0.003921569 --top 1 --truth 7 \
  --only-plugins --plugins plugins
says "plugin 'cpu' (" "/plugins/cpu.so) is not the file that the plan was built with: its SHA-256" \
  "weights packed again" "which is right"
for words in "inspect" "inspect --no-run" "bench --seconds 0.1"; do
  # shellcheck disable=SC2086
  try 0 ${words%% *} batch.plan --only-plugins --plugins plugins ${words#"${words%% *}"}
  says "warning: batch.plan: plugin 'cpu' (" "build the plan again"
done
try 3 inspect batch.plan --no-run --verify --only-plugins --plugins plugins
says "the plan's plugins are others here"
fails_once
try 0 build "$digits/model.onnx" -o tuned.plan --tuned-only
# Where its kernels want weights packed otherwise, it lacks them and names them.
if grep -qw avx2 /proc/cpuinfo; then
  TENON_CPU=baseline try 3 run tuned.plan
  says "weights 'conv1.weight' must be packed for this machine" "(tuned_only): build the plan again"
fi
try 3 run tuned.plan --only-plugins --plugins plugins
says "plugin 'cpu' (" "(tuned_only): build it again"
# A byte of the weights, which lie at the end, is another one: told by --verify.
size=$(stat -c %s batch.plan)
cp batch.plan damaged.plan
printf '\x5a\xa5\x5a' | dd of=damaged.plan bs=1 seek=$((size - 70000)) conv=notrunc 2>/dev/null
try 3 inspect damaged.plan --verify --no-run
try 0 run damaged.plan
# Before them lie those that each run reads: `run` checks these, and builds what is in the cache again.
damage() { printf '\x5a\xa5\x5a' | dd of="$1" bs=1 seek=$(($(stat -c %s "$1") - 180000)) conv=notrunc 2>/dev/null; }
cp batch.plan damaged.plan
damage damaged.plan
try 3 run damaged.plan
says "damaged.plan: the plan is damaged: "
fails_once
try 0 run damaged.plan --no-verify
XDG_CACHE_HOME=$folder/damaged try 0 run "$digits/model.onnx"
damage "$(find "$folder/damaged" -name '*.plan')"
XDG_CACHE_HOME=$folder/damaged try 0 run "$digits/model.onnx"
says "warning: " "the plan is damaged: " "the cached plan cannot be loaded and is built again"
head -c $((size / 2)) batch.plan >half.plan
try 3 run half.plan
says "half.plan"
fails_once
# A model with open extents is parsed twice, and what the parser warns of is said once: here which label each column is.
zip_map=$root/tests/classical/cases/node/test_zip_map_words_3/model.onnx
try 0 build "$zip_map" -o zip_map.plan
says "is a tensor, not maps: a row for each map, a column for each key: no, perhaps, yes"
(($(grep -c 'is a tensor, not maps' err) == 1)) || complain "it is said more than once"
try 0 inspect "$zip_map" --no-build
says "a column for each key: no, perhaps, yes"

# Inputs that stay in the context.
decoder=$(cd "${BASH_SOURCE[0]%/*}/../decoder/cases" && pwd)
try 0 build "$decoder/states.onnx" -o decoder.plan --state 'past_*=present_*' --no-measuring
try 0 inspect decoder.plan --no-run
says "in state past_key_1"
says "states 0.02"
try 0 bench decoder.plan --seconds 0 --json
says '"state_bytes": 16384'
try 2 build "$decoder/states.onnx" -o no.plan --state 'pasta_*=present_*'
says "--state pasta_*=present_*: no input fits; the inputs are: ids, position, past_key_0"
try 2 build "$decoder/states.onnx" -o no.plan --state past_key_0
says "it must be INPUT=OUTPUT"
try 2 build "$decoder/states.onnx" -o no.plan --state 'past_*=present_key_0'
says "with one * in both or in none"
try 3 build "$decoder/states.onnx" -o no.plan --state past_key_0=logits
says "input 'past_key_0' cannot become what output 'logits' is"
try 2 convert "$decoder/states.onnx" -o no.onnx --state 'past_*=present_*'
says "a file has no states; build the model with it"
