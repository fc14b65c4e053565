#!/usr/bin/env bash
# Times that a device's own clock takes: whoever else wants the host's processors meanwhile, they count as undisturbed.
#   tests/device/busy.sh BUILD ROOT
# shellcheck source=tests/device/common.sh
. "$(dirname "$0")/common.sh"

# Each node alone is its own step, so nothing is timed on the host: groups are compared with their nodes there.
cat >net.prototxt <<'END'
name: "pools"
layer { name: "image" type: "Input" top: "image" input_param { shape { dim: 1 dim: 8 dim: 64 dim: 64 } } }
layer { name: "pool1" type: "Pooling" bottom: "image" top: "pool1" pooling_param { pool: MAX kernel_size: 3 stride: 1 } }
layer { name: "relu1" type: "ReLU" bottom: "pool1" top: "relu1" }
layer { name: "pool2" type: "Pooling" bottom: "relu1" top: "pool2" pooling_param { pool: MAX kernel_size: 3 stride: 2 } }
END

busy=()
for ((k = 0; k < 2 * $(nproc); k++)); do
  timeout 120 bash -c 'while :; do :; done' & # ends by itself, whatever becomes of us
  busy+=($!)
done
"$tenon" build net.prototxt -o far.plan --plugins "$far" --device far:0 --no-cache --timing-cache times -v >out 2>&1 ||
  complain "building on a busy machine"
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null

timed=$(grep -c '^[0-9a-f]\{8,\}' times)
((timed > 0)) || complain "nothing was timed: $(head -n 3 times)"
(($(grep -c ' us$' out) == timed)) || complain "of $timed times some are not of the device's steps"
grep -q disturbed times && complain "of a device's times $(grep -c disturbed times) count as disturbed"
((failures == 0)) && echo "passed"
exit $((failures > 0))
