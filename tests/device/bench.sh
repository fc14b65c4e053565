#!/usr/bin/env bash
# What `tenon bench` tells of a device with memory and a clock of its own, on the device `far`.
#   tests/device/bench.sh BUILD ROOT
# shellcheck source=tests/device/common.sh
. "$(dirname "$0")/common.sh"

# bench STATUS OPTIONS...: on one picture; nothing is left on the device, nor done wrong.
bench() {
  local wanted=$1
  shift
  rm -f report
  FAR_DEVICE_REPORT=$folder/report "$tenon" bench "$model" --device far --plugins "$far" --no-measuring --shapes \
    image:1x1x8x8 --seconds 0.1 --iterations 3 "$@" >out 2>err
  local status=$?
  ((status == wanted)) || complain "bench $*: its exit status is $status, not $wanted"
  ! grep -vE ' mistakes 0 .* live_allocations 0 live_streams 0 live_events 0 live_recordings 0$' report ||
    complain "bench $*: something is left on the device"
}
says() {
  local text
  for text in "$@"; do
    grep -qE -- "$text" out err || complain "it does not say: $text"
  done
}
number() { grep -oE "\"$1\": [-0-9.e+]+" out | grep -oE '[-0-9.e+]+$'; }
# holds EXPRESSION: of awk.
holds() { awk "BEGIN { exit !($1) }" || complain "it is not so that $1"; }
# counted WORD: of the report of the process that ran, the last.
counted() { tail -1 report | grep -oE " $1 [0-9]+" | grep -oE '[0-9]+$'; }

# Times by both clocks, and what they are of.
bench 0
says '^latency     median .*, by the host.s clock$' '^on device   median .*, p10 .*, by the events of far:0$' \
  '^enqueueing  median .*, of the host, to ask for a run$' \
  '^  in a row  median .*, of the host, to ask for one while others are under way$' \
  '^in a row    .* a run, .* a second: 32 enqueued before one wait' \
  '^tensors     inputs and outputs lie in the device.s memory$' '^clocks      far:0 does not tell$' \
  'on the device weights 0.1, activations ' '^device      0.1 MiB taken at most, .* of its 4096.0 are free$'
! grep -qE '^copies|warning: the clock' out err || complain 'copies are told that there are none of, or clocks'

# Where the device takes its time the events say so, and the host that enqueues need not wait for it. A millisecond
# passes before each piece of work: in a run the replay and the event behind it, in a copy likewise.
FAR_DEVICE_DELAY=1000 bench 0 --json
holds "$(number device_min_ms) >= 2 && $(number enqueue_median_ms) < $(number device_min_ms) / 2"
holds "$(number row_median_ms) >= 1 && $(number row_runs) == 32"
holds "$(number row_enqueue_median_ms) > 0 && $(number row_enqueue_median_ms) < $(number row_median_ms) / 2"
holds "$(number row_enqueue_p90_ms) >= $(number row_enqueue_median_ms)"
! grep -q transfer_in out || complain 'copies are told that there are none of'
crossed=$(counted to_host_bytes)
((crossed == 0)) || complain "$crossed bytes of results were copied to the host"
FAR_DEVICE_DELAY=1000 bench 0 --json --transfers
holds "$(number transfer_in_median_ms) >= 2 && $(number transfer_out_median_ms) >= 2"
holds "$(number device_min_ms) >= $(number transfer_in_min_ms) + $(number transfer_out_min_ms) + 2"
(($(counted to_host_bytes) > 0)) || complain 'nothing was copied to the host'
bench 0 --transfers
says '^copies in   median ' '^copies out  median ' 'inputs and outputs lie in the host.s memory' \
  '^in a row    one after the other: .* .the host waits 0 times within one.$'
! grep -q '^  in a row' out || complain 'runs that wait for one another are told as under way at once'

# A clock that changed by more than 5 % is told, one by less not.
FAR_DEVICE_CLOCKS=1000,940 bench 0
says '^clocks      1000 MHz before, 940 MHz after \(-6.0 %\); memory 2000 MHz$' \
  '^warning: the clock of far:0 went from 1000 to 940 MHz while it was measured'
FAR_DEVICE_CLOCKS=1000,960 bench 0 --json
! grep -q 'warning: the clock' err || complain 'a change of 4 % is told'
holds "$(number clock_before_mhz) == 1000 && $(number clock_after_mhz) == 960"
# So is a device that cannot be read; the measurement is there all the same.
FAR_DEVICE_FAIL=read:1:8 bench 0
says 'far:0. .*read: ' '^on device '

# The host takes part: it is told, and does not fail.
bench 0 --node-device conv1=cpu
says 'the host reads 1 of these inputs and makes or looks at 0' 'one after the other: .* .the host waits 1 times within one.$'
bench 0 --node-device softmax=cpu
says 'the host reads 0 of these inputs and makes or looks at 1'

# Peaks: a context more is its memory more.
bench 0 --contexts 1 --json
one=$(number device_peak_bytes)
bench 0 --contexts 4 --json
holds "$(number device_peak_bytes) >= $one + 3 * $(number arena_bytes) && $(number contexts) == 4"
! grep -q device_median out || complain 'one context is told apart'
bench 0 --contexts 3
says 'runs per second of 3 contexts at once' 'inputs and outputs lie in the device'

# Outputs are the network's, wherever they were measured.
bench 0 --output lent
bench 0 --output copied --transfers
bench 0 --output several --contexts 2
for name in copied several; do
  cmp lent/output_0_probabilities.npy "$name/output_0_probabilities.npy" || complain "the outputs of $name are others"
done

# What fails on the way is told, and nothing stays behind: a context's memory and stream, an event, an input's copy, a
# time, in one thread or in one of several.
for failure in allocate:12:6 create_event:2:8 copy:5:8 record_event:5:8 elapsed:2:8; do
  FAR_DEVICE_FAIL=$failure bench 3
  says '^error: .*device'
done
for failure in create_stream:3:8 allocate:25:6 copy:8:8 replay:12:8; do
  FAR_DEVICE_FAIL=$failure bench 3 --contexts 3
  says '^error: .*device'
done

((failures == 0)) && echo 'all as expected'
exit $((failures > 0))
