#!/bin/sh
# Builds each case into one plan, and runs it on each of its runs: see cases.py.
#   run.sh TENON CASES WORK
set -u
tenon=$1
cases=$2
work=$3
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
rm -rf "$work"
mkdir -p "$work"
runs=0
failed=0

# expect STATUS WORDS WHAT COMMAND...: the status, and words that are said.
expect() {
  status=$1
  words=$2
  what=$3
  shift 3
  "$@" >"$work/said" 2>&1
  got=$?
  runs=$((runs + 1))
  if [ $got -ne "$status" ] || ! grep -qF -e "$words" "$work/said"; then
    echo "$what: status $got, expected $status and '$words'; it said:"
    cat "$work/said"
    failed=$((failed + 1))
  fi
}

for folder in "$cases"/*; do
  name=$(basename "$folder")
  plan=$work/$name.plan
  if [ -f "$folder/refused" ]; then
    expect 3 "$(cat "$folder/refused")" "$name" "$tenon" build "$folder/model.onnx" -o "$plan"
    continue
  fi
  profile=
  [ ! -f "$folder/profile" ] || profile=$(cat "$folder/profile")
  expect 0 "built in" "$name" "$tenon" build "$folder/model.onnx" -o "$plan" ${profile:+--profile "$profile"}
  # Where a run fails, the build warned of it, once.
  warned=$(grep -c "cannot run, and a run that takes it fails" "$work/said")
  fails=$(find "$folder" -name words | wc -l)
  if [ "$warned" -ne "$fails" ]; then
    echo "$name: $warned branches that cannot run are warned of, expected $fails"
    failed=$((failed + 1))
  fi
  for run in "$folder"/*/; do
    if [ -f "$run/words" ]; then
      expect 3 "$(cat "$run/words")" "$run" "$tenon" run "$plan" --data-set "$run"
    else
      expect 0 "agrees" "$run" "$tenon" run "$plan" --data-set "$run"
      expect 0 "agrees" "$run, by the reference" "$tenon" run "$folder/model.onnx" --no-cache --reference \
        --data-set "$run"
    fi
  done
done
echo "$runs runs, $failed failed"
[ $runs -gt 60 ] && [ $failed -eq 0 ]
