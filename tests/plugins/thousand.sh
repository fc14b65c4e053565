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
for ((k = 1000; k < 2000; ++k)); do
  LC_ALL=C sed "s/good/${k/#1/g}/g" "$build/tests/plugins/good.so" >"plugins/${k/#1/g}.so"
done
chmod 644 plugins/*.so

try() { # TEXT ARGUMENTS...: the command succeeds, and its output contains the text
  local text=$1
  shift
  if ! "$tenon" "$@" >out 2>err || ! grep -qF -- "$text" out; then
    echo "FAILED: tenon $*: status $?, expected 0 and: $text"
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
