/* A region with the candidate that was picked for it. */
#ifndef TENON_CORE_CANDIDATE_CHOSEN_H_
#define TENON_CORE_CANDIDATE_CHOSEN_H_

#include "core/timing/tuning.h"

/* One region chosen for the plan, and with whom. `candidates` is NULL until layouts are chosen, and
 * shared with all regions of the same signature; `pick` is void when they are sorted anew. */
typedef struct tenon__chosen_t {
  struct tenon_region_t* region;
  const tenon__candidates_t* candidates;
  uint32_t pick;         /* of candidates */
  const uint32_t* order; /* of the dimensions of output 0 in memory; NULL: row-major */
  bool is_forbidden;     /* it asks for types that its values must not be in, and all others do */
  const char* notes;     /* lines about larger steps that were not taken; NULL */
} tenon__chosen_t;

#endif
