#!/bin/sh
# Runs the cases of the onnx in build/python, which record.py writes once into WORK.
#   installed.sh TENON ROOT VERSION WORK KNOWN [options of tenon suite...]
set -eu
tenon=$1
root=$2
version=$3
work=$4
known=$5
shift 5
python=${TENON_PYTHON:-$root/build/python/bin/python}
if ! [ -x "$python" ] || [ "$("$python" -c 'import onnx; print(onnx.__version__)')" != "$version" ]; then
  echo "skipped: $python has no onnx $version; scripts/python-environment makes it if there is a network"
  exit 77
fi
folder=$work/onnx_$version
mkdir -p "$work"
(
  flock 9
  if [ ! -d "$folder" ]; then
    rm -rf "$folder.part"
    "$python" "$root/tests/suite/record.py" "$folder.part"
    mv "$folder.part" "$folder"
  fi
) 9>"$folder.lock"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
exec "$tenon" suite "$folder" --known "$known" "$@"
