#!/bin/sh
# A wrong expected output fails, and so does a known failure that passes.
#   self_test.sh TENON RUN CASES WORK
set -eu
tenon=$1
run=$2
work=$4
rm -rf "$work"
mkdir -p "$work/cases"
first=$(find "$3" -name test_data_set_0 | sort | head -n 1)
cp -r "$(dirname "$first")" "$work/cases/one"
chmod -R u+w "$work/cases"
: >"$work/known"
"$run" "$tenon" "$work/cases" "$work/work" "$work/known" >"$work/output" ||
  { cat "$work/output"; echo 'failed: a case that passes'; exit 1; }
echo 'one it passes' >"$work/known"
! "$run" "$tenon" "$work/cases" "$work/work" "$work/known" >"$work/output" || { echo 'missed: an unexpected pass'; exit 1; }
grep -q 'unexpected pass' "$work/output"
: >"$work/known"
cp "$work/cases/one/test_data_set_0/input_0.pb" "$work/cases/one/test_data_set_0/output_0.pb"
! "$run" "$tenon" "$work/cases" "$work/work" "$work/known" >"$work/output" || { echo 'missed: a wrong output'; exit 1; }
echo 'one its output is wrong' >"$work/known"
"$run" "$tenon" "$work/cases" "$work/work" "$work/known" >"$work/output" ||
  { cat "$work/output"; echo 'failed: a known failure'; exit 1; }
