/*
 * The run of one graph: memory of places, and storage for arguments and bound kernels of steps
 * (bind.h). The plan gives locations and sizes by symbols; a frame has pointers and numbers.
 */
#ifndef TENON_CORE_FRAME_FRAME_H_
#define TENON_CORE_FRAME_FRAME_H_

#include "core/frame/frame_state.h"

/* Creates a frame. `memory` is the graph's part of the run's activations on each of the plan's
 * devices, shared with graphs that do not run at the same time. Everything else is in the run's
 * arena. The caller then lists status blocks (words), recorded segments (chains) and data-dependent
 * extents, in this order. Destroy the frame even after a failure. */
tenon_status_t tenon__frame_create(tenon__run_state_t* run, uint32_t graph, char* const* memory,
                                   tenon__frame_t* out_frame);
/* Destroys the frame and its recordings. */
void tenon__frame_destroy(tenon__frame_t* frame);
/* Updates the frame after a refit, when weights have other addresses and steps have other
 * instances. Drops its recordings. */
void tenon__frame_renew(tenon__frame_t* frame);

/* Returns the planned address of a place in the arena; NULL if the graph's memory has no bytes. */
void* tenon__frame_planned(const tenon__frame_t* frame, uint32_t place);
/* Moves the place to another address (tenon__place_can_move). Existing recordings have the old
 * address. */
void tenon__frame_move_place(tenon__frame_t* frame, uint32_t place, void* data);

/* Returns the argument at a place as a tensor (or sequence). `dims` and `strides` have 64 entries,
 * and the argument points at them. Returns INVALID_DATA with the value's name if its memory has
 * other extents than the plan, so a view is never larger than its memory. Its data are NULL for
 * weights that a kernel has packed and the plan does not keep. */
tenon_status_t tenon__frame_argument(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                     int64_t* strides, tenon_argument_t* out_argument);
/* Same for a step that runs at the bounds: data-dependent values have the extents of their bounds,
 * and their actual extents are in device memory. */
tenon_status_t tenon__frame_argument_at_bound(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                              int64_t* strides, tenon_argument_t* out_argument);

#endif
