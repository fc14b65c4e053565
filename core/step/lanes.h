/*
 * A chain on several lanes: its steps are recorded on streams of the context that wait for one
 * another. What a step waits for follows from the addresses that it and the steps before it have in
 * this recording, so that it is as if all were done in a row, whatever the plan says.
 */
#ifndef TENON_CORE_STEP_LANES_H_
#define TENON_CORE_STEP_LANES_H_

#include "core/frame/frame_state.h"

/* Are its steps on more than one lane, of a device that records that, in a context that uses them?
 */
bool tenon__chain_has_lanes(const tenon__frame_t* frame, const tenon__chain_t* chain);
/* Enqueues all its steps, while lane 0 is being recorded and the space has an event for each of
 * them and one more; the other lanes have come together with it when this returns OK. `run`
 * enqueues one step on the stream that the space's run names. */
tenon_status_t tenon__frame_enqueue_lanes(tenon__frame_t* frame, const tenon__chain_t* chain,
                                          tenon_status_t (*run)(tenon__frame_t*, uint32_t step));

#endif
