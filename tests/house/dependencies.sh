#!/usr/bin/env bash
# Who may include whom: a room stands only on rooms below it. Usage: dependencies.sh ROOT | --self-test
# The table is the house's plan; a line that breaks it is printed as file:line: reason.
set -euo pipefail

base="core/base/"
device="$base core/device/"
dimension="$base core/dimension/"
tensor="$dimension core/tensor/"
program="$tensor core/program/"
language="$program core/language/"
operator="$language core/operator/"
network="$operator core/network/"
region="$network core/region/"
plan="$region core/device/ core/plan/"
kernel="$plan core/kernel/"
plan_file="$plan core/plan_file/"
catalog="$operator core/catalog/"
optimizer="$region core/catalog/ core/optimizer/"
timing="$kernel core/catalog/ core/timing/"
rehearsal="$timing core/rehearsal/"
candidate="$rehearsal core/candidate/"
fusion="$candidate core/fusion/"
layout="$fusion core/layout/"
choice="$layout core/choice/"
schedule="$layout core/schedule/"
engine="$kernel core/plan_file/ core/catalog/ core/engine/"
frame="$engine core/frame/"
step="$frame core/step/"
control="$step core/control/"
context="$control core/context/"
builder="$choice core/schedule/ core/plan_file/ core/optimizer/ ${context#"$kernel "} core/builder/"

# check ROOM DEPTH HEADERS ALLOWED...: quoted and bracketed includes of the sources in ROOM.
# HEADERS is a pattern of public headers; ALLOWED are prefixes; "." is the room's own folder by name
# alone. Unit tests and fuzz targets may also use the test header and tests/support.
check() {
  local room=$1 depth=$2 headers=$3
  shift 3
  [[ -d $root/$room ]] || return 0
  local file number include prefix allowed place
  while IFS=: read -r file number include; do
    include=${include#*[\"<]}
    include=${include%%[\">]*}
    allowed=no
    if [[ $include =~ ^$headers$ ]]; then allowed=yes; fi
    for prefix in "$@"; do
      if [[ $prefix == . ]]; then
        # Its own files, from wherever in the room: what the path leads to must lie inside.
        for place in "$root/$room/$include" "${file%/*}/$include"; do
          if [[ -e $place ]]; then
            if [[ $include != *..* || $(realpath "$place") == "$(realpath "$root/$room")"/* ]]; then
              allowed=yes
            fi
          fi
        done
        # Generated from the room's own .proto when it is built.
        if [[ $include == *.pb-c.h && -d $root/$room/proto ]]; then allowed=yes; fi
      elif [[ $include == "$prefix"* ]]; then
        allowed=yes
      fi
    done
    if [[ $file == *_test.c || $file == *_fuzz.c || $file == */testing/* || $file == */fake_*.h ||
      $file == */test_*.h || $file == */sample_*.h ||
      $file == */bench/* ]]; then
      if [[ $include == core/base/* || $include == tests/support/* ]]; then allowed=yes; fi
      # What the core's own tests are written with: texts, and samples of what rooms above make.
      if [[ $room == core/* && $include == core/* ]]; then allowed=yes; fi
    fi
    if [[ $allowed == no ]]; then
      echo "${file#"$root"/}:$number: $room may not include \"$include\""
      failures=$((failures + 1))
    fi
  done < <(find "$root/$room" -maxdepth "$depth" \( -name '*.c' -o -name '*.h' -o -name '*.inc' \) \
    -print0 |
    xargs -0 -r grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*("|<(core|tenon|plugin_registry|plugins|parser_[a-z]*|sdk|contrib|tests)/)' ||
    true)
}

check_all() {
  failures=0
  local plugin='tenon/plugin\.h' author='tenon/(plugin|maker|reader|cuda|narrow)\.h' public='tenon/(plugin|tenon)\.h' folder
  local all='tenon/(plugin|maker|reader|cuda|narrow|tenon)\.h'
  for folder in base device dimension tensor program language operator network region plan kernel plan_file \
    catalog optimizer timing rehearsal candidate fusion layout choice schedule engine frame step control context builder; do
    # Rounding is said once, for kernels and for the host.
    check "core/$folder" 1 "$([[ $folder == tensor ]] && echo 'tenon/(plugin|narrow)\.h' || echo "$plugin")" ${!folder}
  done
  check core 1 "$plugin"
  check plugin_registry 1 "$plugin" $base core/catalog/ plugin_registry/
  check sdk/library 1 "$public" $builder plugin_registry/ sdk/library/
  check sdk/tool 2 'tenon/(plugin|tenon|reader)\.h' .
  for folder in "$root"/plugins/*/ "$root"/parser_*/; do
    folder=${folder#"$root"/}
    check "${folder%/}" 9 "$author" .
  done
  check contrib 9 "$all" .
  check sdk/examples 9 "$all" .
  if ((failures > 0)); then
    echo "$failures includes break the rule; see docs on the house for where a line belongs."
    return 1
  fi
}

# Each forbidden arrow must be seen, and an allowed one must not.
self_test() {
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
  mkdir -p "$root"/core/{base,plan,catalog,choice} "$root"/plugins/demo "$root"/sdk/tool
  echo '#include "core/base/status.h"' >"$root/core/plan/good.c"
  echo '#include "tenon/plugin.h"' >"$root/plugins/demo/plugin.c"
  check_all >/dev/null || { echo "an allowed include was refused"; return 1; }
  local bad case
  for case in 'core/base/x.c:core/plan/plan.h' 'core/plan/x.c:core/catalog/catalog.h' \
    'core/catalog/x.h:plugin_registry/registry.h' 'plugins/demo/x.c:core/base/status.h' \
    'plugins/demo/x.inc:core/base/status.h' 'plugins/demo/x.c:../other/x.h' 'sdk/tool/x.c:core/base/status.h' \
    'core/choice/x.c:core/engine/engine.h' 'core/plan/x.c:../choice/x.h'; do
    bad=${case%%:*}
    echo "#include \"${case#*:}\"" >"$root/$bad"
    if check_all >/dev/null; then
      echo "missed: $case"
      return 1
    fi
    rm "$root/$bad"
  done
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  root=$(cd "${1:?the root of the tree}" && pwd)
  check_all
fi
