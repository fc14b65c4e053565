#!/bin/sh
# Runs operators.py with the environment of scripts/python-environment, or with TENON_PYTHON.
#   operators.sh ROOT TENON [options of operators.py...]
python=${TENON_PYTHON:-$1/build/python/bin/python}
[ -x "$python" ] || python=python3
root=$1
shift
exec "$python" "$root/tests/bench/operators.py" "$@"
