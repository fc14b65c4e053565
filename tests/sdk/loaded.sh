#!/bin/sh
# The installed library, loaded by name from C and from Python: it runs a model; a crash is named whatever it
# interrupts; it asks for next to no thread-local storage, of which a process has little to spare.
#   loaded.sh PREFIX WORK BUILD
set -eu
prefix=$1 work=$2 build=$3
library=$prefix/lib/libtenon.so
loaded=$build/tests/sdk_loaded
unset TENON_BUILD_DIR TENON_PLUGIN_PATH
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

rm -rf "$work"
mkdir -p -m 755 "$work/plugins"
"$build/tests/write_model" "$work/abs.onnx" "" Abs 4
"$build/tests/write_model" "$work/same.onnx" crasher Same 4 "a node"
cp "$build/tests/plugins/crasher.so" "$work/plugins"
chmod 644 "$work/plugins/crasher.so"

"$loaded" run "$library" "$work/abs.onnx" || fail "from C: status $?"
python3 "$(dirname "$0")/by_ctypes.py" "$library" "$work/abs.onnx" || fail "from Python: status $?"

# crash MODE WORDS
crash() {
  said=$(CRASH_IN=malloc TENON_PLUGIN_PATH=$work/plugins "$loaded" "$1" "$library" "$work/$2.onnx") ||
    fail "a crash of a $1: status $?"
  [ "$said" = "$3" ] || fail "a crash of a $1 is $said, not $3"
}
crash worker same "in crasher enqueue same"
crash stranger abs "in no plugin  "

for file in "$prefix"/lib/libtenon.so.?.* "$prefix"/lib/tenon/plugins/*.so; do
  size=$(readelf -lW "$file" | awk '$1 == "TLS" { print $6 }')
  [ $((${size:-0})) -le 64 ] || fail "$file: $((size)) bytes of thread-local storage, 64 are allowed"
  ! readelf -dW "$file" | grep -q STATIC_TLS || fail "$file: its thread-local storage is static"
done
# Destructors of threads that have called it point into it.
readelf -dW "$library" | grep -q NODELETE || fail "$library can be unloaded"
[ "$failures" = 0 ] && echo "all as expected"
