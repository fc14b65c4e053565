/*
 * Transfer of arguments and results between a graph and a body that one of its steps runs. Bodies
 * run in frames of their own. A value is lent to the body if possible, and copied if the body would
 * overwrite it. Both sides of a copy are in one device's memory. The host copies after all devices
 * have reached this point, and a device copies in the order of its stream. All functions give the
 * value's name in messages of failures.
 */
#ifndef TENON_CORE_CONTROL_CROSSING_H_
#define TENON_CORE_CONTROL_CROSSING_H_

#include "core/frame/frame_state.h"

/* Sets a body's parameter to the argument, a row-major tensor or no tensor. Its memory is borrowed
 * until the body has run, and its extents are copied. They become known to the body, whose steps
 * are then bound for them. Returns INVALID_DATA for other strides. */
tenon_status_t tenon__frame_set_parameter(tenon__frame_t* body, uint32_t parameter,
                                          const tenon_argument_t* argument);
/* Copies the argument, a result of a control step, to a place. Its extents become known in the
 * frame's graph. */
tenon_status_t tenon__frame_store(tenon__frame_t* frame, uint32_t place,
                                  const tenon_argument_t* argument);
/* Copies within the memory of device number `space`, with any strides on both sides. Returns
 * UNSUPPORTED for elements smaller than a byte that are not row-major. */
tenon_status_t tenon__run_copy(tenon__run_state_t* run, uint32_t space,
                               const tenon_tensor_view_t* source,
                               const tenon_tensor_view_t* target);
/* Copies the argument to the buffer, which is in that device's memory. */
tenon_status_t tenon__run_assign(tenon__run_state_t* run, uint32_t space,
                                 tenon__dynamic_buffer_t* buffer, const tenon_argument_t* argument);
/* Reads the only number (or condition) of a place in the host's memory, after it has been computed.
 * Returns INVALID_DATA if the place has no element, or several. */
tenon_status_t tenon__frame_scalar(tenon__frame_t* frame, uint32_t place, int64_t* out_number);

#endif
