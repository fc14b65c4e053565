/*
 * Chains (recorded segments): consecutive steps of one device whose work is recorded once and
 * replayed with one call. Their places are in memory that does not move (activations, uploaded
 * weights), and their extents are known before the run. Therefore a recording is valid until one of
 * the steps is bound again. A chain is first enqueued step by step, then recorded, then replayed.
 * Each of the latest few sets of extents and addresses has its own recording.
 */
#ifndef TENON_CORE_STEP_CHAINS_H_
#define TENON_CORE_STEP_CHAINS_H_

#include "core/frame/frame_state.h"

/* Finds the graph's chains; there are none if its devices do not record. Returns OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__frame_find_chains(tenon__frame_t* frame);
/* Returns the chain that begins with the step, or NULL. */
tenon__chain_t* tenon__frame_chain_at(const tenon__frame_t* frame, uint32_t step);
/* Runs all its steps in one of the three ways. `run` enqueues one step. */
tenon_status_t tenon__frame_run_chain(tenon__frame_t* frame, tenon__chain_t* chain,
                                      tenon_status_t (*run)(tenon__frame_t*, uint32_t step));
/* Returns true if there is a recording for the current addresses and bound steps. */
bool tenon__frame_can_replay(const tenon__frame_t* frame, const tenon__chain_t* chain);
/* Replays it without further checks. */
tenon_status_t tenon__frame_replay(tenon__frame_t* frame, tenon__chain_t* chain);
/* Invalidates recordings that use this binding. All enqueued work is complete. */
void tenon__frame_forget_bound(tenon__frame_t* frame, uint32_t step, const tenon__bound_t* bound);
void tenon__frame_forget_recordings(tenon__frame_t* frame);

#endif
