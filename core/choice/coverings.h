/*
 * A covering: a graph's units with tactics and layouts, and what the whole of it costs. Two of them
 * are compared by that; what they have in common says nothing for either.
 */
#ifndef TENON_CORE_CHOICE_COVERINGS_H_
#define TENON_CORE_CHOICE_COVERINGS_H_

#include "core/base/arena.h"
#include "core/fusion/grouping.h"
#include "core/fusion/unit.h"
#include "core/timing/tuning.h"

/* Everything of it goes with its arena, so that what was tried and was no better costs nothing
 * afterwards. */
typedef struct covering_t {
  tenon__arena_t* arena;
  tenon__units_t units;
  tenon__copies_t copies;
  double seconds;              /* steps and copies */
  uint32_t step_count;         /* likewise */
  const tenon__unit_t** parts; /* units that are regions, alike ones together */
  uint32_t part_count;
} covering_t;

/* As the alternatives stand. Groups, candidates, layouts and their cost: linear in the network but
 * for layouts, which are swept a few times. */
tenon_status_t tenon__covering_make(grouping_t* grouping, tenon__arena_t* arena,
                                    covering_t* out_covering);

/* What tenon__covering_compare comes to. */
typedef enum opinion_t { OPINION_KEEP, OPINION_CHANGE, OPINION_LOOK_AGAIN } opinion_t;

/* Is `other` better than `own`? It has to be faster by more than the noise of what differs, or no
 * slower in fewer steps. LOOK_AGAIN: it seems to be, by times that were measured but once,
 * and may be measured again. What was disturbed whenever it was measured says nothing against
 * `own`. */
opinion_t tenon__covering_compare(const covering_t* own, const covering_t* other,
                                  bool may_look_again);
/* Takes the second look at what differs. Times change: all coverings are void. */
tenon_status_t tenon__covering_look_again(tenon__tuning_t* tuning, const covering_t* own,
                                          const covering_t* other);

#endif
