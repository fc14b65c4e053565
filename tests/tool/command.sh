#!/usr/bin/env bash
# The `tenon` command as a user meets it: what it prints, what it refuses, how it exits.
#   tests/tool/command.sh TENON ROOT PART, which is a file beside this one
set -uo pipefail
tenon=${1:?the command}
root=${2:?the repository}
here=$(cd "$(dirname "$0")" && pwd)
part=${3:?the name of a file beside this one}
digits=$root/sdk/demo/digits
coins=$root/sdk/demo/coins
folder=$(mktemp -d)
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
}
# says TEXT...: either stream has each of them.
says() {
  local text
  for text in "$@"; do
    grep -qF -- "$text" out err || complain "it does not say: $text"
  done
}
# built_nothing: after a command with --verbose, which says of each build what it measured.
built_nothing() {
  ! grep -q 'times were measured' out err || complain "something was built"
}
# fails_once: one error on standard error, nothing else about it.
fails_once() {
  (($(grep -c '^error: ' err) == 1)) || complain "there is not one error message"
}
# prints_json: each line of standard output is one object; parsed where there is Python.
prints_json() {
  [[ -s out ]] || complain "standard output is empty"
  if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
for line in sys.stdin: assert isinstance(json.loads(line), dict), line' <out 2>>err ||
      complain "standard output is not JSON, one object a line"
  else
    ! grep -qvE '^\{.*\}$' out || complain "standard output is not one object a line"
  fi
}

# The subcommands that there are.
mapfile -t subcommands < <("$tenon" --help | sed -n 's/^  \([a-z][a-z]*\( [a-z][a-z]*\)\{0,1\}\)  .*/\1/p')

# shellcheck source=/dev/null
source "$here/files.sh"
# shellcheck source=/dev/null
source "$here/$part.sh"
((failures == 0)) && echo "$part: all as expected"
exit $((failures > 0))
