/* Memory of a whole plan: lifetimes of places, and offsets of their blocks. */
#ifndef TENON_CORE_PLAN_PLAN_MEMORY_H_
#define TENON_CORE_PLAN_PLAN_MEMORY_H_

#include "core/plan/plan.h"

/* Sets offsets, sizes, aliases and totals of all schedules of a plan (bodies inside their control
 * steps), and the devices' scratch, zeroed and persistent bytes with the steps' offsets. Memory is
 * reused in place if a rule allows it and the input is not read later. Views keep their base alive.
 * Places of unknown extents become GROWING. An alias names the place that owns the memory, never
 * another alias. Main graph outputs of storage OUTPUT get a size but no block. In the ARENA they
 * live to the end, as do values that states take over. Each device's memory is planned separately.
 * Sizes are the maximum of the profile's three points. Returns INTERNAL, with step and value, if a
 * step reads a place that no earlier step writes, and OUT_OF_MEMORY if a size overflows. */
tenon_status_t tenon__plan_memory(tenon__plan_t* plan, const tenon_sink_t* sink);
/* Computes only each step's workspace offsets and their total. Called again when a plan is loaded,
 * because kernels may then request other sizes. */
tenon_status_t tenon__plan_workspaces(tenon__plan_t* plan, const tenon_sink_t* sink);
/* Returns the bytes of the step's bodies in one device's memory; one body runs at a time. 0 for a
 * step without bodies. */
uint64_t tenon__step_body_bytes(const tenon__plan_t* plan, uint32_t graph,
                                const tenon__step_t* step, uint32_t space);

#endif
