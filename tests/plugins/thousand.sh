#!/usr/bin/env bash
# Every command works with a thousand third-party plugins in the path.
#   tests/plugins/thousand.sh BUILD ROOT
set -uo pipefail
build=${1:?the build folder}
root=${2:?the source folder}
tenon=$build/bin/tenon
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
export TENON_PLUGIN_PATH=$folder/plugins
cd "$folder" || exit 1
failures=0

# Copies of one plugin under names of the same length, so that no offset in the file changes.
mkdir -m 755 plugins
umask 022
python3 - "$build/tests/plugins/good.so" <<'COPIES' || exit 1
import sys
good = open(sys.argv[1], "rb").read()
for k in range(1000):
    with open(f"plugins/g{k:03}.so", "wb") as copy:
        copy.write(good.replace(b"good", b"g%03d" % k))
COPIES

try() { # TEXT ARGUMENTS...: the command succeeds, and its output contains the text
  local text=$1 status
  shift
  "$tenon" "$@" >out 2>err
  status=$?
  if ((status != 0)) || ! grep -qF -- "$text" out; then
    echo "FAILED: tenon $*: status $status, expected 0 and: $text"
    sed 's/^/  | /' err
    failures=$((failures + 1))
  fi
}

model=$root/sdk/demo/digits/model.onnx
picture=(--input "$root/sdk/demo/digits/digit_7.pgm" --scale 0.003921569 --truth 7)
try ' plugins, 0 refused' plugins
try '"plugin": "g999"' plugins --index
try 'system' doctor
try '' build "$model" -o digits.plan --no-measuring
try 'right' run digits.plan "${picture[@]}"
try 'right' run "$model" "${picture[@]}"
try 'right' run "$model" "${picture[@]}" # from the cache
try 'agree' compare "$model" --outputs-only
try 'plugins' inspect digits.plan --no-run
try '' bench digits.plan --seconds 0
count=$("$tenon" plugins 2>/dev/null | grep -c '^available  g[0-9][0-9][0-9] ')
((count == 1000)) || {
  echo "FAILED: $count plugins are listed, expected 1000"
  failures=$((failures + 1))
}
((failures == 0)) && echo "all as expected"
exit $((failures > 0))
