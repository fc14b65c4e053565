/*
 * A covering is a partition of a graph into units with tactics and layouts, and its total cost. Two
 * coverings are compared by their costs; units that both contain cancel out.
 */
#ifndef TENON_CORE_CHOICE_COVERINGS_H_
#define TENON_CORE_CHOICE_COVERINGS_H_

#include "core/base/arena.h"
#include "core/fusion/grouping.h"
#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* All its data are freed with its arena, so a rejected covering leaves no memory behind. */
typedef struct covering_t {
  tenon__arena_t* arena;
  tenon__units_t units;
  tenon__copies_t copies;
  double seconds;              /* of steps and copies */
  uint32_t step_count;         /* steps and copies */
  const tenon__unit_t** parts; /* units that are regions; equal ones are adjacent */
  uint32_t part_count;
} covering_t;

/* Makes the covering of the current alternatives: groups, candidates, layouts and their cost. The
 * work is linear in the network, except that layouts take a few sweeps. */
tenon_status_t tenon__covering_make(grouping_t* grouping, tenon__arena_t* arena,
                                    covering_t* out_covering);

/* The result of tenon__covering_compare. */
typedef enum opinion_t { OPINION_KEEP, OPINION_CHANGE, OPINION_LOOK_AGAIN } opinion_t;

/* Returns CHANGE if `other` is better than `own`: it is faster by more than the noise of the units
 * that differ, or it is not slower and has fewer steps. Returns LOOK_AGAIN if it seems better, but
 * by times that were measured only once and may be measured again. Units that were disturbed in
 * each measurement do not count against `own`. */
opinion_t tenon__covering_compare(const covering_t* own, const covering_t* other,
                                  bool may_look_again);
/* Measures the units that differ once more. Times change, so all coverings become invalid. */
tenon_status_t tenon__covering_look_again(tenon__tuning_t* tuning, const covering_t* own,
                                          const covering_t* other);

#endif
