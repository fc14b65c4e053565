/* Units of a covering, in an order in which they can run. */
#ifndef TENON_CORE_CHOICE_UNITS_H_
#define TENON_CORE_CHOICE_UNITS_H_

#include "core/choice/grouping.h"

/* Units of the groups that are alive, in an order in which they can run. Of those that are ready
 * the one whose last node stands first in the network: stable, so that the same groups give the
 * same order. Regions of runs and moves are made here. */
tenon_status_t tenon__units_order(grouping_t* grouping, tenon__units_t* out_units);

#endif
