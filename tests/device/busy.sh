#!/usr/bin/env bash
# Times that a device's own clock takes: whoever else wants the host's processors meanwhile, they count as undisturbed.
#   tests/device/busy.sh BUILD ROOT
# shellcheck source=tests/device/common.sh
. "$(dirname "$0")/common.sh"

busy=()
for ((k = 0; k < 2 * $(nproc); k++)); do
  timeout 120 bash -c 'while :; do :; done' & # ends by itself, whatever becomes of us
  busy+=($!)
done
"$tenon" build "$model" -o far.plan --plugins "$far" --device far:0 --no-cache --timing-cache times >out 2>&1 ||
  complain "building on a busy machine"
kill "${busy[@]}"
wait "${busy[@]}" 2>/dev/null

(($(grep -c '^[0-9a-f]\{8,\}' times) > 0)) || complain "nothing was timed: $(head -n 3 times)"
grep -q disturbed times && complain "of a device's times $(grep -c disturbed times) count as disturbed"
((failures == 0)) && echo "passed"
exit $((failures > 0))
