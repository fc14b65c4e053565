#!/bin/sh
# Runs the recorded cases, draws random ones, or builds models with errors.
#   run.sh cases TENON CASES WORK           recorded cases, in several modes
#   run.sh random TENON TESTS WORK [COUNT [SEED]]
#   run.sh mutated TENON TESTS WORK         recorded cases with one error each
#   run.sh refused TENON TESTS WORK         nodes that the plugin refuses
#   run.sh named TENON TESTS WORK           operators and versions of the README
set -u
mode=$1 tenon=$2 folder=$3 work=$4
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
rm -rf "$work"
mkdir -p "$work"
failed=0

suite() { # NAME FOLDER [option...]
  name=$1
  group=$2
  shift 2
  # shellcheck disable=SC2046 # options
  if ! "$tenon" suite "$group" --cases-a-process 50 --at-least 1 $(cat "$group/tolerance") "$@" >"$work/output" 2>&1 ||
    ! grep -q ', 0 skipped' "$work/output"; then
    echo "$(basename "$group"), $name:"
    grep -v '^passed' "$work/output" | cut -c 1-400 | tail -n 40
    failed=$((failed + 1))
  fi
}

python=${TENON_PYTHON:-$folder/../../../build/python/bin/python}
[ -x "$python" ] || python=python3
if [ "$mode" = mutated ]; then
  exec "$python" -B "$folder/mutated.py" "$tenon" "$folder/cases"
fi
if [ "$mode" = refused ]; then
  exec "$python" -B "$folder/refused.py" "$tenon"
fi
if [ "$mode" = named ]; then
  exec "$python" -B "$folder/named.py" "$tenon" "$folder"
fi
if [ "$mode" = random ]; then
  "$python" -B "$folder/record.py" "$work/cases" --count "${5:-4}" --seed "${6:-20260101}"
  status=$?
  [ "$status" -eq 0 ] || exit "$status"
  folder=$work/cases
fi
for group in "$folder"/*/; do
  group=${group%/}
  suite default "$group"
  if [ "$mode" = cases ]; then
    suite reference "$group" --reference
    suite no-fusion "$group" --no-fusion
  fi
done
# The kernels of this plugin with several threads.
for threads in 2 7; do
  suite "$threads threads" "$folder/f32" --filter '*NMS*' --threads "$threads"
done
echo "$(find "$folder" -name model.onnx | wc -l) cases, $failed failed runs"
[ "$failed" -eq 0 ]
