/*
 * States: what a context keeps from one execution to the next. A run reads the values of before it
 * and leaves new ones when all its steps have succeeded.
 */
#ifndef TENON_CORE_RUNTIME_STATES_H_
#define TENON_CORE_RUNTIME_STATES_H_

#include "core/runtime/state.h"

/* The state's memory, dense rows, to be read and written between runs; valid for the context's
 * life. NOT_FOUND names it. */
tenon_status_t tenon__context_state(tenon__context_t* context, const char* name, void** out_data,
                                    size_t* out_size);
/* To their initial values, zeros where there are none. */
void tenon__context_reset_states(tenon__context_t* context);
/* INVALID_ARGUMENT for a context of another engine; neither may be running. */
tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source);

/* States: memory, and their new values after a run. An update that is another state, or a view of
 * one, gets memory aside, so that states may exchange their values. */
tenon_status_t tenon__context_create_states(tenon__context_t* context);
void tenon__context_free_states(tenon__context_t* context);
tenon_status_t tenon__context_update_states(tenon__context_t* context);

#endif
