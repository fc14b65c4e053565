/* The inputs of a trial: made, guarded, and checked to be unchanged after it. */
#ifndef TENON_CORE_CANDIDATE_TRIAL_INPUTS_H_
#define TENON_CORE_CANDIDATE_TRIAL_INPUTS_H_

#include "core/candidate/trial_data.h"
#include "core/kernel/instance.h"

/* Before a run: remembers how the lent inputs are, but for those that the kernel packed and does
 * not read. After it: the first that is not as it was, TENON_NONE if none; it is made good unless
 * it is a constant. */
void tenon__trial_data_guard(tenon__trial_data_t* data, const tenon__instance_t* instance);
uint32_t tenon__trial_data_changed(tenon__trial_data_t* data, const tenon__instance_t* instance);
/* Input k, made or given. */
tenon_status_t tenon__trial_input_begin(tenon__trial_data_t* data, uint32_t k,
                                        const tenon_tensor_view_t* given);
/* A value's dense rows at the optimum, without memory. */
tenon_status_t tenon__trial_data_describe(tenon__trial_data_t* data,
                                          const tenon_value_info_t* value,
                                          tenon_tensor_view_t* out_view, size_t* out_bytes);

#endif
