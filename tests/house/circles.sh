#!/usr/bin/env bash
# Circles of sources by calls: sources of one program or plugin that use each other's functions or data, so that none of
# them can be read or tested without the others. Headers do not show them. The compiled objects do.
#
#   circles.sh BUILD            prints the circles, the core's first
#   circles.sh BUILD --check    and fails if there are more than the limits
#   circles.sh --self-test      circles of a known graph are found
set -euo pipefail
export LC_ALL=C

# Limits: none may grow. The aim is 5 elsewhere.
most_core=0
most_elsewhere=6

# Lines "OBJECT SOURCE" of the product, without tests.
objects() { # BUILD
  awk -F '"' '$2 == "directory" { folder = $4 }
    $2 == "command" && match($0, / -o [^ ]+/) { object = substr($0, RSTART + 4, RLENGTH - 4) }
    $2 == "file" { print folder "/" object, $4 }' "$1/compile_commands.json" |
    awk -v root="$root/" 'index($2, root) == 1 { $2 = substr($2, length(root) + 1) }
      $2 ~ /^(core|plugin_registry|plugins|parser_[a-z]*|sdk\/(library|tool))\// && $2 !~ /_(test|fuzz)\.c$/ &&
      $2 !~ /\/testing\// && $1 !~ /\/(tests|examples)\// && !seen[$2]++'
}

# Lines "USER DEFINER" of sources, within one target where it defines the symbol.
uses() {
  awk '{ print $1 }' "$work/objects" | { xargs nm -P -A 2>/dev/null || true; } | awk -v list="$work/objects" '
    BEGIN { while ((getline line < list) > 0) { split(line, part, " "); source[part[1]] = part[2] } }
    function target(object) { sub(/\.dir\/.*/, "", object); return object }
    { object = $1; sub(/:$/, "", object); name = $2; kind = $3 }
    kind ~ /^[TDBRVW]$/ { own[target(object), name] = object; some[name] = object }
    kind == "U" { wants[object, name] = 1 }
    END {
      for (want in wants) {
        split(want, part, SUBSEP)
        key = target(part[1]) SUBSEP part[2]
        definer = (key in own) ? own[key] : (part[2] in some) ? some[part[2]] : ""
        if (definer != "" && definer != part[1]) print source[part[1]], source[definer]
      }
    }' | sort -u
}

# Strongly connected components of more than one source, by the algorithm of Tarjan: a line each.
circles() {
  awk '
    function visit(v,   k, n, w, list, members, count) {
      number[v] = low[v] = ++counter
      stack[++depth] = v
      on[v] = 1
      n = split(next_of[v], list, " ")
      for (k = 1; k <= n; ++k) {
        w = list[k]
        if (!(w in number)) {
          visit(w)
          low[v] = low[w] < low[v] ? low[w] : low[v]
        } else if (on[w]) {
          low[v] = number[w] < low[v] ? number[w] : low[v]
        }
      }
      if (low[v] != number[v]) return
      do {
        w = stack[depth--]
        on[w] = 0
        members = w " " members
        ++count
      } while (w != v)
      if (count > 1) print count, members
    }
    { next_of[$1] = next_of[$1] " " $2; all[$1] = all[$2] = 1 }
    END { for (v in all) if (!(v in number)) visit(v) }' | while read -r count members; do
    printf '%s %s\n' "$count" "$(tr ' ' '\n' <<<"$members" | sort | paste -sd ' ')"
  done | sort -k 2
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [[ ${1:-} == --self-test ]]; then
  found=$(printf '%s\n' 'a b' 'b c' 'c a' 'c d' 'd e' 'e f' 'f e' 'g a' | circles)
  [[ $found == $'3 a b c\n2 e f' ]] || { printf 'circles of a known graph came out otherwise:\n%s\n' "$found"; exit 1; }
  exit 0
fi
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${1:?the build folder}" && pwd)
objects "$build" >"$work/objects"
[[ $(wc -l <"$work/objects") -gt 100 ]] || { echo "$build has no objects of the product"; exit 1; }
uses >"$work/uses"
circles <"$work/uses" >"$work/circles"
grep -E '^[0-9]+ core/' "$work/circles" || true
grep -vE '^[0-9]+ core/' "$work/circles" || true
core=$(grep -cE '^[0-9]+ core/' "$work/circles" || true)
elsewhere=$(($(wc -l <"$work/circles") - core))
echo "$core circles in the core, at most $most_core; $elsewhere elsewhere, at most $most_elsewhere"
if [[ ${2:-} == --check ]]; then
  ((core <= most_core && elsewhere <= most_elsewhere))
fi
