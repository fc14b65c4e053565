#!/bin/sh
# Runs attributes.py with the environment of scripts/python-environment, or with TENON_PYTHON.
#   attributes.sh ROOT VERSION
python=${TENON_PYTHON:-$1/build/python/bin/python}
[ -x "$python" ] || python=python3
exec "$python" "$1/tests/suite/attributes.py" "$1/parser_onnx/attributes.c" "$2"
