/* The border of a context: the application's inputs and outputs, in its memory or in ours. */
#ifndef TENON_CORE_RUNTIME_BORDER_H_
#define TENON_CORE_RUNTIME_BORDER_H_

#include "core/runtime/state.h"

/* The caller's memory: used in place where strides and alignment allow, else copied at each run.
 * Checks dtype, rank and the profile's range, naming input and values. */
tenon_status_t tenon__context_set_input(tenon__context_t* context, uint32_t index,
                                        const tenon_argument_t* argument);
/* NULL: ours again. */
tenon_status_t tenon__context_set_output(tenon__context_t* context, uint32_t index,
                                         const tenon_tensor_view_t* view);
/* Extents of an output that is a tensor, for the inputs as they are set; out_dims[k] is -1 where
 * the data decide, out_max_dims[k] then their bound, or -1 where nothing bounds them. Both have 64
 * entries. */
tenon_status_t tenon__context_output_extents(tenon__context_t* context, uint32_t index,
                                             int64_t* out_dims, int64_t* out_max_dims);
/* After a run that succeeded; borrowed until the next one. ABSENT otherwise. */
const tenon_argument_t* tenon__context_get_output(const tenon__context_t* context, uint32_t index);

/* Inputs and outputs: the arrays, before a run, and after it. */
tenon_status_t tenon__context_create_border(tenon__context_t* context);
tenon_status_t tenon__context_take_inputs(tenon__context_t* context);
/* Memory for outputs that the plan writes where the application wants them. */
tenon_status_t tenon__context_place_outputs(tenon__context_t* context);
tenon_status_t tenon__context_collect_outputs(tenon__context_t* context);
/* The last run's are none any more. */
void tenon__context_forget_outputs(tenon__context_t* context);

#endif
