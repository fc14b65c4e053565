#!/usr/bin/env bash
# The device `far` as the command meets it: the variables of the environment, its report, and that a plan is the same
# whether the plugin is there or not.
#   tests/device/command.sh BUILD ROOT
# shellcheck source=tests/device/common.sh
. "$(dirname "$0")/common.sh"

# expect TEXT COMMAND...: what it prints contains the text.
expect() {
  local text=$1
  shift
  { "$@"; } >out 2>&1
  if ! grep -qF -- "$text" out; then
    complain "${*}: it does not say: $text"
  fi
}

expect 'device         far 1: far, ' "$tenon" doctor --plugins "$far"
expect 'FAR_DEVICE_COUNT is 0' env FAR_DEVICE_COUNT=0 "$tenon" doctor --plugins "$far"
expect 'far 0: far, ' env FAR_DEVICE_COUNT=1 "$tenon" doctor --plugins "$far"
if grep -qF 'far 1: far, ' out; then
  echo 'FAILED: FAR_DEVICE_COUNT=1 leaves two devices'
  failures=$((failures + 1))
fi
expect 'FAR_DEVICE_FAIL=nothing:1:8 cannot be read' env FAR_DEVICE_FAIL=nothing:1:8 "$tenon" doctor --plugins "$far"
rm -f "$XDG_CACHE_HOME/tenon/set_aside" # the plugin ended a process while it started
expect 'FAR_DEVICE_MEMORY=64X cannot be read' env FAR_DEVICE_MEMORY=64X "$tenon" doctor --plugins "$far"
rm -f "$XDG_CACHE_HOME/tenon/set_aside"
FAR_DEVICE_FAIL=allocate:2:6,health:1:8 FAR_DEVICE_REPORT=$folder/report \
  "$tenon" doctor --plugins "$far" >out 2>&1
if grep -qE 'far 0: .*, ok' out; then
  echo 'FAILED: the health that was asked for is not told'
  failures=$((failures + 1))
fi
for index in 0 1; do
  expect " device $index open 1 allocate 0 " cat report
done
expect ' health 1 read 0 kernel 0 work 0 ' cat report
expect ' mistakes 0 peak_bytes 0 live_allocations 0 live_streams 0 live_events 0 live_recordings 0' cat report

# In how many cases every step ran there, and what the others left on the host.
suite() {
  expect "$1" "$tenon" suite "$root/sdk/demo" --filter digits --device far --plugins "$far" --no-measuring --verbose "${@:2}"
}
suite 'far: every step of 1 of 1 cases that passed, 100.0 %'
suite 'far: every step of 0 of 1 cases that passed, 0.0 %' --node-device softmax=cpu
suite 'expressions in 1 cases' --node-device softmax=cpu

# A file on the path changes nothing: the steps, without their times.
build_steps() { # NAME OPTIONS...
  local name=$1
  shift
  expect ' steps on cpu' "$tenon" build "$model" -o "$name.plan" --timing-cache timings --threads 1 "$@"
  "$tenon" inspect "$name.plan" 2>/dev/null | sed -nE 's/^ +([0-9]+) +[0-9.]+ +[0-9.]+ +/\1 /p' >"$name.steps"
}
build_steps first # measures
build_steps without
build_steps with --plugins "$far"
if [[ ! -s without.steps ]] || ! diff without.steps with.steps; then
  echo 'FAILED: the plan has other steps where the plugin is there'
  failures=$((failures + 1))
fi

((failures == 0)) && echo 'all as expected'
exit $((failures > 0))
