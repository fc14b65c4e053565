/* The outputs of a trial: memory that is lent to one tactic after the other, in the layouts that it
 * wants, with a pattern in it that shows what was not written. */
#ifndef TENON_CORE_TIMING_TRIAL_OUTPUTS_H_
#define TENON_CORE_TIMING_TRIAL_OUTPUTS_H_

#include "core/timing/red_zone.h"
#include "core/timing/trial_data.h"

/* Outputs for a tactic that has its inputs. Whoever keeps them does not give them back; they end
 * with the data in any case. UNSUPPORTED: sequences, and rules that strides cannot say. */
tenon_status_t tenon__trial_outputs_provide(tenon__trial_data_t* data,
                                            const tenon__step_tactic_t* tactic,
                                            tenon__trial_outputs_t** out_outputs);
/* For the next tactic. NULL is fine. */
void tenon__trial_outputs_give_back(tenon__trial_data_t* data, tenon__trial_outputs_t* outputs);
/* Before each run: they hold the pattern (see trial_memory.h), and nothing is allocated yet.
 * `count`: of the region. An output that the kernel allocates has no memory to hold a pattern: its
 * buffer does, once it is there. */
tenon_status_t tenon__trial_outputs_clear(tenon__trial_outputs_t* outputs, uint32_t count,
                                          uint32_t pattern);
/* After a run on the host: the first output around which a tactic wrote. */
tenon__overrun_t tenon__trial_outputs_overrun(const tenon__trial_outputs_t* outputs, uint32_t count,
                                              uint32_t* out_output);
/* After a run: where what the kernel allocated is. Views and sizes of allocated outputs are valid
 * until they are cleared again. */
void tenon__trial_outputs_collect(tenon__trial_outputs_t* outputs, uint32_t count);

#endif
