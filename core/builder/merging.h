/*
 * Decides whether the network as a whole is faster with merged siblings. The steps of two builds of
 * one network are compared; steps that both contain cancel out.
 */
#ifndef TENON_CORE_BUILDER_MERGING_H_
#define TENON_CORE_BUILDER_MERGING_H_

#include "core/builder/building.h"

/* Returns true if merging is worth a trial: the network has nodes that could be merged, times may
 * be measured, roundings may change, and no option has decided it. */
tenon_status_t tenon__building_may_merge(const tenon__building_t* building, bool* out_may);
/* Compares two builds that have their steps. Returns true if the merged one is faster by more than
 * the noise of the steps that differ. Returns false if a step of either was not measured. */
bool tenon__building_merging_pays(const tenon__building_t* apart, const tenon__building_t* merged);

#endif
