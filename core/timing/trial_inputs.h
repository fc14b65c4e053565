/* The inputs of a trial: made or given once for all tactics, lent to one after the other in the
 * layouts that it wants, guarded, and checked to be unchanged after it. */
#ifndef TENON_CORE_TIMING_TRIAL_INPUTS_H_
#define TENON_CORE_TIMING_TRIAL_INPUTS_H_

#include "core/kernel/instance.h"
#include "core/timing/trial_data.h"

/* `given`: dense rows for each of the region's inputs that is no constant, which outlive the data;
 * NULL: made up as the domains of the ports say. UNSUPPORTED where the region cannot be tried
 * alone: sequences. Elements that shapes depend on are those of the optimum, indices stay below the
 * extents that their port names. A warning goes with OUT_OF_MEMORY, since the profile's optimum may
 * be what is wrong. */
tenon_status_t tenon__trial_inputs_make(tenon__trial_data_t* data,
                                        const tenon_tensor_view_t* given);
/* Dense rows of input k; NULL where there is none. */
const tenon_tensor_view_t* tenon__trial_inputs_rows(const tenon__trial_data_t* data, uint32_t k);
/* Fills data->arguments: each input as the tactic wants it, or as the conversion has it. A layout
 * that was not asked for before costs a copy, which is kept. UNSUPPORTED for elements within a byte
 * in any other order than rows. A constant is lent as it is to whoever takes rows. */
tenon_status_t tenon__trial_inputs_provide(tenon__trial_data_t* data,
                                           const tenon__step_tactic_t* tactic);

/* Elements of dense rows that shapes depend on become those of the profile's optimum. */
void tenon__trial_write_contents(const tenon__profile_t* profile, const tenon__value_node_t* value,
                                 void* inout_rows);

/* Before a run: remembers how the lent inputs are, but for those that the kernel packed and does
 * not read. After it: the first that is not as it was, TENON_NONE if none; it is made good unless
 * it is a constant. */
void tenon__trial_inputs_guard(tenon__trial_data_t* data, const tenon__instance_t* instance);
uint32_t tenon__trial_inputs_changed(tenon__trial_data_t* data, const tenon__instance_t* instance);

#endif
