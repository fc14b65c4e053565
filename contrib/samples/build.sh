#!/bin/sh
# Builds one project against an installed SDK and runs its tests.
# TENON_PYTHON names an interpreter with NumPy and onnx, besides the usual ones.
#   build.sh SOURCE BUILD PREFIX
set -eu
source=$1 build=$2 prefix=$3
python=
# shellcheck disable=SC2086 # a name, or nothing
for candidate in ${TENON_PYTHON:-} /usr/bin/python3 python3; do
  if [ -z "$python" ] && "$candidate" -c 'import numpy, onnx' 2>/dev/null; then
    python=$(command -v "$candidate")
  fi
done
if [ -z "$python" ]; then
  echo "skipped: install python3-numpy and python3-onnx"
  exit 77
fi
if ls "$source"/*.rs >/dev/null 2>&1 && ! command -v rustc >/dev/null; then
  echo "skipped: install rustc"
  exit 77
fi
# Plugins that others can write are not loaded.
umask 022
unset TENON_PLUGIN_PATH
rm -rf "$build"
cmake -S "$source" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DPython3_EXECUTABLE="$python"
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure
