#!/bin/sh
# How many instructions a build takes, and loading a plan and running it once: figures that a busy machine does not
# change. Without measuring, one thread, nothing remembered from before; without the check of the plan's weights, for
# which valgrind lacks the processor's instructions.
#   instructions.sh TENON MODEL...        sdk/demo/digits/model.onnx, say
set -eu
if [ $# -lt 2 ] || ! command -v valgrind >/dev/null; then
  sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
  command -v valgrind >/dev/null || echo "instructions.sh: valgrind is not installed" >&2
  exit 2
fi
tenon=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work
export XDG_CACHE_HOME

# count NAME COMMAND...: millions of instructions
count() {
  log=$work/$1.log
  shift
  if ! valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" >"$log" 2>&1; then
    tail -5 "$log" >&2
    exit 1
  fi
  sed -n 's/.*Collected : *//p' "$log" | awk '{ printf "%.1f", $1 / 1e6 }'
}

printf '%-48s %12s %12s\n' 'million instructions' build 'load and run'
for model in "$@"; do
  built=$(count build "$tenon" build "$model" --no-measuring --threads 1 --no-timing-cache -o "$work/plan")
  ran=$(count run "$tenon" run "$work/plan" --threads 1 --no-verify)
  printf '%-48s %12s %12s\n' "$model" "$built" "$ran"
done
