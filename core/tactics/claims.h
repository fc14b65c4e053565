/* Steps of several operators. */
#ifndef TENON_CORE_TACTICS_CLAIMS_H_
#define TENON_CORE_TACTICS_CLAIMS_H_

#include "core/tactics/grouping.h"

typedef struct claim_t {
  uint32_t node_count;
  uint32_t nodes[GROUP_MOST_NODES]; /* the main one first */
  struct tenon_region_t* region;
  const tenon__kernel_entry_t* entry;
  tenon__time_t together;
  tenon__time_t apart;
  double saved_seconds; /* 0 where the two times do not compare */
} claim_t;

typedef struct claims_t {
  grouping_t* grouping;
  claim_t* items;
  uint32_t count;
  size_t capacity;
  struct tenon_region_t* whole; /* the graph, for those who propose */
} claims_t;

static inline covering_t claim_covering(const claim_t* claim) {
  return (covering_t){claim->nodes, claim->node_count, claim->entry, claim->together, claim->apart};
}

static inline bool claim_holds(const claim_t* claim, uint32_t node) {
  for (uint32_t k = 0; k < claim->node_count; ++k) {
    if (claim->nodes[k] == node) {
      return true;
    }
  }
  return false;
}

/* Groups operators' nodes that one kernel computes at once, where that is not slower. After each
 * operator has a group, before epilogues. */
tenon_status_t tenon__claims_make(grouping_t* grouping);
/* Takes, of all claims, those that save the most together. */
tenon_status_t tenon__claims_choose(claims_t* claims);

#endif
