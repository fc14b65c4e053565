/* Memory of a whole plan: lives of places, and where their blocks lie. */
#ifndef TENON_CORE_PLAN_PLAN_MEMORY_H_
#define TENON_CORE_PLAN_PLAN_MEMORY_H_

#include "core/plan/plan.h"

/* Fills offsets, sizes, aliases and totals of all schedules of a plan (bodies within their control
 * steps): in-place reuse where a rule allows it and the input dies there; views keep their base
 * alive; places of unknown extents become GROWING. An alias names the place that owns the memory,
 * never another alias. Main graph outputs of storage OUTPUT get a size but no block; in the ARENA
 * they live to the end, as do values that states take over. Each device's memory is planned by
 * itself. The devices' scratch, zeroed and
 * persistent bytes and the steps' offsets are filled too. Sizes are the largest of the profile's
 * three points. INTERNAL, naming step and value, where a step reads what no earlier one writes;
 * OUT_OF_MEMORY where a size cannot be counted. */
tenon_status_t tenon__plan_memory(tenon__plan_t* plan, const tenon_sink_t* sink);
/* The last of that alone: where each step's workspaces lie, and how much they are together. Asked
 * again when a plan is loaded, since kernels may then ask for other amounts. */
tenon_status_t tenon__plan_workspaces(tenon__plan_t* plan, const tenon_sink_t* sink);
/* Bytes of the step's bodies in one device's memory, of which one runs at a time; 0 for a step
 * without any. */
uint64_t tenon__step_body_bytes(const tenon__plan_t* plan, uint32_t graph,
                                const tenon__step_t* step, uint32_t space);

#endif
