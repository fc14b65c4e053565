/* Which nodes the application wants on which device. */
#ifndef TENON_CORE_BUILD_ASSIGNMENTS_H_
#define TENON_CORE_BUILD_ASSIGNMENTS_H_

#include "core/build/building.h"

/* The options' "NODE=DEVICE" lines as the tuning has them; the devices are open and the network is
 * optimised. NOT_FOUND where there is no such node any more, or no such device in this build, with
 * what there is. */
tenon_status_t tenon__building_assign_nodes(tenon__building_t* building);

#endif
