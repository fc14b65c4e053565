/*
 * What crosses between a graph and a body that one of its steps runs: arguments, at places. Bodies
 * run in frames of their own; a value that crosses is lent where it can be and copied where the
 * body would overwrite it. What crosses lies in one memory on both sides, and is copied there: by
 * the host once all devices have come so far, by a device when it gets there. All fail with the
 * value's name.
 */
#ifndef TENON_CORE_CONTROL_CROSSING_H_
#define TENON_CORE_CONTROL_CROSSING_H_

#include "core/frame/frame_state.h"

/* A body's parameter takes the argument, a tensor in rows or no tensor; its memory is lent until
 * the body has run, its extents are copied. INVALID_DATA for other strides. The extents are
 * learned, so that the body's steps are bound for them. */
tenon_status_t tenon__frame_set_parameter(tenon__frame_t* body, uint32_t parameter,
                                          const tenon_argument_t* argument);
/* A place's memory becomes a copy of the argument: what a control step makes. Its extents become
 * known in the frame's graph. */
tenon_status_t tenon__frame_store(tenon__frame_t* frame, uint32_t place,
                                  const tenon_argument_t* argument);
/* A copy in the memory of device number `space`, of any strides on both sides. UNSUPPORTED for
 * elements within a byte that do not lie in rows. */
tenon_status_t tenon__run_copy(tenon__run_state_t* run, uint32_t space,
                               const tenon_tensor_view_t* source,
                               const tenon_tensor_view_t* target);
/* A copy in the buffer, which is of that memory. */
tenon_status_t tenon__run_assign(tenon__run_state_t* run, uint32_t space,
                                 tenon__dynamic_buffer_t* buffer, const tenon_argument_t* argument);
/* The one number (or condition) at a place in the host's memory, when it is there. INVALID_DATA
 * where there are none, or several. */
tenon_status_t tenon__frame_scalar(tenon__frame_t* frame, uint32_t place, int64_t* out_number);

#endif
