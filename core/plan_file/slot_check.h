/*
 * Slots of a region that comes from outside: does what fills them fit the operator, its arguments
 * and one another? Silent; asked after inputs, outputs and programs were found to be whole.
 */
#ifndef TENON_CORE_PLAN_FILE_SLOT_CHECK_H_
#define TENON_CORE_PLAN_FILE_SLOT_CHECK_H_

#include "core/region/region.h"

/* Is one of the `count` under the same number, or where this one is? Outputs beside an output may
 * be several. */
bool tenon__slot_is_filled(const tenon__region_slot_t* slots, uint32_t count,
                           const tenon__region_slot_t* slot);
/* The program has the type of its own value and of what it makes, and where it is no epilogue the
 * shape of both. `region`: nodes, inputs and outputs are there. */
bool tenon__slot_fits(const struct tenon_region_t* region, const tenon__region_slot_t* slot);
/* Are the arguments those of the operator, but for what slots changed? The kernel of one operator
 * finds the node's inputs first, then those of slots; the node's outputs first, then those beside
 * them. True for several nodes: their kernels look themselves. */
bool tenon__slots_fit_node(const struct tenon_region_t* region);

#endif
