#!/bin/sh
# Writes the locks of the public headers anew from a build. Usage: update.sh BUILD_FOLDER [--break]
# A change that is more than an addition breaks what is compiled: before 1.0 it is allowed with --break.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
build=${1:?the build folder}

for header in plugin tenon; do
  program=$build/abi/lock_$header
  lock=$folder/$header.lock
  [ -x "$program" ] || continue
  "$program" >"$lock.new"
  if [ -f "$lock" ] && [ "${2:-}" != --break ]; then
    # The size of a structure that grew changes, and the count of a list that did; every other line stays, or lines
    # are added.
    lost=$(grep -v -e '^struct ' -e '^value TENON_[A-Z]*_COUNT ' "$lock" | grep -vxFf "$lock.new" || true)
    if [ -n "$lost" ]; then
      rm "$lock.new"
      echo "$header.h: not just an addition (--break does it anyway):"
      echo "$lost"
      exit 1
    fi
  fi
  mv "$lock.new" "$lock"
  echo "wrote $header.lock"
  library=$build/abi/liblock_$header.so
  if command -v abidw >/dev/null 2>&1 && [ -f "$library" ]; then
    abidw --no-corpus-path --no-comp-dir-path --no-show-locs --out-file "$folder/$header.abi" "$library"
    echo "wrote $header.abi"
  else
    echo "abidw (abigail-tools) is not installed: $header.abi stays as it was"
  fi
done
