/*
 * Upper bound of an alternative's saving: the time of the units that it replaces, less its own
 * time. Alternatives that cannot save time are not tried. The bound is optimistic on purpose,
 * because the cost of a whole graph is expensive to compute.
 */
#ifndef TENON_CORE_CHOICE_SAVINGS_H_
#define TENON_CORE_CHOICE_SAVINGS_H_

#include "core/choice/coverings.h"
#include "core/fusion/alternatives.h"

/* The times are not comparable, and the alternative's is more reliable. */
#define TENON_CERTAIN_SAVING 1e30

/* A covering indexed by node. Borrowed from the covering and stored in the given arena. */
typedef struct covered_t {
  const covering_t* covering;
  uint32_t node_count;
  uint32_t* unit_of; /* of each node: its unit; TENON_NONE if that is no region */
} covered_t;

tenon_status_t tenon__covering_by_nodes(const covering_t* covering, uint32_t node_count,
                                        tenon__arena_t* arena, covered_t* out_covered);
/* Saving in seconds if the class is taken wherever possible and the remainders of the affected
 * units cost nothing. Below 0 if it cannot pay. Overlapping regions count once. */
tenon_status_t tenon__saving_of_class(const alternatives_t* a, const covered_t* best,
                                      uint32_t class_index, tenon__arena_t* arena,
                                      double* out_saving);
/* Saving in seconds if the nodes of the fusion stay separate everywhere; 0 if the fusion is not
 * used. */
tenon_status_t tenon__saving_of_fusion(const alternatives_t* a, const covering_t* best,
                                       uint32_t index, tenon__arena_t* arena, double* out_saving);

#endif
