/*
 * Inputs and outputs in externally owned memory of the plan's device. If the plan copies an input
 * there, or an output from there, the application's memory replaces the context's, and nothing is
 * copied. If that is not possible (an unaligned address, data-dependent extents, a value with
 * several places), the device copies within its memory. Values that the host writes or reads are
 * copied to or from it.
 */
#ifndef TENON_CORE_CONTEXT_LENT_H_
#define TENON_CORE_CONTEXT_LENT_H_

#include "core/context/context_state.h"

/* Finds the main graph's copies of inputs and outputs between the host and the plan's device.
 * Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__context_create_lent(tenon__context_t* context);
/* Set external memory on the device for an input's or output's tensor, contiguous and row-major.
 * Return INVALID_STATE if the plan has no device besides the host. */
tenon_status_t tenon__context_lend_input(tenon__context_t* context, uint32_t index, void* data);
tenon_status_t tenon__context_lend_output(tenon__context_t* context, uint32_t index, void* data);
/* Switches the input or output back to host memory. */
void tenon__context_return_input(tenon__context_t* context, uint32_t index);
void tenon__context_return_output(tenon__context_t* context, uint32_t index);
/* For this run: makes the input available to its readers. */
tenon_status_t tenon__context_take_lent(tenon__context_t* context, uint32_t index);
/* Same for the output if the device writes it; *out_is_placed is then true. Otherwise the host must
 * write it. */
void tenon__context_place_lent(tenon__context_t* context, uint32_t index, bool* out_is_placed);
/* Copies a result of the host to its external memory. The copy is complete when the call
 * returns. */
tenon_status_t tenon__context_send_lent(tenon__context_t* context, uint32_t index,
                                        const tenon_tensor_view_t* result);
/* Returns true if a run needs neither work nor waits of the host. */
bool tenon__context_is_all_lent(const tenon__context_t* context);
/* After a run: sets is_steady (repeatable) if the next run is one replay without further checks, as
 * long as nothing is set. Functions that set something clear it. */
void tenon__context_find_steady(tenon__context_t* context);
bool tenon__context_is_steady(const tenon__context_t* context);

#endif
