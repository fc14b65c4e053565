/* States: what a context keeps from one execution to the next. */
#ifndef TENON_CORE_RUNTIME_STATES_H_
#define TENON_CORE_RUNTIME_STATES_H_

#include "core/runtime/state.h"

tenon_status_t tenon__context_state(tenon__context_t* context, const char* name, void** out_data,
                                    size_t* out_size);
void tenon__context_reset_states(tenon__context_t* context);
tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source);

/* States: memory, and their new values after a run. */
tenon_status_t tenon__context_create_states(tenon__context_t* context);
void tenon__context_free_states(tenon__context_t* context);
tenon_status_t tenon__context_update_states(tenon__context_t* context);

#endif
