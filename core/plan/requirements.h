/* What operators' rules left to the run, looked at with extents that are known. */
#ifndef TENON_CORE_PLAN_REQUIREMENTS_H_
#define TENON_CORE_PLAN_REQUIREMENTS_H_

#include "core/dimension/extents.h"
#include "core/dimension/requirement.h"
#include "core/network/network.h"

/* INVALID_ARGUMENT for the first condition that is known not to hold: its node, why, and the
 * extents of the node's inputs, after `prefix`. What is not known yet is passed over: a build asks
 * with what it knows, a run whenever it has learned more. Linear, and allocates nothing but for the
 * message. */
tenon_status_t tenon__requirements_check(const tenon__requirement_t* items, uint32_t count,
                                         const tenon__network_t* network,
                                         const tenon__extents_t* extents, const char* prefix,
                                         const tenon_sink_t* sink);

#endif
