/* The steps from which each step of a schedule reads. */
#ifndef TENON_SDK_LIBRARY_STEP_SOURCES_H_
#define TENON_SDK_LIBRARY_STEP_SOURCES_H_

#include "core/base/arena.h"
#include "core/plan/plan.h"

/* Numbers of steps in ascending order. */
typedef struct tenon__step_sources_t {
  uint32_t count;
  uint32_t* steps;
} tenon__step_sources_t;

/* Fills in one element of `out_sources` for each step of the schedule. `first` is the number of the
 * schedule's first step. The only error is OUT_OF_MEMORY. */
tenon_status_t tenon__step_sources_find(const tenon__schedule_t* schedule, uint32_t first,
                                        tenon__arena_t* arena, tenon__step_sources_t* out_sources);

#endif /* TENON_SDK_LIBRARY_STEP_SOURCES_H_ */
