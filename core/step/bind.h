/* Kernels of a frame's steps, bound for the extents that are known. */
#ifndef TENON_CORE_STEP_BIND_H_
#define TENON_CORE_STEP_BIND_H_

#include "core/frame/frame_state.h"

/* Fills one step's arguments for the extents that are known now and binds its kernel, unless it is
 * bound for the same already. Binding may allocate and takes microseconds; what it was bound for is
 * remembered as all its dims and strides, so that a run with the extents of the one before binds
 * nothing. Faults name step and value. */
tenon_status_t tenon__frame_bind_step(tenon__frame_t* frame, uint32_t step);

/* All steps that do not depend on what the run finds. */
tenon_status_t tenon__frame_bind(tenon__frame_t* frame);

#endif
