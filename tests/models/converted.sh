#!/bin/sh
# A network written as ONNX by `tenon convert` gives what was recorded of the one that it was made from.
#   converted.sh TENON WORK MODEL [options of tenon convert]
# MODEL is a file below TENON_TEST_DATA, its data sets beside it. Exit status 77 means that it is not here.
set -eu
tenon=$1
work=$2/converted
model=${TENON_TEST_DATA:-}/$3
shift 3
if [ ! -f "$model" ]; then
  echo "skipped: TENON_TEST_DATA ('${TENON_TEST_DATA:-}') names no folder with $model"
  exit 77
fi
mkdir -p "$work"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
folder=$(dirname "$model")
written=$(mktemp "$work/XXXXXX.onnx")
trap 'rm -f "$written"' EXIT
weights=$folder/net.caffemodel
[ ! -f "$weights" ] || set -- --weights "$weights" "$@"
"$tenon" convert "$model" -o "$written" "$@"
for data_set in "$folder"/test_data_set_*; do
  "$tenon" run "$written" --data-set "$data_set" --no-measuring
done
