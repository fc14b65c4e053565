# shellcheck shell=bash disable=SC2154,SC2034
# Interrupts end everything, are told, have their exit status, and leave nothing behind.
mkdir tmp cache
export TMPDIR=$folder/tmp

# begin WORDS ARGUMENTS...: starts the command, waits until it says the words.
begin() {
  local words=$1
  shift
  command="$*, interrupted"
  : >err
  "$tenon" "$@" >out 2>err &
  child=$!
  for _ in $(seq 1500); do
    grep -q -- "$words" err && break
    sleep 0.02
  done
  grep -q -- "$words" err || complain "it never says: $words"
}
# ends SIGNAL STATUS: the signal ends it with that status; half a minute later SIGKILL does.
ends() {
  local status
  kill "-$1" "$child"
  for _ in $(seq 300); do
    kill -0 "$child" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$child" 2>/dev/null
  wait "$child"
  status=$?
  ((status == $2)) || complain "its exit status is $status, not $2"
}
leaves_nothing() {
  local left
  left=$(find "$TMPDIR" "$XDG_CACHE_HOME" \( -name 'tenon-*' -o -name '*.tmp-*' \) -print)
  [[ -z $left ]] || complain "it leaves $left"
}

# into_closed_pipe COMMAND...: standard output is a pipe whose reader is gone before the command
# begins. Its exit status is in `status`.
mkfifo gone
into_closed_pipe() {
  : >out
  {
    read -r _ <gone
    "$@" 2>err
  } | {
    exec <&-
    echo >gone
  }
  status=${PIPESTATUS[0]}
}

# A build: one message, no plan.
begin 'taken to be 1' build "$coins/model.onnx" -o interrupted.plan --no-timing-cache
ends INT 130
fails_once
[[ ! -e interrupted.plan ]] || complain "a plan was left"
leaves_nothing

# One step without an end, which nothing can stop politely.
make_endless endless.onnx
slow=(endless.onnx --input n=endless.onnx.n.npy)
for signal in INT/130 TERM/143 HUP/129; do
  begin 'random numbers' run "${slow[@]}" --no-cache
  sleep 0.2
  ends "${signal%/*}" "${signal#*/}"
  says "error: interrupted"
  fails_once
  leaves_nothing
done
begin 'random numbers' run "${slow[@]}" --json
sleep 0.2
ends INT 130
prints_json
says '"error": "interrupted"' '"exit": 130'
begin 'random numbers' compare "${slow[@]}"
sleep 0.2
ends INT 130
leaves_nothing
begin 'random numbers' inspect "${slow[@]}" --html page.html
sleep 0.2
ends INT 130
[[ ! -e page.html ]] || complain "a page was written"

# What is ignored stays so: nohup.
command="(with SIGHUP ignored)"
(
  trap '' HUP
  exec "$tenon" bench "$digits/model.onnx" --seconds 1 >out 2>err
) &
child=$!
for _ in $(seq 500); do
  grep -q 'random numbers' err && break
  sleep 0.02
done
ends HUP 0

# In children too: a terminal that is closed tells all of its processes. setsid gives them a group.
command="suite, with SIGHUP ignored"
(
  trap '' HUP
  exec setsid "$tenon" suite "$root/sdk/demo" --jobs 1 --timeout 900 >out 2>err
) &
child=$!
for _ in $(seq 500); do
  grep -q "^[0-9]* (tenon) [A-Z] $child " /proc/[0-9]*/stat 2>/dev/null && break
  sleep 0.02
done
kill -HUP -- "-$child"
wait "$child"
status=$?
((status == 0)) || complain "its exit status is $status, not 0"
says "2 passed, 0 failed"

# Where a closed pipe is ignored, what cannot be written is an error.
command="plugins, with SIGPIPE ignored"
trap '' PIPE
into_closed_pipe "$tenon" plugins --index
trap - PIPE
((status == 3)) || complain "its exit status is $status, not 3"
says "standard output could not be written"

# A benchmark tells what it measured so far.
begin 'random numbers' bench "$digits/model.onnx" --seconds 1000 --warm-up 0 --json
sleep 0.5
ends INT 130
prints_json
says '"median_ms"' '"error": "interrupted"' '"exit": 130'
fails_once
begin 'random numbers' bench "$digits/model.onnx" --warm-up 100 --json
ends INT 130
prints_json
says '"error": "interrupted"' '"exit": 130'
fails_once
leaves_nothing

# A reader that has seen enough ends it quietly.
command="inspect into a closed pipe"
into_closed_pipe "$tenon" inspect "$coins/model.onnx" --no-cache --no-run --refusals --json
((status == 128 + $(kill -l PIPE))) || complain "its exit status is $status"
leaves_nothing
! grep -q '^error' err || complain "an error is told"

# The last moment counts too: here it is when the plan is written.
cat >moment.c <<'C'
#include <signal.h>
#include <unistd.h>
int fsync(int file) {
  (void)file;
  return kill(getpid(), SIGINT);
}
C
"${CC:-cc}" -shared -fPIC moment.c -o moment.so
command="build, interrupted while the plan is written"
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 LD_PRELOAD=$folder/moment.so \
  "$tenon" build "$digits/model.onnx" -o late.plan --no-timing-cache >out 2>err
status=$?
((status == 130)) || complain "its exit status is $status, not 130"
fails_once

# What was killed is cleared away by the next; what may still be written is not, nor what others have.
plans=$XDG_CACHE_HOME/tenon/plans
key=$plans/0123456789abcdef0123456789abcdef.key
left=("$key.tmp-999999999" "${key%.key}.plan.tmp-999999999" "$plans/../timings.tmp-999999999")
others=("$key.tmp-999999998" "$plans/mine.plan.tmp-999999999" "$key.tmp-folder")
mkdir -p "$key.tmp-folder"
for other in "${left[@]}" "${others[@]:0:2}"; do
  echo x >"$other"
done
touch -d '1 hour ago' "${left[@]}" "${others[@]:1}"
try 0 run "$digits/model.onnx" --seed 1 --no-fusion
for other in "${left[@]}"; do
  [[ ! -e $other ]] || complain "the cache keeps what dead processes left: $other"
done
for other in "${others[@]}"; do
  [[ -e $other ]] || complain "what may still be written, or somebody else's, was removed: $other"
done
rm -r "${others[@]}"
leaves_nothing
