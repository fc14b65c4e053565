#!/bin/sh
# Runs the recorded cases, draws random ones beside ONNX Runtime, or builds models with errors.
#   run.sh cases TENON CASES WORK           recorded cases, in several modes
#   run.sh random TENON TESTS WORK [COUNT [SEED]]
#   run.sh mutated TENON TESTS WORK         recorded cases with one error each
#   run.sh refused TENON TESTS WORK         nodes that the plugin refuses
set -u
# shellcheck source=tests/contrib/cases.sh
. "$(dirname "$0")/../../../tests/contrib/cases.sh"
case $mode in
  mutated) exec "$python" -B "$shared/mutated.py" "$tenon" "$folder/cases" --domain com.microsoft --count 200 ;;
  refused) exec "$python" -B "$folder/refused.py" "$tenon" ;;
  random) record "${5:-8}" "${6:-20260101}" ;;
esac
check_groups
# The kernels of each instruction set, with several numbers of threads.
for set in baseline avx2 avx512; do
  TENON_CPU=$set
  export TENON_CPU
  for threads in 1 2 7; do
    suite "$set, $threads threads" "$folder/f32" --filter '*MatMulNBits*' --threads "$threads"
  done
done
finish
