#!/usr/bin/env bash
# One timing cache gives one plan, and a plan gives the same bytes in every process, on model files:
#   same_plans.sh TENON DEMO_FOLDER
# Each network is built three times with one timing cache, in a process each; the first measures. A later build measures
# times again that other programs disturbed. On a busy machine such times lose their mark, and the first build is
# repeated until it measures nothing that was disturbed.
set -uo pipefail
tenon=$1
demo=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

quietly() {
  "$@" >"$folder/log" 2>&1 || {
    echo "FAILED: $*"
    tail -n 5 "$folder/log"
    failed=1
    return 1
  }
}

check() { # model
  local model=$1 k tries=0
  rm -rf "$folder"/plan* "$folder"/out*
  for k in 1 2 3; do
    export XDG_CACHE_HOME=$folder/cache # no plan of an earlier build
    rm -rf "$XDG_CACHE_HOME"
    quietly "$tenon" build "$model" -o "$folder/plan$k" --timing-cache "$folder/timings" || return
    while ((k == 1 && tries++ < 10)) && grep -q ' disturbed$' "$folder/timings"; do
      sed -i 's/ disturbed$//' "$folder/timings"
      rm -rf "$XDG_CACHE_HOME"
      quietly "$tenon" build "$model" -o "$folder/plan$k" --timing-cache "$folder/timings" || return
    done
  done
  for k in 2 3; do
    if ! cmp "$folder/plan1" "$folder/plan$k"; then
      echo "FAILED: $model: build $k gives another plan"
      failed=1
    fi
  done
  # Inputs that are not given are random numbers of a fixed seed.
  for k in 1 2; do
    quietly "$tenon" run "$folder/plan1" --output "$folder/out$k" || return
  done
  if ! diff -r "$folder/out1" "$folder/out2" || [[ -z $(ls "$folder/out1") ]]; then
    echo "FAILED: $model: two processes give other outputs"
    failed=1
  fi
  echo "$model: one plan, the same outputs"
}

shopt -s nullglob
checked=0
for model in "$demo"/*/model.onnx; do
  check "$model"
  checked=$((checked + 1))
done
if [[ -n ${TENON_TEST_DATA:-} ]]; then
  for name in onnx_mnist_cntk onnx_polygraphy_loop onnx_silero_vad_v2_mini onnx_dtln_1; do
    if [[ -f $TENON_TEST_DATA/$name/model.onnx ]]; then
      check "$TENON_TEST_DATA/$name/model.onnx"
      checked=$((checked + 1))
    fi
  done
else
  echo "TENON_TEST_DATA is not set: only the demonstration's networks were tried"
fi
((checked > 0)) || failed=1
exit $failed
