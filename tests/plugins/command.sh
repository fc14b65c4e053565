#!/usr/bin/env bash
# What the command says about strangers' plugins that are wrong.
#   tests/plugins/command.sh BUILD [SANITIZER]
set -uo pipefail
build=${1:?the build folder}
sanitizer=${2:-}
ulimit -c 0 # crashes are wanted here
tenon=$build/bin/tenon
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
cd "$folder" || exit 1
failures=0

complain() {
  echo "FAILED: tenon $command"
  echo "  $1"
  sed 's/^/  | /' out err
  failures=$((failures + 1))
}
# try STATUS ARGUMENTS...: runs the command; its words are in the files out and err.
try() {
  local wanted=$1 status
  shift
  command=$*
  "$tenon" "$@" >out 2>err
  status=$?
  ((status == wanted)) || complain "its exit status is $status, not $wanted"
  # Errors go with a failure, and nothing else does.
  ((status != 0)) || ! grep -q '^error:' err || complain "it succeeds with an error"
}
says() {
  local text
  for text in "$@"; do
    grep -qF -- "$text" out err || complain "it does not say: $text"
  done
}
# use FIXTURE: the folder `plugins` holds it alone.
use() {
  rm -rf plugins
  mkdir -m 755 plugins
  cp "$build/tests/plugins/$1.so" plugins
  chmod 644 "plugins/$1.so"
}

# A preferred plugin is used before Tenon's own. This one has a parser that reads nothing.
use taker
"$build/tests/write_model" relu.onnx "" Relu 8
try 0 run relu.onnx --plugins plugins
try 3 run relu.onnx --plugins plugins --prefer taker
says "parser 'onnx': plugin taker ("
try 0 run relu.onnx --plugins plugins --prefer onnx
try 3 run relu.onnx --plugins plugins --prefer tacker
says "the preferred plugin 'tacker' is not used: it has not been found"

# Of two definitions of one operator that of the first file counts. Listings name the other.
use first_definition
cp plugins/first_definition.so plugins/1.so && rm plugins/first_definition.so
cp "$build/tests/plugins/second_definition.so" plugins/2.so
chmod 644 plugins/2.so
try 1 plugins --plugins plugins
says "left out: operator acme.disputed/1: plugin first_definition (" \
  "/1.so) defines it otherwise: case 'y = x + x', here case 'y = x * 2'; kernels, patterns and rewrites" \
  " plugins, 0 refused, 1 offer left out"
try 1 plugins --plugins plugins --json
says '"left_out": ["operator acme.disputed/1: plugin first_definition ('
try 1 doctor --plugins plugins
says "MISSING: second_definition 1.0.0: left out: operator acme.disputed/1: " "something is missing"
"$build/tests/write_model" disputed.onnx acme disputed 8
try 0 run disputed.onnx --plugins plugins
says "warning: plugin second_definition (" "/2.so): operator 'acme.disputed/1': plugin first_definition ("
"$build/tests/write_model" plain.onnx "" Abs 8
try 0 run plain.onnx --plugins plugins
! grep -q "acme.disputed" err || complain "it compares operators that the model does not use"
rm plugins/2.so
try 0 plugins --plugins plugins
says " plugins, 0 refused"

# A device that computes nothing is told, and the summary does not name it.
npu=$build/tests/contract/npu
"$build/tests/write_model" exp.onnx "" Exp 8
try 0 build exp.onnx -o exp.plan --device npu --plugins "$npu"
says "warning: " "device 'npu:0' computes nothing: " ": 1 steps on cpu"
try 0 bench exp.plan --plugins "$npu" --seconds 0
says ": 1 steps on cpu"
"$build/tests/write_model" tanh.onnx "" Tanh 8
try 0 build tanh.onnx -o tanh.plan --device npu --plugins "$npu"
says " steps on npu:0"
! grep -q "computes nothing" err || complain "a device that computes is told to be idle"

# A rewrite that no trial finds is found by comparing, and can be left out.
use rewriter
"$build/tests/write_model" abs.onnx "" Abs 77
try 1 compare abs.onnx --plugins plugins --outputs-only
says "DIVERGES y" "rewrites of plugins were applied" "rewrite rewriter:sly: node"
try 1 compare abs.onnx --plugins plugins --outputs-only --json
says '"rewrites": ["rewrite rewriter:sly: node"]'
try 0 compare abs.onnx --plugins plugins --exclude rewriter:sly
says "all agree with the reference"
try 0 compare abs.onnx --plugins plugins --exclude rewriter
try 0 compare abs.onnx --plugins plugins --no-rewrites
try 3 run abs.onnx --plugins plugins --exclude rewriter:slyly
says "plugin rewriter has no such kernel or rewrite; it has: " "sly"
try 1 plugins --plugins plugins --index
says '"name": "endless", "plugin": "rewriter", "disabled": "it matches what it made'

# A crash names plugin, function, what it is of, and the node, and ends the process as it would have. A
# sanitizer reports crashes itself.
crashes() { # FUNCTION NAME WORDS [STATUS]: `run` of the model crashes there, and it is called so
  CRASH_IN=$1 try "${4:-139}" run same.onnx --plugins plugins --no-cache --no-timing-cache --threads 2
  says "in plugin 'crasher', in its function $2" "$3"
}
if [[ -z $sanitizer ]]; then
  use crasher
  "$build/tests/write_model" same.onnx crasher Same 8 "a node"
  try 0 run same.onnx --plugins plugins --no-cache
  # A closed operator without a reference is computed by its own kernel, and compare says so.
  try 0 compare same.onnx --plugins plugins --no-timing-cache
  says "no reference kernel computes it: kernel 'same' of plugin 'crasher' is used" "all agree with the reference"
  for function in query start; do
    use crasher
    crashes "$function" "$function" "of '$folder/plugins/crasher.so'; the plugin is set aside until its file changes or $XDG_CACHE_HOME/tenon/set_aside is deleted"
  done
  # It ends no other command, and is used again once its file has changed.
  try 3 run same.onnx --plugins plugins
  says "plugin candidate '$folder/plugins/crasher.so' is not used: it is set aside"
  try 1 plugins --plugins plugins
  says "is set aside, because it ended an earlier process: replace its file to have it used again"
  try 0 run abs.onnx --plugins plugins
  use crasher
  crashes constructor "a constructor" "of '$folder/plugins/crasher.so'"
  use crasher
  try 0 run same.onnx --plugins plugins --no-cache
  crashes stop stop "of '$folder/plugins/crasher.so'"
  crashes sniff sniff "of 'crashed', for 'same.onnx'"
  crashes convert convert "of 'Same', for 'a node'"
  crashes infer infer "of 'crasher.same/1', for 'a node'"
  crashes rewrite rewrite "of 'same', for '"
  for function in match tactics prepare bind enqueue unbind destroy; do
    crashes "$function" "$function" "of 'same', for 'a node'"
  done
  crashes body enqueue "of 'same', for 'a node'" # in whichever thread
  crashes abort enqueue "SIGABRT" 134
  CRASH_IN=parse try 139 run same.onnx --plugins plugins --format crashed
  says "in plugin 'crasher', in its function parse, of 'crashed', for 'same.onnx'"
  # With --json it is told there too, once, and not by a child whose parent tells it.
  CRASH_IN=enqueue try 139 run same.onnx --plugins plugins --no-cache --json
  says "{\"error\": \"it crashed (SIGSEGV, memory that is not there) in plugin 'crasher', in its function enqueue, of 'same', for 'a node'\", \"exit\": 139}"
  CRASH_IN=match try 3 bench same.onnx --plugins plugins --no-cache --json --seconds 0
  (($(grep -c '"error"' out) == 1)) || complain "not one object tells the error"
  says '"exit": 3'
  # The next build does not try the kernel again that ended a build, until its plugin changes.
  CRASH_IN=enqueue try 139 build same.onnx -o same.plan --plugins plugins --timing-cache timings
  try 3 build same.onnx -o same.plan --plugins plugins --timing-cache timings
  says "crasher:same (the only one) is not used: it ended the process, or lost the device"
  [[ ! -e timings.trial ]] || complain "timings.trial is left"
  printf ' ' >>plugins/crasher.so
  try 0 build same.onnx -o same.plan --plugins plugins --timing-cache timings
  use crasher
  # In no plugin: while it waits for the reader of what it prints. The words are all that a report needs.
  command="plugins --index (SIGSEGV)"
  mkfifo pipe
  exec 3<>pipe
  "$tenon" plugins --index >pipe 2>err &
  waiting=$!
  sleep 2
  kill -SEGV $waiting
  wait $waiting 2>/dev/null
  status=$?
  exec 3>&-
  ((status == 139)) || complain "its exit status is $status, not 139"
  says "in no plugin, at " ": a fault of Tenon $("$tenon" --version | grep -oE '[0-9]+[.][0-9]+[.][0-9]+')" "please report it"
  # What a node's name holds is not obeyed.
  "$build/tests/write_model" same.onnx crasher Same 8 $'red \e[31m "node\\'
  crashes match match "for 'red ?[31m \"node\\'"
  CRASH_IN=match try 139 run same.onnx --plugins plugins --no-cache --json
  says "for 'red ?[31m \\\"node\\\\'"
fi

((failures == 0)) && echo "all as expected"
exit $((failures > 0))
