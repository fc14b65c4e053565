#!/bin/sh
# Runs a network on recorded data with `tenon`.
#   run.sh TENON WORK MODEL [--profile SPEC] [--device NAME PLUGINS] [DATA_SET...]
# MODEL is a folder below TENON_TEST_DATA, or below WORK when it begins with "completed/"; or a file in
# such a folder that holds several forms of one network. Without DATA_SET: all of the model's own. With --profile one plan is built, and run on every data set; with
# --device for the device NAME of a plugin in the folder PLUGINS: what it replays is compared. Exit status 77 means that the network is not here.
set -eu
tenon=$1
work=$2
name=$3
shift 3
profile=
if [ "${1:-}" = --profile ]; then
  profile=$2
  shift 2
fi
device=
plugins=
if [ "${1:-}" = --device ]; then
  device=$2
  plugins=$3
  shift 3
fi

file=
case $name in
  *.uff | *.pb)
    file=$(basename "$name")
    name=$(dirname "$name")
    ;;
esac
case $name in
  completed/*) folder=$work/$name ;;
  *) folder=${TENON_TEST_DATA:-}/$name ;;
esac
if [ ! -f "$folder/${file:-model.onnx}" ] && [ ! -f "$folder/deploy.prototxt" ]; then
  case $name in
    completed/*) echo "skipped: $folder was not made (see models.complete)" ;;
    *) echo "skipped: TENON_TEST_DATA ('${TENON_TEST_DATA:-}') names no folder with $name" ;;
  esac
  exit 77
fi
if [ $# -eq 0 ]; then
  set -- "$folder"/test_data_set_*
fi

# Nothing of this machine's user takes part; what was measured is kept from one run to the next.
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
model=$folder/${file:-model.onnx}
weights=
if [ -f "$folder/deploy.prototxt" ]; then
  model=$folder/deploy.prototxt
  weights=$folder/net.caffemodel
fi
if [ -n "$profile" ]; then
  plan=$(mktemp "$work/XXXXXX.plan")
  trap 'rm -f "$plan"' EXIT
  "$tenon" build "$model" ${weights:+--part "$weights"} ${device:+--device "$device" --plugins "$plugins" --no-tf32} -o "$plan" \
    --profile "$profile"
  model=$plan
  weights=
fi
status=0
for data_set in "$@"; do
  case $data_set in
    /*) ;;
    *) data_set=$folder/$data_set ;;
  esac
  # Outputs alone: the inputs are those of the model's own data.
  if [ ! -f "$data_set/input_0.pb" ] && [ ! -f "$data_set/input_0.npy" ]; then
    whole=$work/$name.$(basename "$data_set")
    rm -rf "$whole"
    mkdir -p "$whole"
    cp "$folder"/test_data_set_0/input_*.pb "$data_set"/output_*.pb "$whole"
    data_set=$whole
  fi
  "$tenon" run "$model" ${weights:+--part "$weights"} ${device:+--device "$device" --plugins "$plugins" --no-tf32 --repeat 4} --no-cache \
    --data-set "$data_set" || status=$?
done
exit $status
