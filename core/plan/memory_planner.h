/* Where tensors lie in the arena. Blocks have a size and a life; blocks whose lives do not overlap
 * share memory. Greedy by size, best fit, then improved; deterministic. */
#ifndef TENON_CORE_PLAN_MEMORY_PLANNER_H_
#define TENON_CORE_PLAN_MEMORY_PLANNER_H_

#include "core/plan/plan.h"

typedef struct tenon__block_t {
  uint64_t size_bytes;
  uint32_t first_step; /* written */
  uint32_t last_step;  /* read last, inclusive */
  uint64_t offset;     /* out: aligned to 64 */
} tenon__block_t;

/* Places all blocks; *out_total: bytes needed; *out_alive: the largest sum alive at once, sizes
 * rounded up to the alignment. Steps are small numbers, first_step <= last_step. OUT_OF_MEMORY,
 * silently, also when the sizes together cannot be counted. */
tenon_status_t tenon__memory_plan(tenon_allocator_t allocator, tenon__block_t* inout_blocks,
                                  uint32_t block_count, uint64_t* out_total, uint64_t* out_alive);

/* *out_alive alone; the offsets stay. */
tenon_status_t tenon__memory_alive(tenon_allocator_t allocator, const tenon__block_t* blocks,
                                   uint32_t block_count, uint64_t* out_alive);

/* Fills offsets, sizes, aliases and totals of all schedules of a plan (bodies within their control
 * steps): in-place reuse where a rule allows it and the input dies there; views keep their base
 * alive; places of unknown extents become GROWING. An alias names the place that owns the memory,
 * never another alias. Main graph outputs of storage OUTPUT get a size but no block; in the ARENA
 * they live to the end, as do values that states take over. The plan's scratch, zeroed and
 * persistent bytes and the steps' offsets are filled too. */
tenon_status_t tenon__plan_memory(tenon__plan_t* plan, const tenon_sink_t* sink);
/* The last of that alone: where each step's workspaces lie, and how much they are together. */
tenon_status_t tenon__plan_workspaces(tenon__plan_t* plan, const tenon_sink_t* sink);
/* Bytes of the step's bodies, of which one runs at a time; 0 for a step without any. */
uint64_t tenon__step_body_bytes(const tenon__plan_t* plan, uint32_t graph,
                                const tenon__step_t* step);

#endif
