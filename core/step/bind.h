/* Binding of a frame's steps for the extents that are known. */
#ifndef TENON_CORE_STEP_BIND_H_
#define TENON_CORE_STEP_BIND_H_

#include "core/frame/frame_state.h"

/* Fills one step's arguments for the current extents and binds its kernel, unless it is already
 * bound for them. Binding may allocate and takes microseconds. All dims and strides of a binding
 * are remembered, so a run with the previous run's extents binds nothing. Messages name step and
 * value. */
tenon_status_t tenon__frame_bind_step(tenon__frame_t* frame, uint32_t step);

/* Binds all steps without data-dependent extents. */
tenon_status_t tenon__frame_bind(tenon__frame_t* frame);

#endif
