/* The optimiser's turn in a build, and what lets it fold nodes that only a kernel can compute. */
#ifndef TENON_CORE_BUILD_OPTIMISE_H_
#define TENON_CORE_BUILD_OPTIMISE_H_

#include "core/build/building.h"

/* Algebra: the network's patches; folding through kernels. Folding runs kernels on the device at
 * hand with estimates alone: nothing is measured for a node that goes away. Patches are written
 * down in the plan. */
tenon_status_t tenon__building_optimise(tenon__building_t* building);

#endif
