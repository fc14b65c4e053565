#!/bin/sh
# Runs the recorded cases, draws random ones, or builds models with errors.
#   run.sh cases TENON CASES WORK           recorded cases, in several modes
#   run.sh random TENON TESTS WORK [COUNT [SEED]]
#   run.sh mutated TENON TESTS WORK         recorded cases with one error each
#   run.sh refused TENON TESTS WORK         nodes that the plugin refuses
#   run.sh named TENON TESTS WORK           operators and versions of the README
set -u
# shellcheck source=tests/contrib/cases.sh
. "$(dirname "$0")/../../../tests/contrib/cases.sh"
case $mode in
  mutated) exec "$python" -B "$shared/mutated.py" "$tenon" "$folder/cases" --count 150 ;;
  refused) exec "$python" -B "$folder/refused.py" "$tenon" ;;
  named) exec "$python" -B "$folder/named.py" "$tenon" "$folder" ;;
  random) record "${5:-4}" "${6:-20260101}" ;;
esac
check_groups
# The kernels of this plugin with several threads.
for threads in 2 7; do
  suite "$threads threads" "$folder/f32" --filter '*NMS*' --threads "$threads"
done
finish
