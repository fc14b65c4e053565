#!/usr/bin/env bash
# The checker of plugins, on plugins with known faults.
#   tests/check/check.sh TENON BUILD PART, which is a file beside this one
set -uo pipefail
tenon=${1:?the command}
build=${2:?the build folder}
part=${3:?the name of a file beside this one}
here=$(cd "$(dirname "$0")" && pwd)
fixtures=$build/tests/plugins
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
cd "$folder" || exit 1
failures=0

complain() {
  echo "FAILED: tenon plugin check $command"
  echo "  $1"
  sed 's/^/  | /' out err
  failures=$((failures + 1))
}
# check STATUS ARGUMENTS...: its words are in the files out and err.
check() {
  local wanted=$1 status
  shift
  command=$*
  "$tenon" plugin check "$@" >out 2>err
  status=$?
  ((status == wanted)) || complain "its exit status is $status, not $wanted"
}
# says TEXT...: each of them is printed.
says() {
  local text
  for text in "$@"; do
    grep -qF -- "$text" out err || complain "it does not print: $text"
  done
}
# passes FILE ARGUMENTS...: checks are run, and none fails.
passes() {
  check 0 "$@"
  ! grep -q '^FAILED' out || complain "a check failed"
  grep -q '^ok ' out || complain "no check passes"
}
# finds FILE CHECK TEXT: this check fails with this text.
finds() {
  : "${3:?the text}"
  check 1 "$1"
  grep -E "^FAILED +$2" out | grep -qF -- "$3" || complain "the check $2 does not print: $3"
}

# shellcheck source=/dev/null
source "$here/$part.sh"
((failures == 0)) && echo "$part: all as expected"
exit $((failures > 0))
