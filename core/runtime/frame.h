/* One graph's run: memory of places, arguments of steps, kernels bound for the extents that are
 * known. */
#ifndef TENON_CORE_RUNTIME_FRAME_H_
#define TENON_CORE_RUNTIME_FRAME_H_

#include "core/runtime/state.h"

#include "core/runtime/types.h"

/* Frames: memory of places, arrays of arguments. */
tenon_status_t tenon__frame_create(tenon__context_t* context, uint32_t graph, char* memory,
                                   tenon__frame_t* out_frame);
void tenon__frame_destroy(tenon__frame_t* frame);
/* After a refit: weights are elsewhere, and steps have other instances. */
void tenon__frame_renew(tenon__frame_t* frame);
/* Fills one step's arguments for the extents that are known now and binds its kernel, unless it is
 * bound for the same already. */
tenon_status_t tenon__frame_bind_step(tenon__frame_t* frame, uint32_t step);

/* All steps that do not depend on what the run finds. */
tenon_status_t tenon__frame_bind(tenon__frame_t* frame);

/* The argument at a place as a tensor (or sequence) of its own, dims and strides in the arrays
 * given. INVALID_DATA, with the value's name, when its memory has other extents than the plan says:
 * no view is larger than its memory. */
tenon_status_t tenon__frame_argument(tenon__frame_t* frame, uint32_t place, int64_t* dims,
                                     int64_t* strides, tenon_argument_t* out_argument);

#endif
