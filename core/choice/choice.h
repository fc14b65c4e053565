/* The choice: which nodes together, by which kernels, so that the whole graph costs least. The
 * room's one entrance: what the rest of it does is in README.md. */
#ifndef TENON_CORE_CHOICE_CHOICE_H_
#define TENON_CORE_CHOICE_CHOICE_H_

#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* Units of the graph in an order in which they can run, with tactic and order of dimensions for
 * each, in the tuning's arena. The same times give the same units. UNSUPPORTED where a unit is left
 * that nobody computes: its node, and why each kernel refused. Else it fails with OUT_OF_MEMORY,
 * CANCELLED, or what makes candidates useless (a kernel that writes to constants). Greedy:
 * alternatives are tried one by one in order of what they could save, within a budget of work that
 * grows no faster than the network.
 */
tenon_status_t tenon__units_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   tenon__units_t* out_units);

#endif
