/*
 * Places of states and of their next values in a schedule: in the memory of the device that
 * computes the next value, so that nothing is copied between runs.
 */
#ifndef TENON_CORE_SCHEDULE_STATE_PLACES_H_
#define TENON_CORE_SCHEDULE_STATE_PLACES_H_

#include "core/schedule/scheduling.h"

/* Returns the number of the device for state `k`: the one that computes its next value, or the
 * first that reads it if no step does. The host if its elements are extents of other values. */
uint32_t tenon__scheduling_state_space(const scheduling_t* s, uint32_t k);
/* Returns the first state whose next value is the value. Its producer writes it there, row-major
 * and in its own type. TENON_NONE if there is none, or it is in another memory. */
uint32_t tenon__scheduling_state_of(const scheduling_t* s, uint32_t value, uint32_t space);
/* Called when all steps exist. Next values that are not written to their states are copied on their
 * device; those of the host are read after the run. */
tenon_status_t tenon__scheduling_place_updates(scheduling_t* s);

#endif
