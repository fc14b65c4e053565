#!/usr/bin/env bash
# The manual of plugin.h has a row for each trait that the host's parser knows, and no others. Usage: traits.sh ROOT
set -euo pipefail
export LC_ALL=C
known=$(grep -oE '(trait->name, |\{)"[a-z_]+"' "$1/core/operator/operator_traits.c" | grep -oE '[a-z_]+"' | tr -d '"' | sort)
rows=$(sed -n '/^ \* traits /,/^ \* cases /p' "$1/sdk/include/tenon/plugin.h" |
  sed -nE 's/^ \* {13}([a-z_]+)(\(.*| .*|)$/\1/p' | sort)
[[ $(wc -l <<<"$known") -ge 8 ]] || { echo "found only these traits in the parser:" "$known"; exit 1; }
if [[ $known != "$rows" ]]; then
  echo 'traits of the parser (left) and rows of the manual in plugin.h (right) differ:'
  comm -3 <(echo "$known") <(echo "$rows")
  exit 1
fi
echo "each of $(wc -l <<<"$known") traits has a row"
