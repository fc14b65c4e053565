#!/bin/sh
# Runs each regression case in all its modes: see README.md.
#   run.sh TENON CASES WORK KNOWN [FOLDER]
# FOLDER has the plugin of the test device. Every case runs on this device too.
set -u
tenon=$1
cases=$2
work=$3
known=$4
far=${5:-}
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
rm -rf "$work"
mkdir -p "$work"
failed=0

# `tenon suite` runs every case with data sets. It reports a known failure that passes.
suite() { # NAME [option...]
  name=$1
  shift
  if ! "$tenon" suite "$cases" --known "$known" --cases-a-process 100 "$@" >"$work/$name" 2>&1; then
    echo "$name:"
    grep -v '^passed' "$work/$name"
    failed=$((failed + 1))
  fi
}
suite default
suite reference --reference
suite no-fusion --no-fusion
suite no-measuring --no-measuring
if [ -n "$far" ]; then
  suite far --device far --plugins "$far" --no-measuring
fi

is_known() { # CASE: the first word of a line of the list
  awk -v name="$1" '$1 == name || $1 == "~" name { found = 1 } END { exit !found }' "$known"
}

fault() { # WORDS: for the case $name, with the output of its last command
  echo "plan of $name: $1; the command printed:"
  cat "$work/output"
  failed=$((failed + 1))
}

# `tenon build` sees no data. One plan takes all data sets.
plan_passes() { # FOLDER PLAN
  profile=
  [ ! -f "$1/profile" ] || profile=$(cat "$1/profile")
  "$tenon" build "$1/model.onnx" -o "$2" --no-measuring ${profile:+--profile "$profile"} >"$work/output" 2>&1 ||
    return 1
  for data in "$1"/test_data_set_*; do
    "$tenon" run "$2" --data-set "$data" >"$work/output" 2>&1 || return 1
  done
}

for folder in "$cases"/*; do
  name=$(basename "$folder")
  if [ -f "$folder/refused" ]; then
    "$tenon" build "$folder/model.onnx" -o "$work/$name.plan" >"$work/output" 2>&1
    status=$?
    { [ "$status" -eq 3 ] && grep -qF -e "$(cat "$folder/refused")" "$work/output"; } ||
      fault "status $status, expected 3 and '$(cat "$folder/refused")'"
    [ ! -e "$work/$name.plan" ] || fault "the refused build left a plan"
  elif is_known "$name"; then
    continue
  else
    plan_passes "$folder" "$work/$name.plan" || fault "it fails"
  fi
done
echo "$(find "$cases" -name model.onnx | wc -l) cases, $failed failures"
[ "$failed" -eq 0 ]
