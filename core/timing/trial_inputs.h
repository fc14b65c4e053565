/* The inputs of a trial. They are made or given once for all tactics, lent to one tactic after
 * another in the layouts that it needs, and checked to be unchanged afterwards. */
#ifndef TENON_CORE_TIMING_TRIAL_INPUTS_H_
#define TENON_CORE_TIMING_TRIAL_INPUTS_H_

#include "core/kernel/instance.h"
#include "core/timing/trial_data.h"

/* Makes the inputs. `given` has a contiguous row-major tensor for each of the region's inputs that
 * is no constant; they must outlive the data. NULL: data are made up within the domains of the
 * ports. Shape values are those of the optimum, and indices are below the extents that their port
 * names. Returns UNSUPPORTED if the region cannot be tried alone (sequences). OUT_OF_MEMORY sends a
 * warning, because the profile's optimum may be wrong. */
tenon_status_t tenon__trial_inputs_make(tenon__trial_data_t* data,
                                        const tenon_tensor_view_t* given);
/* Returns input k, contiguous and row-major; NULL if there is none. */
const tenon_tensor_view_t* tenon__trial_inputs_rows(const tenon__trial_data_t* data, uint32_t k);
/* Fills data->arguments with each input in the layout of the tactic or of the conversion. A new
 * layout costs a copy, which is kept. A constant is lent without a copy if it is row-major. Returns
 * UNSUPPORTED for elements smaller than a byte in any other order. */
tenon_status_t tenon__trial_inputs_provide(tenon__trial_data_t* data,
                                           const tenon__step_tactic_t* tactic);

/* Sets shape values in row-major data to those of the profile's optimum. */
void tenon__trial_write_contents(const tenon__profile_t* profile, const tenon__value_node_t* value,
                                 void* inout_rows);

/* Before a run, guard stores checksums of the lent inputs, except those that the kernel has packed
 * and does not read. After it, changed returns the first input that has changed, or TENON_NONE. It
 * is restored unless it is a constant. */
void tenon__trial_inputs_guard(tenon__trial_data_t* data, const tenon__instance_t* instance);
uint32_t tenon__trial_inputs_changed(tenon__trial_data_t* data, const tenon__instance_t* instance);

#endif
