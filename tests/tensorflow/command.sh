#!/bin/sh
# The command with frozen graphs and UFF files: extents that a file leaves open, and words when something is missing.
#   command.sh TENON
set -eu
tenon=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
failures=0

# try STATUS TEXT ARGUMENT...: the exit status, and what either stream must say.
try() {
  wanted=$1
  text=$2
  shift 2
  status=0
  "$tenon" "$@" >"$folder/out" 2>&1 || status=$?
  if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" "$folder/out"; then
    echo "FAILED: tenon $*: status $status, not $wanted, or it does not say: $text"
    sed 's/^/  | /' "$folder/out"
    failures=$((failures + 1))
  fi
}

# An empty shape says nothing in old graphs: the caller does. In newer ones it is a scalar's.
node="node { name: 'y' op: 'Neg' input: 'x' }"
echo "node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { } } } } $node" >"$folder/old.pbtxt"
(cat "$folder/old.pbtxt" && echo "versions { producer: 22 }") >"$folder/new.pbtxt"
try 3 "or x:scalar" run "$folder/old.pbtxt"
try 0 "f32 1x4" run "$folder/old.pbtxt" --shapes x:1x4
try 0 "f32 scalar" run "$folder/old.pbtxt" --shapes x:scalar
try 0 "f32 scalar" run "$folder/new.pbtxt"
try 3 "has rank 0 in the file" run "$folder/new.pbtxt" --shapes x:1x4
[ "$failures" = 0 ]
