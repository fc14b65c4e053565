/*
 * Checks of slots of an external region: their programs must fit the operator, its arguments and
 * each other. Called after inputs, outputs and programs were checked. Sends no messages.
 */
#ifndef TENON_CORE_PLAN_FILE_SLOT_CHECK_H_
#define TENON_CORE_PLAN_FILE_SLOT_CHECK_H_

#include "core/region/region.h"

/* Returns true if one of the `count` slots has the same number or the same position as `slot`.
 * Several SIDE slots may belong to one output. */
bool tenon__slot_is_filled(const tenon__region_slot_t* slots, uint32_t count,
                           const tenon__region_slot_t* slot);
/* Returns true if the program has the types of its own value and of its result, and, except for an
 * epilogue, the shapes of both. `region` has its nodes, inputs and outputs. */
bool tenon__slot_fits(const struct tenon_region_t* region, const tenon__region_slot_t* slot);
/* Returns true if the arguments are those of the operator, except for the changes by slots. The
 * kernel of one operator gets the node's inputs first, then those of slots, and the node's outputs
 * first, then those of SIDE slots. Returns true for several nodes, which kernels check
 * themselves. */
bool tenon__slots_fit_node(const struct tenon_region_t* region);

#endif
