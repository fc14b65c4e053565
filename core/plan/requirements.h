/* Checks of shape constraints with known extents. */
#ifndef TENON_CORE_PLAN_REQUIREMENTS_H_
#define TENON_CORE_PLAN_REQUIREMENTS_H_

#include "core/dimension/extents.h"
#include "core/dimension/requirement.h"
#include "core/network/network.h"

/* Returns INVALID_ARGUMENT for the first constraint that is violated, with a message after
 * `prefix`: its node, the reason, and the extents of the node's inputs. Constraints on unknown
 * extents are skipped. A build checks the extents that it knows, and a run checks whenever it has
 * learned more. Linear; allocates only for the message. */
tenon_status_t tenon__requirements_check(const tenon__requirement_t* items, uint32_t count,
                                         const tenon__network_t* network,
                                         const tenon__extents_t* extents, const char* prefix,
                                         const tenon_sink_t* sink);

#endif
