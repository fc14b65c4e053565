#!/bin/sh
# Optimises two small networks with ONNX Runtime and compares Tenon's outputs on them.
#   networks.sh TENON WORK
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
python=${TENON_PYTHON:-$folder/../../../build/python/bin/python}
[ -x "$python" ] || python=python3
rm -rf "$2"
"$python" -B "$folder/small_networks.py" "$2/made"
exec "$python" -B "$folder/networks.py" "$1" "$2/optimised" "$2/made/convolutional" "$2/made/transformer"
