/* A region with the candidate that was picked for it. */
#ifndef TENON_CORE_CANDIDATE_CHOSEN_H_
#define TENON_CORE_CANDIDATE_CHOSEN_H_

#include "core/timing/tuning.h"

/* One region chosen for the plan, with its candidate. `candidates` is NULL until layouts are
 * chosen, and shared with all regions of the same signature; `pick` becomes invalid when they are
 * sorted again. */
typedef struct tenon__chosen_t {
  struct tenon_region_t* region;
  const tenon__candidates_t* candidates;
  uint32_t pick;         /* of candidates */
  const uint32_t* order; /* of the dimensions of output 0 in memory; NULL: row-major */
  bool is_forbidden;     /* it and all others require types that its values must not have */
  const char* notes;     /* lines about rejected larger steps; may be NULL */
} tenon__chosen_t;

#endif
