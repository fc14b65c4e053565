/*
 * One graph's run: memory of places, room for arguments of steps and for what bind.h binds. The
 * plan says where things lie in terms of symbols; a frame says it in pointers and numbers.
 */
#ifndef TENON_CORE_FRAME_FRAME_H_
#define TENON_CORE_FRAME_FRAME_H_

#include "core/frame/frame_state.h"

/* `memory`: the graph's part of the run's activations on each of the plan's devices, which is shared
 * with graphs that do not run at the same time. Everything else lies in the run's arena. Words,
 * chains and data-dependent extents are listed afterwards, in this order. On failure it must still
 * be destroyed. */
tenon_status_t tenon__frame_create(tenon__run_state_t* run, uint32_t graph, char* const* memory,
                                   tenon__frame_t* out_frame);
/* Its recordings are forgotten. */
void tenon__frame_destroy(tenon__frame_t* frame);
/* After a refit: weights are elsewhere, and steps have other instances. Its recordings are
 * forgotten. */
void tenon__frame_renew(tenon__frame_t* frame);

/* Where the plan puts a place of the arena; NULL where nothing of it has any bytes. */
void* tenon__frame_planned(const tenon__frame_t* frame, uint32_t place);
/* The place lies elsewhere now (tenon__place_can_move); what was recorded has other addresses. */
void tenon__frame_move_place(tenon__frame_t* frame, uint32_t place, void* data);

/* The argument at a place as a tensor (or sequence) of its own, dims and strides in the arrays
 * given. INVALID_DATA, with the value's name, when its memory has other extents than the plan says:
 * no view is larger than its memory. `dims` and `strides` have 64 entries, and the argument points
 * at them. Its data are NULL for weights that a kernel packed and nobody kept. */
tenon_status_t tenon__frame_argument(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                     int64_t* strides, tenon_argument_t* out_argument);
/* The same for a step that runs at the bounds: what a run finds has the extents of its bound, and
 * its own in device memory. */
tenon_status_t tenon__frame_argument_at_bound(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                              int64_t* strides, tenon_argument_t* out_argument);

#endif
