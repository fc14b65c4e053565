#!/bin/sh
# The public headers have the layout of the locks on other processors and systems with 64 bits, and say that they are
# not for those with 32. Usage: targets.sh INCLUDE_FOLDER
# Exit status 77 means that it could not be done here.
set -eu
folder=$(cd "$(dirname "$0")" && pwd)
include=$1
command -v clang >/dev/null 2>&1 || { echo "skipped: clang is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for header in plugin tenon; do
  {
    echo "#include \"tenon/$header.h\""
    awk '$1 == "struct" { print "_Static_assert(sizeof(struct " $2 ") == " $3 ", \"size of " $2 "\");" }
      /^  / { split($1, name, "."); print "_Static_assert(offsetof(struct " name[1] ", " name[2] ") == " $2 ", \"" $1 "\");" }' \
      "$folder/$header.lock"
  } >"$work/$header.c"
  [ "$(wc -l <"$work/$header.c")" -gt 50 ] || { echo "$header.lock has no layouts"; exit 1; }
  for target in aarch64-linux-gnu riscv64-linux-gnu x86_64-pc-windows-msvc; do
    clang --target=$target -ffreestanding -fsyntax-only -std=c11 -I"$include" "$work/$header.c" ||
      { echo "$header.h has another layout on $target"; exit 1; }
  done
  if clang --target=i386-linux-gnu -ffreestanding -fsyntax-only -std=c11 -I"$include" "$work/$header.c" \
    >"$work/said" 2>&1 || ! grep -q 'needs 64-bit pointers' "$work/said"; then
    echo "$header.h does not refuse 32 bits:"
    cat "$work/said"
    exit 1
  fi
done
echo "the same on three other targets, and none with 32 bits"
