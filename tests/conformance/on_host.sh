#!/bin/sh
# Lists the operators that a kernel of the host computes by name and no kernel of a device does, and compares the list:
# on_host.sh TENON DEVICE LIST
# What expressions and moves compute needs no such kernel. Those of plugin `cpu` are faster ways only. Exits with 1 and
# the difference if there are others than the list has.
set -eu
tenon=$1
device=$2
list=$3
"$tenon" plugins --index | awk -v device="$device" '
  # The text between the quotes behind a key.
  function text_of(key) {
    return match($0, "\"" key "\": \"[^\"]*\"") ? substr($0, RSTART + length(key) + 5, RLENGTH - length(key) - 6) : ""
  }
  text_of("kind") == "kernel" && match($0, /"computes": \[[^]]*\]/) {
    count = split(substr($0, RSTART + 13, RLENGTH - 14), names, /[", ]+/)
    for (k = 1; k <= count; k++) {
      if (names[k] != "" && text_of("device") == device) there[names[k]] = 1
      if (names[k] != "" && text_of("device") == "cpu" && text_of("plugin") != "cpu") host[names[k]] = 1
    }
  }
  END { for (name in host) if (!(name in there)) print name }' | sort >/tmp/on_host.$$
trap 'rm -f /tmp/on_host.$$' EXIT
cat /tmp/on_host.$$
grep -v '^#' "$list" | grep . | sort | diff - /tmp/on_host.$$ || {
  echo "FAILED: these differ from $list (<: a kernel is there now; >: an operator without one)"
  exit 1
}
echo "as listed: $(wc -l </tmp/on_host.$$) operators"
