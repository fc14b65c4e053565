/*
 * States: what a context keeps from one execution to the next, in the memory of the device whose
 * steps make it. A run reads the values of before it and leaves new ones when all its steps have
 * succeeded; where a step writes them over the old ones, it leaves what it had written.
 */
#ifndef TENON_CORE_CONTEXT_STATES_H_
#define TENON_CORE_CONTEXT_STATES_H_

#include "core/context/context_state.h"

/* NOT_FOUND for a name that is none; INVALID_ARGUMENT for another size than the state's. Between
 * runs; done when they return. */
tenon_status_t tenon__context_read_state(tenon__context_t* context, const char* name,
                                         void* out_data, size_t size_bytes);
tenon_status_t tenon__context_write_state(tenon__context_t* context, const char* name,
                                          const void* data, size_t size_bytes);
/* To their initial values, zeros where there are none. */
tenon_status_t tenon__context_reset_states(tenon__context_t* context);
/* INVALID_ARGUMENT for a context of another engine; neither may be running. */
tenon_status_t tenon__context_clone_states(tenon__context_t* context,
                                           const tenon__context_t* source);

/* When spaces are there, and no frames yet. Freed before spaces end. */
tenon_status_t tenon__context_create_states(tenon__context_t* context);
void tenon__context_free_states(tenon__context_t* context);
/* When all of a run is done. States may exchange their values. */
tenon_status_t tenon__context_update_states(tenon__context_t* context);

/* Of a run that failed: warns of states that steps may have written over. */
void tenon__context_tell_of_states(const tenon__context_t* context);

/* Has the host nothing to do with them when a run is over? */
bool tenon__context_states_stay(const tenon__context_t* context);

#endif
