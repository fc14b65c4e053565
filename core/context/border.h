/* The I/O binding (border) of a context: inputs and outputs in the application's memory or in the
 * context's. */
#ifndef TENON_CORE_CONTEXT_BORDER_H_
#define TENON_CORE_CONTEXT_BORDER_H_

#include "core/context/context_state.h"

/* Sets an input in the caller's memory. It is used in place if it is contiguous, row-major and
 * aligned to 16 bytes, else copied in each run. A tensor's extents and strides are copied; its data
 * are borrowed until the last run that reads them. Sequences are copied immediately. Changed
 * extents take effect in the next run. Checks dtype, rank and the profile's range. Returns
 * INVALID_ARGUMENT with input and values, and keeps the previous input. */
tenon_status_t tenon__context_set_input(tenon__context_t* context, uint32_t index,
                                        const tenon_argument_t* argument);
/* Same for contiguous row-major data in the memory of the plan's device. They are read without a
 * copy if aligned to 64 bytes. Returns INVALID_STATE if the plan has no device besides the host. */
tenon_status_t tenon__context_set_input_on_device(tenon__context_t* context, uint32_t index,
                                                  const tenon_argument_t* argument);
/* Sets the caller's memory for an output. Its extents are its capacity; a run with a larger result
 * fails. Written in place if the plan supports it, else copied after the run. NULL: the context's
 * own memory. */
tenon_status_t tenon__context_set_output(tenon__context_t* context, uint32_t index,
                                         const tenon_tensor_view_t* view);
/* Same in the memory of the plan's device; the result is contiguous there. */
tenon_status_t tenon__context_set_output_on_device(tenon__context_t* context, uint32_t index,
                                                   const tenon_tensor_view_t* view);
/* Returns the extents of a tensor output for the current inputs. For a data-dependent extent,
 * out_dims[k] is -1 and out_max_dims[k] its bound, or -1 if there is none. Both have 64 entries.
 * Returns INVALID_STATE if an input is not set, and INVALID_ARGUMENT if the output is no tensor of
 * known rank. */
tenon_status_t tenon__context_output_extents(tenon__context_t* context, uint32_t index,
                                             int64_t* out_dims, int64_t* out_max_dims);
/* Returns an output of a successful run, borrowed until the next run; ABSENT otherwise. NULL for an
 * invalid index. */
const tenon_argument_t* tenon__context_get_output(const tenon__context_t* context, uint32_t index);

/* Creates the arrays of inputs and outputs. The next functions handle them before and after a
 * run. */
tenon_status_t tenon__context_create_border(tenon__context_t* context);
/* Sets each input's address for this run: the caller's memory, or a copy. Returns INVALID_STATE
 * with the name of an input that is not set. */
tenon_status_t tenon__context_take_inputs(tenon__context_t* context);
/* Sets addresses of outputs that the plan writes directly to the application's memory. */
tenon_status_t tenon__context_place_outputs(tenon__context_t* context);
/* Collects the results and copies them to the application's memory if necessary. */
tenon_status_t tenon__context_collect_outputs(tenon__context_t* context);
/* Clears the last run's results. */
void tenon__context_forget_outputs(tenon__context_t* context);

#endif
