#!/bin/sh
# Which closed operators have kernels of plugins/reference alone on the CPU. Compares with the list beside it, and prints it.
# Usage: reference_alone.sh BUILD_FOLDER
set -eu
export LC_ALL=C # the order of sort
folder=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?the build folder}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

# Operators that a plugin's kernels compute; "" for all but the reference's.
computed() {
  sed -nE 's/^\{"kind": "kernel".*"plugin": "([^"]*)", "device": "cpu".*"computes": \[([^]]*)\].*/\1 \2/p' "$work/index" |
    awk -v plugin="$1" '(plugin == "" && $1 != "reference") || $1 == plugin { $1 = ""; print }' |
    tr ',' '\n' | sed -nE 's/^ *"standard\.([^"]*)\/[0-9]+".*/\1/p' | sort -u
}

"$build/bin/tenon" plugins --index >"$work/index"
computed reference >"$work/reference"
computed "" >"$work/others"
comm -23 "$work/reference" "$work/others" >"$work/alone"
sed -E 's/ .*//' "$folder/reference_alone" >"$work/listed"
if ! diff "$work/listed" "$work/alone" >"$work/difference"; then
  sed -nE -e 's/^< (.*)/\1 has a kernel now: delete its line/p' \
    -e 's/^> (.*)/\1 has the reference kernel alone, and is not listed/p' "$work/difference"
  exit 1
fi
cat "$folder/reference_alone"
