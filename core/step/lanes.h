/*
 * A chain on several lanes: its steps are recorded on streams of the context that wait for each
 * other. The dependencies follow from the addresses of the steps in this recording. Thus the result
 * equals sequential execution, regardless of the plan's lanes.
 */
#ifndef TENON_CORE_STEP_LANES_H_
#define TENON_CORE_STEP_LANES_H_

#include "core/frame/frame_state.h"

/* Returns true if its steps are on more than one lane, the device can record several streams, and
 * the context uses them. */
bool tenon__chain_has_lanes(const tenon__frame_t* frame, const tenon__chain_t* chain);
/* Enqueues all its steps while lane 0 is being recorded. The space has one event for each step and
 * one more. When it returns OK, lane 0 waits for all other lanes. `run` enqueues one step on the
 * stream of the space's run. */
tenon_status_t tenon__frame_enqueue_lanes(tenon__frame_t* frame, const tenon__chain_t* chain,
                                          tenon_status_t (*run)(tenon__frame_t*, uint32_t step));

#endif
