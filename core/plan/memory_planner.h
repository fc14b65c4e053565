/*
 * Assigns offsets in the arena to tensors. Blocks have a size and a lifetime. Blocks with disjoint
 * lifetimes share memory. The method is greedy by size with best fit, followed by improvements, and
 * is deterministic. It does not know tensors, so it can be tested with numbers alone. Its effort is
 * limited by a count of comparisons and not by time, because a plan must not depend on the load of
 * the machine.
 */
#ifndef TENON_CORE_PLAN_MEMORY_PLANNER_H_
#define TENON_CORE_PLAN_MEMORY_PLANNER_H_

#include "tenon/plugin.h"

/* A block of size 0 takes no memory and gets offset 0. */
typedef struct tenon__block_t {
  uint64_t size_bytes;
  uint32_t first_step; /* written */
  uint32_t last_step;  /* read last, inclusive */
  uint64_t offset;     /* out: aligned to 64 */
} tenon__block_t;

/* Places all blocks. *out_total is the number of bytes needed. *out_alive is the largest sum of
 * sizes alive at once, each rounded up to the alignment. It is a lower bound of *out_total; if both
 * are equal, the result is optimal. Steps are small numbers with first_step <= last_step. Returns
 * OUT_OF_MEMORY without a message, also if the sum of the sizes overflows. */
tenon_status_t tenon__memory_plan(tenon_allocator_t allocator, tenon__block_t* inout_blocks,
                                  uint32_t block_count, uint64_t* out_total, uint64_t* out_alive);

/* Computes only *out_alive; the offsets do not change. */
tenon_status_t tenon__memory_alive(tenon_allocator_t allocator, const tenon__block_t* blocks,
                                   uint32_t block_count, uint64_t* out_alive);

#endif
