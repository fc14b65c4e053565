#!/usr/bin/env bash
# The structures of tenon/plugin.rs have the sizes, and members the places, that they have in plugin.h.
# shellcheck disable=SC2028 # escapes are for C and Rust
#   layout.sh INCLUDE FOLDER
set -euo pipefail
include=$1 folder=$2
command -v rustc >/dev/null || { echo "skipped: install rustc"; exit 77; }
mkdir -p "$folder"
cd "$folder"

# Rust's name, C's name, a member.
table='Plugin plugin_t stop
Offering offering_t items
Attribute attribute_descriptor_t flags
TypeVariable type_variable_t allowed
Port port_t reserved
Case case_t text
Check check_t message
Operator operator_t operations
Kernel kernel_t begin_prepare
Kernel kernel_t enqueue
Numerics numerics_t error_bound
Tactic tactic_t scratch_bytes_per_thread
Refusal refusal_t detail
ValueInfo value_info_t flags
RegionTable region_table_t attribute_float
RegionTable region_table_t value
RegionTable region_table_t input
PrepareTable prepare_table_t allocate
PrepareCall prepare_t host
TensorView tensor_view_t bit_offset
Argument argument_t tensor
RunTable run_table_t parallel
RunTable run_table_t thread_count
EnqueueCall enqueue_t output_count'

{
  echo '#[macro_use] #[allow(dead_code, unused_macros)] mod tenon { include!(concat!(env!("TENON_INCLUDE"), "/tenon/plugin.rs")); }'
  echo 'use tenon::*; fn main() { unsafe {'
  while read -r rust c member; do
    echo "let s: std::mem::MaybeUninit<$rust> = std::mem::MaybeUninit::zeroed(); let at = s.as_ptr();"
    echo "println!(\"$c $member {}\", std::ptr::addr_of!((*at).$member) as usize - at as usize);"
    case $rust in *Table) ;; *) echo "println!(\"$c {}\", $rust::SIZE);" ;; esac
  done <<<"$table"
  echo '} println!("abi 0.{} dtypes {} {} {} {}", ABI, INT64, UINT8, FLOAT32, FLOAT64);'
  echo 'println!("{} {} {} {} {}", OK, UNSUPPORTED, OUT_OF_MEMORY, ATTRIBUTE_FLOAT, REFUSAL_DTYPE); }'
} >layout.rs
{
  echo '#include "tenon/plugin.h"'
  echo '#include <stdio.h>'
  echo 'int main(void) {'
  while read -r rust c member; do
    echo "printf(\"$c $member %zu\\n\", offsetof(tenon_$c, $member));"
    case $rust in *Table) ;; *) echo "printf(\"$c %zu\\n\", sizeof(tenon_$c));" ;; esac
  done <<<"$table"
  echo 'printf("abi %u.%u dtypes %d %d %d %d\n", TENON_ABI_MAJOR, TENON_ABI_MINOR, TENON_DTYPE_INT64, TENON_DTYPE_UINT8,
    TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64);'
  echo 'printf("%d %d %d %d %d\n", TENON_OK, TENON_ERROR_UNSUPPORTED, TENON_ERROR_OUT_OF_MEMORY, TENON_ATTRIBUTE_FLOAT, TENON_REFUSAL_DTYPE);'
  echo 'return 0; }'
} >layout.c
TENON_INCLUDE=$include rustc --edition 2021 -o layout_rust layout.rs
cc -std=c11 -I"$include" -o layout_c layout.c
diff <(./layout_c) <(./layout_rust) && echo "$(./layout_c | wc -l) sizes and places agree"
