#!/bin/sh
# Runs a program of this folder with the environment of scripts/python-environment, or with TENON_PYTHON.
#   python.sh ROOT PROGRAM [options of the program...]
python=${TENON_PYTHON:-$1/build/python/bin/python}
[ -x "$python" ] || python=python3
program=$1/tests/bench/$2
shift 2
exec "$python" "$program" "$@"
