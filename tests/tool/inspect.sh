# shellcheck shell=bash disable=SC2154
# What is looked at: plans with figures that say where they come from, models that are not built,
# data.
try 0 build "$digits/model.onnx" -o digits.plan
python=$(command -v python3 || true)
node=$(command -v node || true)
# draw PAGE: the elements that a browser would draw, into the file `drawn`, where there is Node.js.
draw() {
  [[ -z $node ]] || "$node" "$here/page.js" show "$1" >drawn 2>>err || complain "$1 cannot be drawn"
}

# Figures of the build are called so; they never stand in for a run that failed.
try 0 inspect digits.plan --no-run
says "times   as the build measured them; it is not run now" "us, built"
try 0 inspect digits.plan
says "times   medians of "
! grep -q "built" out || complain "its figures are called the build's"
# On the host alone no step says so; each has its type and layout.
grep -qE '^step +us +% +name +kernel +type +layout +nodes' out || complain "its columns are others"
grep -qE '^ +0 .* cpu:[a-z_]+ +f32 +[a-z]' out || complain "the first step has no type"
try 0 inspect digits.plan --no-run --json
prints_json
says '"type": "f32"' '"device": "cpu"'
says '"times": "build"' '"median_us": null'
try 0 inspect digits.plan --json
prints_json
says '"times": "runs"'
! grep -q '"median_us": null' out || complain "a step has no time"
try 0 inspect digits.plan --no-run --html built.html
draw built.html
[[ -z $node ]] || grep -q 'as measured when it was built' drawn || complain "the page does not say so"
[[ -z $node ]] || grep -q 's, built<' drawn || complain "the column of the page does not say so"
try 0 build "$digits/model.onnx" -o unmeasured.plan --no-measuring
try 0 inspect unmeasured.plan --no-run
says "times   none: the plan was built without measuring"

cp "$digits/test_images.npy" images.npy
try 3 inspect digits.plan -i images.npy
says "images.npy: has the shape 597x1x8x8, input 'image' is 1x1x8x8"
! grep -q 'conv1' out || complain "older figures are shown"
try 2 inspect digits.plan -i nosuch=images.npy
says "there is no input 'nosuch'; the inputs are: image"
fails_once
try 3 inspect "$coins/model.onnx" --shapes image:1x1x288x384 -i images.npy --html page.html
[[ ! -e page.html ]] || complain "a page was written"

# A profile is shown where an extent is open, whatever the input is called.
input_name='really?' make_model question.onnx Relu 1 2 3
try 0 inspect question.onnx --no-run
says "input   really?: f32 2x3"
! grep -q ', profile' out || complain "it shows a profile of what is not open"

# Names that are markup stay names: of nodes, inputs, files.
node_name='</script><script>"&'\' input_name='<i>"' make_model '<u>.onnx' Relu 1 2
try 0 inspect '<u>.onnx' --html markup.html --refusals
draw markup.html
for words in '&lt;/script&gt;&lt;script&gt;&quot;&amp;'\' '&lt;i&gt;&quot;' '&lt;u&gt;.onnx'; do
  [[ -z $node ]] || grep -qF "$words" drawn || complain "the page does not show $words"
done
! sed -n '/id="plan">/,/^<\/script>/p' markup.html | sed '1d;$d' | grep -q '<' || complain "a name is markup"

# Kernels that the build was not to use are told once, and not at each step.
try 0 inspect "$digits/model.onnx" --html steps.html
draw steps.html
if [[ -n $node ]]; then
  (($(grep -c "Excluded by the build's policy, and not listed" drawn) == 1)) ||
    complain "the policy is not told once"
  ! grep -q 'is excluded by' drawn || complain "a step lists what the policy excludes"
  grep -q 'in steps<br>' <(tr -d '\n' <drawn) || complain "the page does not say the sum of the steps"
fi

# Fields of the plan's objects, which the page and other programs read.
try 0 inspect digits.plan --json --network
if [[ -n $python ]]; then
  "$python" - <<'P' || complain "an object has other fields"
import json
fields = {
    'model': 'device fingerprint threads steps plan_bytes weights_bytes arena_bytes peak_alive_bytes scratch_bytes '
             'state_bytes tuned_only plugins patches',
    'input': 'kind dtype shape symbols min optimum max',
    'output': 'kind dtype shape symbols',
    'times': 'runs low_us median_us high_us outside_us busy',
    'step': 'name kind plugin kernel tactic nodes expression inputs outputs type layout device stream depth measured_us '
            'low_us median_us high_us share operations bytes traits sources refusals',
    'block': 'bytes first_step last_step',
    'network': ''}
seen = set()
for line in open('out'):
    item = json.loads(line)
    kind = next(iter(item))
    assert set(item) == {kind} | set(fields[kind].split()), item
    seen.add(kind)
assert seen == set(fields), seen
P
fi

# The page alone on standard output.
try 0 inspect digits.plan --html -
head -c 15 out | grep -q '<!DOCTYPE html>' || complain "it is no page"
[[ $(tail -c 8 out) == '</html>' ]] || complain "something follows the page"
[[ ! -e ./- ]] || complain "there is a file called -"
try 2 inspect digits.plan --html - --json
says "--html - writes the page to standard output, where --json writes too"

# Models, not built.
try 0 inspect "$digits/model.onnx" --no-build --verbose
says "input     image: f32 ?x1x8x8 (? is batch)" "output    probabilities: f32 ?x10 (? is batch)" \
  "17 nodes of 8 kinds" "3 standard.convolution/1" "10 constants, 0.09 MiB"
built_nothing
! grep -q 'taken to be 1' err || complain "extents are closed"
try 0 inspect "$digits/model.onnx" --no-build --json
prints_json
says '"symbols": ["batch", "", "", ""]' '"operator": "standard.relu/1", "count": 4'
try 0 inspect "$digits/model.onnx" --no-cache --no-run --verbose
says "times were measured"
try 0 inspect "$digits/model.onnx" --network --verbose
says "graph main" "standard.softmax/1" "(? is batch)"
built_nothing
try 0 inspect digits.plan --network --json
prints_json
says '"network": ['
try 2 inspect "$digits/model.onnx" --no-build --refusals
says "--refusals is for looking at a plan; --no-build builds nothing"
try 2 inspect digits.plan --no-build
says "--no-build is for building; digits.plan is a plan already"
try 2 inspect digits.plan --no-run --mean 1 -i images.npy
says "--no-run runs nothing"

# Data.
try 0 inspect images.npy
says "images.npy: u8 597x1x8x8, 0 to 255, mean 77.3"
try 0 inspect "$digits/test_data_set_0/output_0.pb" --json
prints_json
says '"shape": [1, 10]' '"values": ['
try 2 inspect images.npy --html page.html
says "images.npy holds data"

# Bytes are told apart.
try 0 inspect digits.plan --no-run
says "weights 0.12 MiB, packed copies 0." "(--tuned-only drops the originals); activations" "workspace"
try 0 build "$digits/model.onnx" -o tuned.plan --tuned-only
says "as kernels packed them; activations" "; workspace "
if [[ -n $python ]]; then
  try 0 build "$digits/model.onnx" -o json.plan --json
  "$python" - <<'P' || complain "build does not tell activations and workspace apart"
import json
plan = json.loads(open('out').readline())
assert plan['arena_bytes'] > 0 and plan['scratch_bytes'] >= 0
P
fi

# A model that cannot be made a network tells what it holds: one with a layer that nobody converts.
sed -e 's/"ReLU"/"Whirl"/' "$digits/model.prototxt" >strange.prototxt
try 3 inspect strange.prototxt --weights "$digits/model.caffemodel" --no-build
says "is missing" "declared by the file" "input     image" "Whirl missing" "Convolution by caffe"
try 3 inspect strange.prototxt --weights "$digits/model.caffemodel" --no-build --json
says '"node": "Whirl"' '"plugin": "caffe"'
