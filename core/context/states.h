/*
 * States: values that a context keeps between executions, in the memory of the device whose steps
 * compute them. A run reads the old values and sets new ones when all its steps have succeeded. If
 * steps overwrite a state in place and the run fails, the state has the values written so far.
 */
#ifndef TENON_CORE_CONTEXT_STATES_H_
#define TENON_CORE_CONTEXT_STATES_H_

#include "core/context/context_state.h"

/* Copy a state, between runs. The copy is complete when they return. Return NOT_FOUND for an
 * unknown name, and INVALID_ARGUMENT if the size differs from the state's. */
tenon_status_t tenon__context_read_state(tenon__context_t* context, const char* name,
                                         void* out_data, size_t size_bytes);
tenon_status_t tenon__context_write_state(tenon__context_t* context, const char* name,
                                          const void* data, size_t size_bytes);
/* Resets all states to their initial values, or to zeros if there are none. */
tenon_status_t tenon__context_reset_states(tenon__context_t* context);
/* Copies all states from `source`; neither context may be running. Returns INVALID_ARGUMENT for a
 * context of another engine. */
tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source);

/* Creates the states after spaces and before frames. Free them before the spaces. */
tenon_status_t tenon__context_create_states(tenon__context_t* context);
void tenon__context_free_states(tenon__context_t* context);
/* Updates the states after a run. States may exchange their values. */
tenon_status_t tenon__context_update_states(tenon__context_t* context);

/* After a failed run: warns of states that steps may have overwritten. */
void tenon__context_tell_of_states(const tenon__context_t* context);

/* Returns true if the host has no work for them after a run. */
bool tenon__context_states_stay(const tenon__context_t* context);

#endif
