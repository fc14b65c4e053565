#!/bin/sh
# Completes one of the exported networks: its weights from seeds, and a data set of batch 3.
#   complete.sh TENON WORK NAME
# Exit status 77 means that the network, or Python's onnx and numpy, are not here.
set -eu
tenon=$1
work=$2
name=$3
source=${TENON_TEST_DATA:-}/exported/$name
target=$work/completed/$name

if [ ! -f "$source/model.onnx" ]; then
  echo "skipped: TENON_TEST_DATA ('${TENON_TEST_DATA:-}') names no folder with exported/$name"
  exit 77
fi
mkdir -p "$work/completed"
exec 9>"$work/completed/$name.lock"
flock 9
# What another run completed stays; half of one does not.
if [ -f "$target/.complete" ]; then
  exit 0
fi
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy, onnx.numpy_helper' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "skipped: completing $name needs Python with numpy and onnx (python3-numpy, python3-onnx)"
  exit 77
fi

rm -rf "$target"
"$python" "$TENON_TEST_DATA/fill_weights.py" "$source" "$target"
"$python" "$(dirname "$0")/batch.py" "$tenon" "$target"
: >"$target/.complete"
