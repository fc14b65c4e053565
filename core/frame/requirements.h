/*
 * Shape constraints that are checked in a run, whenever extents become known. A plan is valid for
 * all extents of a profile. Constraints of an operator's rules on these extents (for example, two
 * symbols must be equal) were recorded when the network was verified, and are checked here.
 */
#ifndef TENON_CORE_FRAME_REQUIREMENTS_H_
#define TENON_CORE_FRAME_REQUIREMENTS_H_

#include "core/frame/frame_state.h"

/* Finds the graph's constraints among the plan's, which are ordered by graph. Called once, when the
 * frame is created. */
void tenon__frame_list_requirements(tenon__frame_t* frame);
/* Checks the graph's constraints with the extents that are known now. Returns INVALID_ARGUMENT with
 * the node's name if one fails. Does nothing if no extent has changed since the last check. */
tenon_status_t tenon__frame_check(tenon__frame_t* frame);

#endif
