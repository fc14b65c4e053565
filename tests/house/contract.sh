#!/usr/bin/env bash
# The contract is kept: each member of a structure in plugin.h is read by the host (core, registry, library), and
# each member of what the host itself makes is filled in; each enumerator is named, each trait believed by somebody.
# Of the tables that the host passes from one plugin to another, it is our parsers, their converters and tenon/maker.h
# that read. What is not so stands in contract_unread.txt with its reason, and nothing stands there that is so.
#
# Clang finds the uses: the members of a copy of the header are deprecated under the names of their structures.
# Assigning to a member, or asking for its offset, is no reading.
#
#   contract.sh ROOT | --self-test
set -euo pipefail
export LC_ALL=C
folder=$(cd "$(dirname "$0")" && pwd)

# Structures that the host makes and plugins read.
made='tenon_(sink|tensor_view|argument|instruction|operand|program_output|program|move_piece|move|value_info|value_type|host_offer)_t'
made="$made|tenon_(prepare|enqueue|rewriting)_t|tenon_(shape|region|prepare|bind|run|builder|parse|neighbour)_table_t"

# Structures, and prefixes of enumerators, with which parsers and converters talk to each other.
passed='tenon_(source_table|converted_body)_t'
passed_values='TENON_FIELD_'

# uses COPY SOURCE...: lines "FILE LINE COLUMN NAME", each once. Headers of COPY come before others. What is told of a
# batch comes in one piece: two compilers that share a pipe would cut each other's lines.
uses() {
  local copy=$1
  shift
  rm -f "$copy"/told.*
  # shellcheck disable=SC2016 # expanded by the shell of the batch
  printf '%s\0' "$@" | xargs -0 -n 24 -P 2 sh -c 'exec clang -std=c11 -D_GNU_SOURCE -fsyntax-only -I"$0" -I. \
    -Isdk/include -fno-caret-diagnostics -Wno-everything -Wdeprecated-declarations "$@" 2>"$0/told.$$"' "$copy"
  cat "$copy"/told.* |
    sed -nE 's/^(\.\/)?([^: ]+):([0-9]+):([0-9]+): warning: .* is deprecated: ([a-z_0-9.]+) \[.*/\2 \3 \4 \5/p' | sort -u
}

# reads FILE_OF_USES: the names that are read somewhere. A use begins with the member.
reads() {
  awk '{
    if (!($1 in seen)) {
      seen[$1] = 1
      for (n = 1; (getline text < $1) > 0; ++n) source[$1, n] = text
    }
    rest = substr(source[$1, $2], $3)
    before = substr(source[$1, $2], 1, $3 - 1)
    sub(/^[a-z_0-9]+(\[[^]]*\])?/, "", rest)
    if (before !~ /offsetof\([^)]*$/ && rest !~ /^ *=([^=]|$)/) print $4
  }' "$1" | sort -u
}

check() { # ROOT
  cd "$1"
  local work sources talkers
  work=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of now
  trap "rm -rf '$work'" EXIT
  mkdir -p "$work/copy/tenon" "$work/copy/core/operator"
  awk -v names="$work/names" -f "$folder/contract.awk" sdk/include/tenon/plugin.h >"$work/copy/tenon/plugin.h"
  awk -v names="$work/traits" -v only=tenon__operator_traits_t -f "$folder/contract.awk" \
    core/operator/operator.h >"$work/copy/core/operator/operator.h"
  mapfile -t sources < <(find core plugin_registry sdk/library -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' | sort)
  uses "$work/copy" "${sources[@]}" >"$work/uses"
  [[ -s $work/uses ]] || { echo 'clang tells no uses'; return 1; }
  mapfile -t talkers < <(find parser_* contrib -name '*.c' ! -name '*_test.c' ! -name '*_fuzz.c' | sort)
  uses "$work/copy" "${talkers[@]}" | grep -E " $passed[.][a-z_0-9]+\$" >>"$work/uses" || true
  # What reads a trait to keep it does not believe it.
  grep -vE '^core/operator/' "$work/uses" | grep -F ' tenon__operator_traits_t.' >"$work/trait_uses" || true
  { grep -vF ' tenon__operator_traits_t.' "$work/uses" | cat - "$work/trait_uses"; } >"$work/counted"
  reads "$work/counted" >"$work/read"
  # Filled in: assigned to, or named in an initialiser.
  grep -hoE '(\.|->)[a-z_0-9]+(\[[^]]*\])? =' "${sources[@]}" | sed -E 's/^(\.|->)([a-z_0-9]+).*/\2/' | sort -u \
    >"$work/assigned"
  awk -v made="^($made)[.]" 'FILENAME ~ /assigned$/ { assigned[$1] = 1; next }
    $0 ~ made { name = $0; sub(/.*\./, "", name); if (name in assigned) print }' "$work/assigned" "$work/names" \
    >"$work/filled"
  # Enumerators have to be named.
  sed -nE 's/^ +(TENON_[A-Z_0-9]+)( =|,|$).*/\1/p' sdk/include/tenon/plugin.h | sort -u >"$work/values"
  find core plugin_registry sdk/library -name '*.h' ! -name 'test_*' ! -name 'sample_*' | sort >"$work/headers"
  words() { xargs -r sed -E 's|/\*.*\*/||' | grep -oE 'TENON_[A-Z_0-9]+' || true; }
  { printf '%s\n' "${sources[@]}" | cat - "$work/headers" | words
    printf '%s\n' "${talkers[@]}" | words | grep -E "^$passed_values" || true; } |
    sort -u | comm -12 - "$work/values" >"$work/named"
  sort -u "$work/read" "$work/filled" "$work/named" >"$work/kept"
  cat "$work/names" "$work/traits" "$work/values" | grep -vE '\.(size|reserved)$' | sort -u >"$work/all"
  comm -23 "$work/all" "$work/kept" >"$work/open"
  sed -nE 's/^([A-Za-z_0-9.]+)  +[^ ].*/\1/p' "$folder/contract_unread.txt" | sort >"$work/listed"
  local fault=0 name
  while read -r name; do
    echo "$name: no host code reads it; contract_unread.txt may say why"
    fault=1
  done < <(comm -23 "$work/open" "$work/listed")
  while read -r name; do
    echo "$name: stands in contract_unread.txt, but is read, or is no member"
    fault=1
  done < <(comm -13 "$work/open" "$work/listed")
  echo "$(wc -l <"$work/all") members, enumerators and traits, $(wc -l <"$work/open") of them read by nobody"
  return $fault
}

self_test() {
  local root
  root=$(mktemp -d)
  # shellcheck disable=SC2064
  trap "rm -rf '$root'" EXIT
  mkdir -p "$root"/{core/operator,plugin_registry,contrib,parser_x,sdk/library,sdk/include/tenon,house}
  printf '%s\n' '/* A' ' * comment; */' 'typedef struct tenon_one_t {' '  int used; /* one; */' '  int written;' \
    '  int unused;' '  int (*call)(int a,' '              int b);' '} tenon_one_t;' 'typedef struct tenon_move_t {' \
    '  int filled;' '  int forgotten;' '} tenon_move_t;' 'enum {' '  TENON_NAMED = 0,' '  TENON_UNNAMED = 1' '};' \
    >"$root/sdk/include/tenon/plugin.h"
  printf '%s\n' 'typedef struct tenon__operator_traits_t {' '  int believed;' '  int kept;' \
    '} tenon__operator_traits_t;' >"$root/core/operator/operator.h"
  touch "$root/sdk/include/tenon/tenon.h"
  printf '%s\n' '#include <stddef.h>' '#include "core/operator/operator.h"' '#include "tenon/plugin.h"' \
    'int f(tenon_one_t* x, const tenon__operator_traits_t* t);' \
    'int f(tenon_one_t* x, const tenon__operator_traits_t* t) {' '  x->written = t->believed;' \
    '  const tenon_move_t m = {.filled = TENON_NAMED};' '  (void)m; /* TENON_UNNAMED */' \
    '  return x->used == 1 ? x->call(1, 2) : (int)offsetof(tenon_one_t, unused);' '}' >"$root/core/x.c"
  printf '%s\n' '#include "core/operator/operator.h"' 'int g(const tenon__operator_traits_t* t);' \
    'int g(const tenon__operator_traits_t* t) {' '  return t->kept;' '}' >"$root/core/operator/y.c"
  cp "$folder"/contract.{sh,awk} "$root/house"
  local listed='tenon_one_t.written tenon_one_t.unused tenon_move_t.forgotten tenon__operator_traits_t.kept'
  listed+=' TENON_UNNAMED'
  local name
  try() { printf '%s  a reason\n' "$@" >"$root/house/contract_unread.txt"; "$root/house/contract.sh" "$root"; }
  # shellcheck disable=SC2086
  try $listed || { echo 'a tree that is in order was refused'; return 1; }
  for name in $listed; do
    # shellcheck disable=SC2046
    if try $(tr ' ' '\n' <<<"$listed" | grep -vxF "$name") >/dev/null; then echo "missed: $name"; return 1; fi
  done
  for name in tenon_one_t.used tenon_one_t.call tenon_move_t.filled tenon__operator_traits_t.believed tenon_one_t.none TENON_NAMED; do
    # shellcheck disable=SC2086
    if try $listed "$name" >/dev/null; then echo "listed without need: $name"; return 1; fi
  done
  echo "$listed" | tr ' ' '\n' >"$root/house/contract_unread.txt"
  if "$root/house/contract.sh" "$root" >/dev/null; then echo 'a name without a reason was taken'; return 1; fi
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  check "${1:?the root of the tree}"
fi
