#!/bin/sh
# Cases of a suite, written as ONNX by `tenon convert`, compute the same.
#   converted.sh TENON ARCHIVE WORK KNOWN LEAST PATTERN
# ARCHIVE lies below TENON_TEST_DATA. Of the cases whose names match PATTERN those are converted that can
# be: some are refused, by name, and some need contents of inputs to be read at all. At least LEAST are
# to pass. Exit status 77 means that the cases are not here.
set -eu
tenon=$1
archive=${TENON_TEST_DATA:-}/$2
work=$3/converted
known=$4
least=$5
pattern=$6
if [ ! -f "$archive" ]; then
  echo "skipped: TENON_TEST_DATA ('${TENON_TEST_DATA:-}') names no folder with $2"
  exit 77
fi
rm -rf "$work"
mkdir -p "$work/from" "$work/to"
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
tar -xJf "$archive" -C "$work/from" --strip-components=1
find "$work/from" -path "*/$pattern/model.onnx" | sort >"$work/models"
while read -r model; do
  case=$work/to/$(basename "$(dirname "$model")")
  mkdir -p "$case"
  status=0
  "$tenon" convert "$model" -o "$case/model.onnx" >"$case/words" 2>&1 || status=$?
  if [ "$status" -eq 0 ]; then
    mv "$(dirname "$model")"/test_data_set_* "$case"
  elif [ "$status" -eq 3 ] && ! [ -e "$case/model.onnx" ] && grep -q "error: " "$case/words"; then
    rm -r "$case"
  else
    echo "$model: exit status $status"
    cat "$case/words"
    exit 1
  fi
done <"$work/models"
exec "$tenon" suite "$work/to" --known "$known" --at-least "$least"
