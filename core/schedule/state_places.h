/*
 * Where states lie in a schedule, and what they become: in the memory of the device that makes it,
 * so that nothing is copied between runs.
 */
#ifndef TENON_CORE_SCHEDULE_STATE_PLACES_H_
#define TENON_CORE_SCHEDULE_STATE_PLACES_H_

#include "core/schedule/scheduling.h"

/* Number of the device in whose memory state `k` lies: where what it becomes is made; where it is
 * read first, if nothing makes that. The host's, where its numbers are extents elsewhere. */
uint32_t tenon__scheduling_state_space(const scheduling_t* s, uint32_t k);
/* The state that becomes the value: it is written there by whoever makes it, in rows and in its own
 * type. TENON_NONE where it is none, or lies in another memory; of several the first. */
uint32_t tenon__scheduling_state_of(const scheduling_t* s, uint32_t value, uint32_t space);
/* When all steps are there: what states become and was not written there is copied, on their
 * device; the host's is read when the run is over. */
tenon_status_t tenon__scheduling_place_updates(scheduling_t* s);

#endif
