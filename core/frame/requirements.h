/*
 * What the operators' rules left to the run, looked at whenever extents were learned. A plan is
 * made for all extents of a profile; what an operator's rules need of them (two symbols that are
 * equal) was taken down when the network was verified, and is asked here.
 */
#ifndef TENON_CORE_FRAME_REQUIREMENTS_H_
#define TENON_CORE_FRAME_REQUIREMENTS_H_

#include "core/frame/frame_state.h"

/* Finds the graph's own among the plan's, which lie graph by graph. Once, when the frame is made.
 */
void tenon__frame_list_requirements(tenon__frame_t* frame);
/* Does what the graph's rules left to the run hold, as far as extents are known now?
 * INVALID_ARGUMENT names the node. Looks again only when extents were learned since. */
tenon_status_t tenon__frame_check(tenon__frame_t* frame);

#endif
