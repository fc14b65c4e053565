/*
 * Where tensors lie in the arena. Blocks have a size and a life; blocks whose lives do not overlap
 * share memory. Greedy by size, best fit, then improved; deterministic. It knows nothing of
 * tensors, so that it can be tested with numbers alone. Effort is bounded by counting comparisons
 * and not by time: a plan must not depend on how busy the machine was.
 */
#ifndef TENON_CORE_PLAN_MEMORY_PLANNER_H_
#define TENON_CORE_PLAN_MEMORY_PLANNER_H_

#include "tenon/plugin.h"

/* A size of 0 takes no memory, and gets offset 0. */
typedef struct tenon__block_t {
  uint64_t size_bytes;
  uint32_t first_step; /* written */
  uint32_t last_step;  /* read last, inclusive */
  uint64_t offset;     /* out: aligned to 64 */
} tenon__block_t;

/* Places all blocks; *out_total: bytes needed; *out_alive: the largest sum alive at once, sizes
 * rounded up to the alignment. Steps are small numbers, first_step <= last_step. OUT_OF_MEMORY,
 * silently, also when the sizes together cannot be counted. *out_alive is a lower bound of
 * *out_total; where both are equal nothing better exists.
 */
tenon_status_t tenon__memory_plan(tenon_allocator_t allocator, tenon__block_t* inout_blocks,
                                  uint32_t block_count, uint64_t* out_total, uint64_t* out_alive);

/* *out_alive alone; the offsets stay. */
tenon_status_t tenon__memory_alive(tenon_allocator_t allocator, const tenon__block_t* blocks,
                                   uint32_t block_count, uint64_t* out_alive);

#endif
