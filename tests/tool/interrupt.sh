# shellcheck shell=bash disable=SC2154,SC2034
# A warm-up, which has no progress, ends as well, and is told.
warm_up_interrupted() {
  command="bench, interrupted"
  "$tenon" bench "$digits/model.onnx" --warm-up 100 --json >out 2>err &
  local child=$! status
  for _ in $(seq 500); do
    grep -q 'is not given' err && break
    sleep 0.02
  done
  kill -INT "$child"
  wait "$child"
  status=$?
  ((status == 130)) || complain "its exit status is $status, not 130"
  says '"error": "interrupted"' '"exit": 130'
  fails_once
  prints_json
}

# An interrupt ends a build: one message, its own exit status, no plan.
command="build, interrupted"
"$tenon" build "$coins/model.onnx" -o interrupted.plan --no-timing-cache >out 2>err &
child=$!
# Until it measures; it has caught the signal by then.
for _ in $(seq 100); do
  grep -q 'taken to be 1' err && break
  sleep 0.02
done
kill -INT "$child"
wait "$child"
status=$?
# A machine that builds in less time than it takes to ask has nothing to cancel.
if ((status != 0)); then
  ((status == 130)) || complain "its exit status is $status, not 130"
  says "cancelled"
  [[ ! -e interrupted.plan ]] || complain "a plan was left"
fi
warm_up_interrupted
