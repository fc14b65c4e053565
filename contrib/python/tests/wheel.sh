#!/usr/bin/env bash
# The wheel as users get it: made from a build, installed into a clean environment, run without a
# compiler on PATH. Usage: wheel.sh ROOT BUILD PYTHON FOLDER
set -euo pipefail
root=$1 build=$2 python=$3 folder=$4
fail() {
  echo "wheel: $*"
  exit 1
}
rm -rf "$folder"
mkdir -p "$folder"
"$root/scripts/wheel" --build "$build" "$folder/dist" >"$folder/log" 2>&1 || fail "$(cat "$folder/log")"
wheel=$(echo "$folder"/dist/*.whl)
[[ $wheel == *-cp311-abi3-*linux*_$(uname -m).whl ]] || fail "the name is $wheel"

# NumPy of the interpreter, if it has one, and nothing else.
"$python" -m venv --system-site-packages "$folder/venv" >"$folder/log" 2>&1 || {
  echo "skipped: no venv: $(tail -1 "$folder/log")"
  exit 77
}
"$folder/venv/bin/python" -m pip --disable-pip-version-check install --no-index --no-deps "$wheel" >"$folder/log" 2>&1 ||
  fail "$(cat "$folder/log")"
unset PYTHONPATH TENON_PLUGIN_PATH LD_LIBRARY_PATH
export PATH=$folder/venv/bin
cd "$root/sdk/demo/digits"

"$folder/venv/bin/tenon" --version >/dev/null || fail "the command does not start"
text=$("$folder/venv/bin/python" - <<'SCRIPT'
import array, os, sys, tempfile
import tenon_engine as tenon

assert tenon.__file__.startswith(sys.prefix), tenon.__file__
plugins = {plugin.name: plugin for plugin in tenon.default_registry().plugins()}
for name in ("cpu", "host", "onnx", "standard"):
    plugin = plugins[name]
    assert plugin.path.startswith(os.path.realpath(sys.prefix)) and not plugin.reason, plugin

# The same numbers as in C: the guide's.
with open("digit_7.pgm", "rb") as file:
    pixels = array.array("f", [byte / 255 for byte in file.read()[-64:]])
image = memoryview(pixels).cast("B").cast("f", (1, 1, 8, 8))
model = tenon.load("model.onnx", shapes={"image": (1, 1, 8, 8)})
scores = model(image=image)["probabilities"]
row = scores.tolist()[0]
print("class", row.index(max(row)), "score", f"{max(row):.6f}")
with tempfile.TemporaryDirectory() as folder:
    model.save(f"{folder}/digits.plan")
    again = tenon.load(f"{folder}/digits.plan", verify="all", plugins="refuse")
    assert again(image)[0].tolist() == scores.tolist()
twice = tenon.operator("acme.twice", "y = 2 * x")
network = tenon.Network()
network.output(network.add(twice, network.input("x", "f32", (2,))), "y")
(y,) = tenon.Engine(tenon.build(network)).context()(array.array("f", [1, 2])).values()
assert y.tolist() == [2, 4]
try:
    import onnxruntime
except ImportError:
    pass
else:
    import numpy
    session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"image": numpy.array(image)})
    assert numpy.abs(expected - scores).max() < 1e-5
SCRIPT
) || fail "the program fails: $text"
[[ $text == "class 7 score 0.99711"* ]] || fail "it prints $text"
echo "passed: ${wheel##*/}: $text"
