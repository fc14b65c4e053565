#!/usr/bin/env bash
# Each structure of tenon/plugin.rs has the layout of its structure in plugin.h: offset and size of each member,
# and the size of the whole. Each constant has its value. Both lists are read from plugin.rs, so that nothing is left out.
# shellcheck disable=SC2028 # escapes are for C and Rust
#   layout.sh INCLUDE FOLDER
set -euo pipefail
include=$1 folder=$2
command -v rustc >/dev/null || { echo "skipped: install rustc"; exit 77; }
mkdir -p "$folder"
cd "$folder"

# C's name, where it is not that of Rust in lower case.
declare -A structures=([Attribute]=attribute_descriptor [PrepareCall]=prepare [EnqueueCall]=enqueue)
declare -A members=([Port.kind]=type [Kernel.matches]=match)
# The first members of a table, which is larger; a structure that C does not define.
declare -A prefixes=([RegionTable]=1 [PrepareTable]=1 [RunTable]=1)
opaque=Region
declare -A constants=([OK]=TENON_OK [UNSUPPORTED]=TENON_ERROR_UNSUPPORTED [OUT_OF_MEMORY]=TENON_ERROR_OUT_OF_MEMORY
  [INT64]=TENON_DTYPE_INT64 [UINT8]=TENON_DTYPE_UINT8 [FLOAT32]=TENON_DTYPE_FLOAT32 [FLOAT64]=TENON_DTYPE_FLOAT64
  [ATTRIBUTE_FLOAT]=TENON_ATTRIBUTE_FLOAT [REFUSAL_DTYPE]=TENON_REFUSAL_DTYPE [ABI]=TENON_ABI_CURRENT)

# "Structure member", one member a line, of the lists of structures.
awk '
  /^(descriptors|structures)! \{/ { inside = 1; next }
  /^\}/ { inside = 0 }
  inside && /^ *\/\// { next }
  inside { text = text " " $0 }
  END {
    while (match(text, /struct [A-Za-z]+ \{[^}]*\}/)) {
      body = substr(text, RSTART, RLENGTH)
      text = substr(text, RSTART + RLENGTH)
      split(body, words, " ")
      sub(/^[^{]*\{/, "", body)
      while (match(body, /[a-z_0-9]+: /)) {
        print words[2], substr(body, RSTART, RLENGTH - 2)
        body = substr(body, RSTART + RLENGTH)
        if (body ~ /^extern/) sub(/^[^(]*\([^)]*\)/, "", body)
      }
    }
  }' "$include/tenon/plugin.rs" >members
grep -oE '^pub const [A-Z0-9_]+: [iu]32' "$include/tenon/plugin.rs" | awk '{ sub(/:/, "", $3); print $3 }' >constants

{
  echo '#[macro_use] #[allow(dead_code, unused_macros)] mod tenon { include!(concat!(env!("TENON_INCLUDE"), "/tenon/plugin.rs")); }'
  echo 'use std::mem::{size_of, MaybeUninit}; use std::ptr::addr_of; use tenon::*;'
  echo 'fn size<T>(_: *const T) -> usize { size_of::<T>() }'
  echo 'fn main() { unsafe {'
} >layout.rs
printf '#include "tenon/plugin.h"\n#include <stdio.h>\nint main(void) {\n' >layout.c
while read -r rust member; do
  [[ $rust != "$opaque" ]] || continue
  lower=$(sed -E 's/([a-z])([A-Z])/\1_\2/g; s/.*/\L&/' <<<"$rust")
  c=tenon_${structures[$rust]:-$lower}_t
  c_member=${members[$rust.$member]:-$member}
  echo "{ let s = MaybeUninit::<$rust>::zeroed(); let p = s.as_ptr(); let m = addr_of!((*p).$member);
    println!(\"$rust.$member {} {}\", m as usize - p as usize, size(m)); }" >>layout.rs
  echo "printf(\"$rust.$member %zu %zu\\n\", offsetof($c, $c_member), sizeof((($c*)0)->$c_member));" >>layout.c
  if [[ -z ${prefixes[$rust]:-} ]]; then
    echo "println!(\"$rust {}\", size_of::<$rust>());" >>layout.rs
    echo "printf(\"$rust %zu\\n\", sizeof($c));" >>layout.c
  fi
done <members
while read -r constant; do
  echo "println!(\"$constant {}\", $constant);" >>layout.rs
  echo "printf(\"$constant %d\\n\", (int)${constants[$constant]});" >>layout.c
done <constants
# SIZED is the size, and zeros; the manifest's versions are those of the header.
for rust in $(cut -d' ' -f1 members | uniq); do
  if grep -q "^$rust size$" members && [[ $rust != *Table && $rust != *Call ]]; then
    echo "{ let s = $rust::SIZED; let p = &s as *const $rust as *const u8; let n = size_of::<$rust>();
      let rest = std::slice::from_raw_parts(p.add(8), n - 8).iter().all(|byte| *byte == 0);
      println!(\"$rust sized {}\", s.size == n && rest); }" >>layout.rs
    echo "printf(\"$rust sized true\\n\");" >>layout.c
  fi
done
echo '} }' >>layout.rs
echo 'return 0; }' >>layout.c
TENON_INCLUDE=$include rustc --edition 2021 -o layout_rust layout.rs
cc -std=c11 -I"$include" -o layout_c layout.c
./layout_c >c.txt
./layout_rust >rust.txt
diff c.txt rust.txt
abi=$(sed -n 's/.*nabi: \(0\.[0-9]*\)\\nneeded: .*/\1/p' "$include/tenon/plugin.rs")
[[ $abi == "0.$(awk '$1 == "ABI" { print $2 }' c.txt)" ]] || { echo "FAILED: the manifest says abi $abi"; exit 1; }
count=$(wc -l <members)
((count > 150)) || { echo "FAILED: only $count members"; exit 1; }
echo "$count members of $(cut -d' ' -f1 members | uniq | wc -l) structures and $(wc -l <constants) constants agree"
