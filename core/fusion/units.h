/* Units of a covering, in an order in which they can run. */
#ifndef TENON_CORE_FUSION_UNITS_H_
#define TENON_CORE_FUSION_UNITS_H_

#include "core/fusion/grouping.h"

/* Units of the groups that are alive, in an order in which they can run. Of those that are ready
 * the one whose last node stands first in the network: stable, so that the same groups give the
 * same order. Regions of runs and moves are made here. */
/* The region of an expression over values of the graph, in the covering's arena, unfinished:
 * normalised, making `values`, doing the work of these nodes, on the device of the first. */
tenon_status_t tenon__units_expression_region(grouping_t* grouping,
                                              const tenon__expression_t* expression,
                                              const uint32_t* values, const uint32_t* nodes,
                                              uint32_t node_count,
                                              struct tenon_region_t** out_region);
tenon_status_t tenon__units_order(grouping_t* grouping, tenon__units_t* out_units);

#endif
