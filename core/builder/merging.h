/*
 * Siblings merged: whether the network as a whole is faster with it. Two builds of one network, as
 * far as their steps, are compared; what they have in common says nothing for either.
 */
#ifndef TENON_CORE_BUILDER_MERGING_H_
#define TENON_CORE_BUILDER_MERGING_H_

#include "core/builder/building.h"

/* Is it worth trying? The network has nodes that could be merged, times may be measured, roundings
 * may change, and nobody has decided yet. */
tenon_status_t tenon__building_may_merge(const tenon__building_t* building, bool* out_may);
/* Both have their steps. Faster by more than the noise of what differs; where a step of either was
 * not measured nothing speaks for it. */
bool tenon__building_merging_pays(const tenon__building_t* apart, const tenon__building_t* merged);

#endif
