# shellcheck shell=bash disable=SC2034
# Sourced by the scripts of this folder: SCRIPT BUILD ROOT. A folder of its own to work in, nothing of this machine's
# user, and `failures`, which is counted up by complain.
set -uo pipefail
build=${1:?the build folder}
root=${2:?the root of the tree}
ulimit -c 0 # some ends are wanted here
tenon=$build/bin/tenon
far=$build/tests/far_device
model=$root/sdk/demo/digits/model.onnx
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export XDG_CACHE_HOME=$folder/cache
cd "$folder" || exit 1
failures=0

# complain WORDS...: what was said lies in out and err.
complain() {
  echo "FAILED: $*"
  cat out err 2>/dev/null | sed 's/^/  | /'
  failures=$((failures + 1))
}
