/* Requests of the application for named nodes and values: their devices and types. */
#ifndef TENON_CORE_BUILDER_ASSIGNMENTS_H_
#define TENON_CORE_BUILDER_ASSIGNMENTS_H_

#include "core/builder/building.h"

/* Copies the options' "NODE=DEVICE" lines to the tuning. The devices are open and the network is
 * optimised. Returns NOT_FOUND if there is no such node any more, or no such device in this build;
 * the message lists the existing ones. */
tenon_status_t tenon__building_assign_nodes(tenon__building_t* building);
/* Marks the values that must keep their own types. Returns NOT_FOUND for an unknown name. */
tenon_status_t tenon__building_keep_types(tenon__building_t* building);
/* Adds the reasons to the refusals of the steps that write these values, if the build keeps
 * refusals. */
tenon_status_t tenon__building_explain_types(tenon__building_t* building);

#endif
