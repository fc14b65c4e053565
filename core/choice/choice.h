/* Chooses the nodes of each step, their kernels and their layouts so that the whole graph costs
 * least. This is the module's only entry point; README.md describes its other files. */
#ifndef TENON_CORE_CHOICE_CHOICE_H_
#define TENON_CORE_CHOICE_CHOICE_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* Returns the graph's units in an execution order, each with its tactic and its order of
 * dimensions, in the tuning's arena. Equal times give equal units. The alternatives are tried
 * greedily, one by one, in the order of their possible savings. The budget of work grows no faster
 * than the network. Returns UNSUPPORTED if no kernel computes a unit; the message gives its node
 * and each kernel's reason. Also returns OUT_OF_MEMORY, CANCELLED, or the status of a failure that
 * makes candidates useless (a kernel that writes to constants). */
tenon_status_t tenon__units_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   tenon__units_t* out_units);

#endif
