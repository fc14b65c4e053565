/*
 * Inputs and outputs that the application lends in the memory of the plan's device. Where the plan
 * copies an input there, or an output from there, the application's memory takes the place of ours
 * and nothing is copied; where it may not (the address is not aligned, extents that only the run
 * finds, a value that several places hold) the device copies within itself. What is made or read on
 * the host is copied to it, or from it.
 */
#ifndef TENON_CORE_CONTEXT_LENT_H_
#define TENON_CORE_CONTEXT_LENT_H_

#include "core/context/context_state.h"

/* Where the main graph's inputs and outputs cross between the host and the plan's device. Nothing
 * is lent yet. OUT_OF_MEMORY only. */
tenon_status_t tenon__context_create_lent(tenon__context_t* context);
/* The input's tensor is in the device's memory, as it was set: dense rows. INVALID_STATE where the
 * plan has no device of its own. */
tenon_status_t tenon__context_lend_input(tenon__context_t* context, uint32_t index, void* data);
tenon_status_t tenon__context_lend_output(tenon__context_t* context, uint32_t index, void* data);
/* It is the host's again. */
void tenon__context_return_input(tenon__context_t* context, uint32_t index);
void tenon__context_return_output(tenon__context_t* context, uint32_t index);
/* For this run: the input is where its readers look for it. */
tenon_status_t tenon__context_take_lent(tenon__context_t* context, uint32_t index);
/* Likewise the output, if the device makes it: true in *out_is_placed. Otherwise it is to be made
 * on the host. */
void tenon__context_place_lent(tenon__context_t* context, uint32_t index, bool* out_is_placed);
/* A result that was made on the host, to where it belongs. Done when it returns. */
tenon_status_t tenon__context_send_lent(tenon__context_t* context, uint32_t index,
                                        const tenon_tensor_view_t* result);
/* Does a run leave nothing for the host to do or to wait for? */
bool tenon__context_is_all_lent(const tenon__context_t* context);
/* After a run: will another be one replay, and nothing else that has to be found out, as long as
 * nobody sets anything? Who sets something clears `is_steady`. */
void tenon__context_find_steady(tenon__context_t* context);
bool tenon__context_is_steady(const tenon__context_t* context);

#endif
