# shellcheck shell=bash disable=SC2154
# What a measurement tells, and that it says when the machine was busy.
try 0 bench "$digits/model.onnx" --seconds 0.3 --percentile 95,99.9 --percentile 1 \
  --export-times times
grep -qE '^latency     median [0-9.]+ (us|ms|s), p10 ' out || complain "it tells no median"
says "latency     median " ", p10 " ", p90 " ", p99 " ", p95 " ", p99.9 " ", p1 " ", least " \
  "runs per second by the median" "coefficient of variation" " preemptions"
head -1 times | grep -q '^# milliseconds' || complain "the times do not say what they are"
runs=$(sed -n 's/.*(\([0-9]*\) runs in.*/\1/p' out)
(($(grep -c '^[0-9]' times) == runs)) || complain "there are not $runs times"
try 0 bench "$digits/model.onnx" --duration 0.1 --json --percentile 75
prints_json
says '"p75_ms"' '"busy"' '"busy_reason"' '"preemptions"' '"waited_share"' '"variation"'
# Runs a second are those of the median, not what a busy machine left of them.
awk -F '[:,]' '{ for (i = 1; i < NF; ++i) { if ($i ~ /"median_ms"/) m = $(i + 1)
  if ($i ~ /"runs_per_second"/) r = $(i + 1) } } END { exit !(m * r / 1000 > 0.999 && m * r / 1000 < 1.001) }' \
  out || complain "runs_per_second is not that of the median"
# Each percentile is told once, however often and in whatever spelling it is asked for.
try 0 bench "$digits/model.onnx" --seconds 0 --percentile 95,99,95.0 --percentile 95,9.9e1
(($(grep -o 'p95 ' out | wc -l) == 1)) || complain "p95 is told more than once"
(($(grep -o 'p99 ' out | wc -l) == 1)) || complain "p99 is told more than once"
try 0 bench "$digits/model.onnx" --seconds 0 --percentile 95,99,95.0 --percentile 95,9.9e1 --json
(($(grep -o '"p95_ms"' out | wc -l) == 1)) || complain "p95_ms is there more than once"
(($(grep -o '"p99_ms"' out | wc -l) == 1)) || complain "p99_ms is there more than once"
try 2 bench "$digits/model.onnx" --percentile 101
says "--percentile wants numbers from 0 to 100, not \"101\""
try 2 bench "$digits/model.onnx" --seconds 1 --duration 2
says "--seconds and --duration contradict each other"

# Several contexts at once: runs a second are all runs by all the time, and each has its share of the threads.
try 0 bench "$digits/model.onnx" --seconds 0.2 --threads 2 --contexts 2 --iterations 5
says "1 threads each" "runs per second of 2 contexts at once"
! grep -q 'by the events' out || complain "the host has no events"
try 0 bench "$digits/model.onnx" --seconds 0 --threads 1 --contexts 3 --iterations 7 --json --export-times times
prints_json
says '"contexts": 3' '"runs": 21' '"threads": 1'
(($(grep -c '^[0-9]' times) == 21)) || complain "there are not 21 times"
awk -F '[:,]' '{ for (i = 1; i < NF; ++i) { if ($i ~ /"runs"/) n = $(i + 1); if ($i ~ /"seconds"/) s = $(i + 1)
  if ($i ~ /"runs_per_second"/) r = $(i + 1) } } END { exit !(r * s / n > 0.999 && r * s / n < 1.001) }' out ||
  complain "runs_per_second is not all runs by all the time"
try 2 bench "$digits/model.onnx" --contexts 0
try 2 bench "$digits/model.onnx" --transfers --seconds 0
says "--transfers: the plan runs on the host alone, where nothing is copied"
fails_once

# Beside loops that keep every processor busy twice over it cannot have one for itself. They end by
# themselves where this test is killed.
loops=()
for _ in $(seq $(($(nproc) * 2))); do
  timeout 60 bash -c 'while :; do :; done' &
  loops+=($!)
done
try 0 bench "$digits/model.onnx" --seconds 1 --json
kill "${loops[@]}"
wait "${loops[@]}" 2>/dev/null
prints_json
if [[ -r /proc/self/schedstat ]]; then
  says "warning: the machine was busy: " '"busy": true'
else
  echo "skipped: this kernel does not tell how long a thread waits"
fi
