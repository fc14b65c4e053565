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

# A model that cannot be built says what it is made of.
input="node { name: 'x' op: 'Placeholder' attr { key: 'shape' value { shape { dim { size: -1 } dim { size: 4 } } } } }"
strange="$input node { name: 'a' op: 'Neg' input: 'x' } node { name: 's' op: 'Strange' input: 'a' }"
echo "$strange node { name: 'y' op: 'Neg' input: 's' }" >"$folder/strange.pbtxt"
for line in "x: f32 ?x4" "output    y: " "2 tensorflow::Neg by uff" "1 tensorflow::Strange missing"; do
  try 3 "$line" inspect "$folder/strange.pbtxt" --no-build
done
cat >"$folder/strange.uff" <<'END'
version: 1 graphs { id: 'main'
  nodes { id: 'MarkOutput_0' operation: 'MarkOutput' inputs: 'y' }
  nodes { id: 'y' operation: '_Strange' inputs: 'x' }
  nodes { id: 'x' operation: 'Input' fields { key: 'shape' value { i_list { val: [-1, 4] } } } }
}
END
for line in "x: f32 ?x4" "output    y: " "1 tensorflow::Strange missing"; do
  try 3 "$line" inspect "$folder/strange.uff" --no-build
done

# Behind a Switch nothing is missing that the condition does not want.
cat >"$folder/sides.pbtxt" <<END
$input
node { name: 'p' op: 'Const' attr { key: 'value' value { tensor { dtype: DT_BOOL bool_val: false } } } }
node { name: 'w' op: 'Switch' input: 'x' input: 'p' }
node { name: 's' op: 'Strange' input: 'w:1' }
node { name: 'n' op: 'Neg' input: 'w' }
node { name: 'y' op: 'Merge' input: 'n' input: 's' }
END
try 0 "f32 1x4" run "$folder/sides.pbtxt"
sed 's/bool_val: false/bool_val: true/' "$folder/sides.pbtxt" >"$folder/other.pbtxt"
try 3 "1 tensorflow::Strange missing" inspect "$folder/other.pbtxt" --no-build
[ "$failures" = 0 ]
