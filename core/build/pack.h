/* The end of a build: weights that kernels packed, and the plan's account of itself. */
#ifndef TENON_CORE_BUILD_PACK_H_
#define TENON_CORE_BUILD_PACK_H_

#include "core/build/building.h"

/* Prepares every step once, so that the plan holds the packed weights. The instances go again; what
 * they packed stays in the store, and so in the plan. */
tenon_status_t tenon__building_pack(tenon__building_t* building);
/* Plugins, fingerprint, which weights the plan keeps. */
tenon_status_t tenon__building_describe(tenon__building_t* building);

#endif
