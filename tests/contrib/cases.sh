# shellcheck shell=sh
# For run.sh of a contribution's tests, which reads this file with its arguments:
#   run.sh MODE TENON FOLDER WORK [...]
# Empties WORK. Sets mode, tenon, folder, work, python and failed, and defines suite and check_groups.
mode=$1 tenon=$2 folder=$3 work=$4
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
rm -rf "$work"
mkdir -p "$work"
failed=0
shared=$(dirname "$0")/../../../tests/contrib
python=${TENON_PYTHON:-$shared/../../build/python/bin/python}
[ -x "$python" ] || python=python3

suite() { # NAME GROUP [option...]: the cases of a group, with the options in its file `tolerance`
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

check_groups() { # all groups of the folder; recorded ones in several modes
  for group in "$folder"/*/; do
    group=${group%/}
    suite default "$group"
    if [ "$mode" = cases ]; then
      suite reference "$group" --reference
      suite no-fusion "$group" --no-fusion
    fi
  done
}

record() { # COUNT SEED: new cases, in the place of the recorded ones
  "$python" -B "$folder/record.py" "$work/cases" --count "$1" --seed "$2"
  status=$?
  [ "$status" -eq 0 ] || exit "$status"
  folder=$work/cases
}

finish() {
  echo "$(find "$folder" -name model.onnx | wc -l) cases, $failed failed runs"
  [ "$failed" -eq 0 ]
}
