/*
 * What an alternative could save at best: how much of a covering it touches, less its own time.
 * What cannot save is not tried. Optimistic by intent: an alternative that cannot save even so need
 * not be costed with the whole graph, which is dear.
 */
#ifndef TENON_CORE_CHOICE_SAVINGS_H_
#define TENON_CORE_CHOICE_SAVINGS_H_

#include "core/choice/coverings.h"
#include "core/fusion/alternatives.h"

/* Times that do not compare, and the alternative's is the better known. */
#define TENON_CERTAIN_SAVING 1e30

/* A covering by nodes. Borrowed from the covering, in the arena that it was made in. */
typedef struct covered_t {
  const covering_t* covering;
  uint32_t node_count;
  uint32_t* unit_of; /* of each node: its unit, TENON_NONE where that is no region */
} covered_t;

tenon_status_t tenon__covering_by_nodes(const covering_t* covering, uint32_t node_count,
                                        tenon__arena_t* arena, covered_t* out_covered);
/* If the class were taken wherever it can be, and what it leaves of the units there cost nothing;
 * below 0 where it cannot pay. Overlapping places count once. Seconds. */
tenon_status_t tenon__saving_of_class(const alternatives_t* a, const covered_t* best,
                                      uint32_t class_index, tenon__arena_t* arena,
                                      double* out_saving);
/* If its nodes stayed apart wherever it is made; 0 where it is nowhere. */
tenon_status_t tenon__saving_of_fusion(const alternatives_t* a, const covering_t* best,
                                       uint32_t index, tenon__arena_t* arena, double* out_saving);

#endif
