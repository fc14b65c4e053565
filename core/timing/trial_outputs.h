/* The outputs of a trial: memory that is lent to one tactic after another, in the layouts that it
 * needs, with a pattern that reveals unwritten elements. */
#ifndef TENON_CORE_TIMING_TRIAL_OUTPUTS_H_
#define TENON_CORE_TIMING_TRIAL_OUTPUTS_H_

#include "core/timing/red_zone.h"
#include "core/timing/trial_data.h"

/* Lends outputs to a tactic that has its inputs. The caller may keep them; they end with the data
 * in any case. Returns UNSUPPORTED for sequences and rules that strides cannot express. */
tenon_status_t tenon__trial_outputs_provide(tenon__trial_data_t* data,
                                            const tenon__step_tactic_t* tactic,
                                            tenon__trial_outputs_t** out_outputs);
/* Returns outputs for the next tactic. NULL is accepted. */
void tenon__trial_outputs_give_back(tenon__trial_data_t* data, tenon__trial_outputs_t* outputs);
/* Before each run: fills them with the pattern (see trial_memory.h) and clears allocated ones.
 * `count` is the region's number of outputs. An output that the kernel allocates gets the pattern
 * when its buffer exists. */
tenon_status_t tenon__trial_outputs_clear(tenon__trial_outputs_t* outputs, uint32_t count,
                                          uint32_t pattern);
/* After a run on the host: finds the first output whose red zones the tactic has overwritten. */
tenon__overrun_t tenon__trial_outputs_overrun(const tenon__trial_outputs_t* outputs, uint32_t count,
                                              uint32_t* out_output);
/* After a run: sets views and sizes of outputs that the kernel has allocated, valid until the next
 * clear. */
void tenon__trial_outputs_collect(tenon__trial_outputs_t* outputs, uint32_t count);

#endif
