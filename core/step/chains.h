/*
 * Chains: consecutive steps of one device whose work can be recorded once and asked for again with
 * one call. Their places lie in memory that does not move (activations, uploaded weights), and
 * their extents are known before the run; so a recording holds until one of the steps is bound
 * anew. A chain is enqueued step by step once, then recorded, then replayed. The latest few sets of
 * extents and addresses each have a recording of their own.
 */
#ifndef TENON_CORE_STEP_CHAINS_H_
#define TENON_CORE_STEP_CHAINS_H_

#include "core/frame/frame_state.h"

/* Finds the graph's chains; none where its devices do not record. OUT_OF_MEMORY only. */
tenon_status_t tenon__frame_find_chains(tenon__frame_t* frame);
/* The chain that begins with the step; NULL. */
tenon__chain_t* tenon__frame_chain_at(const tenon__frame_t* frame, uint32_t step);
/* All its steps, in one of the three ways. `run` enqueues one of them. */
tenon_status_t tenon__frame_run_chain(tenon__frame_t* frame, tenon__chain_t* chain,
                                      tenon_status_t (*run)(tenon__frame_t*, uint32_t step));
/* Is there a recording for the addresses and bound steps as they are now? */
bool tenon__frame_can_replay(const tenon__frame_t* frame, const tenon__chain_t* chain);
/* Replays it, without a look at anything else. */
tenon_status_t tenon__frame_replay(tenon__frame_t* frame, tenon__chain_t* chain);
/* Recordings in which the step is bound so hold no more; what was asked for is done. */
void tenon__frame_forget_bound(tenon__frame_t* frame, uint32_t step, const tenon__bound_t* bound);
void tenon__frame_forget_recordings(tenon__frame_t* frame);

#endif
