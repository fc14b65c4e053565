#!/bin/sh
# Runs a test where there is a GPU that works: on_gpu.sh TENON COMMAND...
# Exit status 77, and why, where there is none.
set -eu
tenon=$1
shift
command -v "$1" >/dev/null || { echo "skipped: there is no $1"; exit 77; }
found=$("$tenon" doctor 2>/dev/null | grep '^device *cuda' || true)
case $found in
  *", ok") exec "$@" ;;
  "") echo "skipped: no plugin with a device 'cuda' was built" ;;
  *) echo "skipped: $found" ;;
esac
exit 77
