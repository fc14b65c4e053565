/* The border of a context: the application's inputs and outputs, in its memory or in ours. */
#ifndef TENON_CORE_CONTEXT_BORDER_H_
#define TENON_CORE_CONTEXT_BORDER_H_

#include "core/context/context_state.h"

/* The caller's memory: used in place where strides and alignment allow, else copied at each run.
 * Checks dtype, rank and the profile's range, naming input and values. INVALID_ARGUMENT, and the
 * input stays as it was set before. A tensor's extents and strides are copied, its data are lent
 * until the last run that reads them; sequences are copied at once. In place: dense rows at a
 * multiple of 16 bytes. That extents changed is noted, and worked out in the next run. */
tenon_status_t tenon__context_set_input(tenon__context_t* context, uint32_t index,
                                        const tenon_argument_t* argument);
/* Likewise, but the data are in the memory of the plan's device: dense rows. Read there without a
 * copy where they begin at a multiple of 64 bytes. INVALID_STATE where the plan has no device of
 * its own. */
tenon_status_t tenon__context_set_input_on_device(tenon__context_t* context, uint32_t index,
                                                  const tenon_argument_t* argument);
/* The caller's memory, whose extents say how much it holds: a run whose result is larger fails.
 * Written in place where the plan can, else copied to after the run. NULL: ours again. */
tenon_status_t tenon__context_set_output(tenon__context_t* context, uint32_t index,
                                         const tenon_tensor_view_t* view);
/* Likewise in the memory of the plan's device; the result's rows are dense there. */
tenon_status_t tenon__context_set_output_on_device(tenon__context_t* context, uint32_t index,
                                                   const tenon_tensor_view_t* view);
/* Extents of an output that is a tensor, for the inputs as they are set; out_dims[k] is -1 where
 * the data decide, out_max_dims[k] then their bound, or -1 where nothing bounds them. Both have 64
 * entries. INVALID_STATE while an input is not set, INVALID_ARGUMENT for what is no tensor of known
 * rank. */
tenon_status_t tenon__context_output_extents(tenon__context_t* context, uint32_t index,
                                             int64_t* out_dims, int64_t* out_max_dims);
/* After a run that succeeded; borrowed until the next one. ABSENT otherwise. NULL for an index that
 * is none. */
const tenon_argument_t* tenon__context_get_output(const tenon__context_t* context, uint32_t index);

/* Inputs and outputs: the arrays, before a run, and after it. */
tenon_status_t tenon__context_create_border(tenon__context_t* context);
/* Where each input is for this run: the caller's memory, or a copy of it. INVALID_STATE names one
 * that was not set. */
tenon_status_t tenon__context_take_inputs(tenon__context_t* context);
/* Memory for outputs that the plan writes where the application wants them. */
tenon_status_t tenon__context_place_outputs(tenon__context_t* context);
/* Where the results are, copied to the application's memory where they are not there yet. */
tenon_status_t tenon__context_collect_outputs(tenon__context_t* context);
/* The last run's are none any more. */
void tenon__context_forget_outputs(tenon__context_t* context);

#endif
