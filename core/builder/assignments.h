/* What the application wants of nodes and values, by name: their device, their type. */
#ifndef TENON_CORE_BUILDER_ASSIGNMENTS_H_
#define TENON_CORE_BUILDER_ASSIGNMENTS_H_

#include "core/builder/building.h"

/* The options' "NODE=DEVICE" lines as the tuning has them; the devices are open and the network is
 * optimised. NOT_FOUND where there is no such node any more, or no such device in this build, with
 * what there is. */
tenon_status_t tenon__building_assign_nodes(tenon__building_t* building);
/* Marks the values that are to stay in their own types. NOT_FOUND where there is none of a name. */
tenon_status_t tenon__building_keep_types(tenon__building_t* building);
/* Why they do, in the refusals of the steps that make them, where those are kept. */
tenon_status_t tenon__building_explain_types(tenon__building_t* building);

#endif
