/* Units of a covering, in an execution order. */
#ifndef TENON_CORE_FUSION_UNITS_H_
#define TENON_CORE_FUSION_UNITS_H_

#include "core/fusion/grouping.h"

/* Makes units of live groups in an execution order. Of several ready units, the one whose last node
 * is first in the network is next, so the same groups give the same order. Regions of runs and
 * moves are made here. */
/* Makes the unfinished region of an expression over values of the graph, in the covering's arena:
 * normalised, with outputs `values`, covering these nodes, on the device of the first. */
tenon_status_t tenon__units_expression_region(grouping_t* grouping,
                                              const tenon__expression_t* expression,
                                              const uint32_t* values, const uint32_t* nodes,
                                              uint32_t node_count,
                                              struct tenon_region_t** out_region);
tenon_status_t tenon__units_order(grouping_t* grouping, tenon__units_t* out_units);

#endif
