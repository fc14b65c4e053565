/* Tactic and layout of each unit of a covering, and what the whole graph then costs. */
#ifndef TENON_CORE_CHOICE_LAYOUTS_H_
#define TENON_CORE_CHOICE_LAYOUTS_H_

#include "core/choice/conversions.h"
#include "core/choice/unit.h"

/* Picks tactics and orders for these units, whose regions are finished. A unit that nobody computes
 * has no candidates then. */
tenon_status_t tenon__layouts_choose(conversions_t* conversions, tenon__units_t* inout_units,
                                     tenon__copies_t* out_copies);

#endif
