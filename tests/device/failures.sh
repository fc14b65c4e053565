#!/usr/bin/env bash
# A network on the device `far`, whose calls fail one after the other, and which is lost at one piece of work after the
# other: the command says so, its exit status is 3, and nothing is left on the device.
#   tests/device/failures.sh BUILD ROOT
# shellcheck source=tests/device/common.sh
. "$(dirname "$0")/common.sh"
export FAR_DEVICE_REPORT=$folder/report

# run VARIABLE VALUE: with what was measured before, so that each run makes the same calls.
run() {
  rm -f report
  timeout 60 env "$1=$2" "$tenon" run "$model" --device far --plugins "$far" --no-cache --timing-cache timings \
    >out 2>err
  status=$?
  if grep -vE ' mistakes 0 .* live_allocations 0 live_streams 0 live_events 0 live_recordings 0$' report 2>/dev/null; then
    complain "$1=$2: something is left on the device"
  fi
}
# each VARIABLE PREFIX SUFFIX: the first, the second, ... until there are no more.
each() {
  local number=1
  while run "$1" "$2$number$3" && ((status != 0 && number < 200)); do
    ((status == 3)) || complain "$1=$2$number$3: its exit status is $status"
    grep -q '^error: ' err || complain "$1=$2$number$3: it does not say why"
    number=$((number + 1))
  done
  ((number > 1)) || complain "$1=$2$number$3: nothing failed"
  ((number < 200)) || complain "$1=$2$number$3: it fails still"
}

run FAR_DEVICE_LAZY 1
((status == 0)) || complain 'it fails where nothing is asked to'
for call in open allocate copy fill create_stream synchronize kernel work; do
  each FAR_DEVICE_FAIL "$call:" :8
done
each FAR_DEVICE_FAIL allocate: :6
each FAR_DEVICE_LOSE '' ''

((failures == 0)) && echo 'all as expected'
exit $((failures > 0))
