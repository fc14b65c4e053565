#!/bin/sh
# Runs graphs.py with the environment of scripts/python-environment, or with TENON_PYTHON.
#   run.sh ROOT BUILD [options of graphs.py...]
root=$1
shift
python=${TENON_PYTHON:-$root/build/python/bin/python}
[ -x "$python" ] || python=python3
exec "$python" "$root/tests/graphs/graphs.py" "$@"
