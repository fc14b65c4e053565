#!/bin/sh
# `tenon convert`: small frozen graphs and recorded networks as ONNX files, which are read back and must compute the same.
#   convert.sh TENON ROOT
set -eu
tenon=$1
root=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
XDG_CACHE_HOME=$folder/cache
export XDG_CACHE_HOME
failures=0

fail() {
  echo "FAILED: $1"
  sed 's/^/  | /' "$folder/out"
  failures=$((failures + 1))
}

# try STATUS TEXT ARGUMENT...: the exit status, and what either stream must say.
try() {
  wanted=$1
  text=$2
  shift 2
  status=0
  "$tenon" "$@" >"$folder/out" 2>&1 || status=$?
  if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" "$folder/out"; then
    fail "tenon $*: status $status, not $wanted, or it does not say: $text"
  fi
}

# same MODEL DATA_SET
same() {
  rm -f "$folder/model.onnx"
  try 0 "bytes of ONNX" convert "$1" -o "$folder/model.onnx"
  try 0 "agrees" run "$folder/model.onnx" --no-cache --no-measuring --data-set "$2"
}

# Each graph is either recorded as it is and run as ONNX, or refused by name.
count=0
for model in "$root"/tests/fuzz/corpus/parser_uff_graph_def/*; do
  rm -rf "$folder/recorded" "$folder/model.onnx"
  case $model in
    */gather*) continue ;; # random numbers are no indices
    */shape* | */size | */rank | */fill | */range) continue ;; # without inputs, once they are read
  esac
  if "$tenon" convert "$model" -o "$folder/model.onnx" >"$folder/out" 2>&1; then
    try 0 "" run "$model" --no-cache --no-measuring --record "$folder/recorded"
    try 0 "agrees" run "$folder/model.onnx" --no-cache --no-measuring --data-set "$folder/recorded"
    count=$((count + 1))
  elif ! grep -qE "ONNX has no (operation for these nodes|inputs of that type)" "$folder/out"; then
    fail "$model is refused without a reason"
  fi
done
echo "$count graphs as ONNX"
[ "$count" -ge 120 ] || { echo "FAILED: only $count graphs"; failures=$((failures + 1)); }

for name in uff_lenet5_xuansan/frozen.pb uff_ppo_hil/frozen.pb onnx_ultraface_slim320/model.onnx; do
  model=${TENON_TEST_DATA:-/nowhere}/$name
  if [ -f "$model" ]; then
    same "$model" "$(dirname "$model")/test_data_set_0"
  fi
done

[ "$failures" = 0 ]
