# shellcheck shell=bash disable=SC2154
# One plugin for each fault: see rogue.c.
rogue() {
  local mode=$1 check=$2 text=${3:?the text} seconds=120
  [[ $mode != endless ]] || seconds=5
  check 1 "$build/tests/check/rogue_$mode.so" --cases "${4:-16}" --seconds "$seconds" \
    --only "^(admission|load|$check)"
  grep -E "^FAILED +($check)" out | grep -qF -- "$text" || complain "the check $check does not print: $text"
}
passes "$build/tests/check/rogue_honest.so"
rogue wrong values "is wrong"
rogue once values "1 of "
rogue half values "does not write"
rogue past values "writes behind its output 0"
rogue near values "writes behind its output 0"
rogue far values "it crashed (SIGSEGV"
rogue reads_past values "it crashed (SIGSEGV"
rogue writer values "writes to its input"
rogue scratch values "scratch"
rogue endless values "it does not end in time"
rogue shared 'threads' "threads must not share" 64
rogue changing values "computes something else"
rogue nested values "calls \`parallel\` within \`parallel\`"
rogue stale shapes "one engine runs several extents"
rogue infinite shapes "is inf, not"
rogue dense layouts "inputs and outputs are permuted"
rogue empty shapes "it crashed (SIGFPE"
rogue forgetful allocations "it crashed (SIGSEGV"
rogue overflowing extents "it crashed (SIGABRT"
rogue match_crash values "in its function match"
rogue prepare_fails values "failed when it was tried"
rogue tactics_fails values "its function \`tactics\`"
rogue small_shape values "writes behind its output 0"
rogue linear traits "the trait linear"
rogue linear_last traits "the trait linear"
rogue joined traits "the trait concatenable" 64
rogue expression definition "computed by"
rogue no_slash load "has no version"
rogue slot slots "with arithmetic behind output 0"
