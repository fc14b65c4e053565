/* From the ranges of a build's inputs to the profile: three numbers for each dimension. */
#ifndef TENON_CORE_BUILD_PROFILE_H_
#define TENON_CORE_BUILD_PROFILE_H_

#include "core/build/building.h"

/* Narrows the symbols of the inputs to the profile's ranges. Before the optimiser, so that it may
 * use them. INVALID_ARGUMENT for a range that does not fit its input or names none. */
tenon_status_t tenon__building_narrow(tenon__building_t* building);
/* Numbers for all dimensions at minimum, optimum and maximum. INVALID_ARGUMENT where the numbers at
 * the optimum break an operator's rules: such a run could never succeed. */
tenon_status_t tenon__building_profile(tenon__building_t* building);

#endif
