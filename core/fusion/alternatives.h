/*
 * What could be done with a graph's nodes beside the plain covering, in which each operator takes
 * the longest neighbours' arithmetic that a kernel has a slot for, and expressions run together as
 * far as they can. All places in the network where the same question arises are decided together:
 *
 *   claims     nodes that one kernel computes at once, or one node with an expression that kernels
 *              compute by its operator's name
 *   fusions    epilogues and prologues, which may stay apart, or be shorter
 *
 * Deciding alike keeps the search small (a network has many nodes and few kinds of them),
 * and makes equal layers equal in the plan.
 */
#ifndef TENON_CORE_FUSION_ALTERNATIVES_H_
#define TENON_CORE_FUSION_ALTERNATIVES_H_

#include "core/fusion/grouping.h"

/* One place. Nodes and region lie in the tuning's arena. Claims may overlap: whichever class comes
 * first in `taken` has its nodes. */
typedef struct claim_t {
  uint32_t class_index;
  uint32_t node_count;
  const uint32_t* nodes; /* the main one first */
  struct tenon_region_t* region;
} claim_t;

/* Equal regions, claimed alike. `candidates` may be empty: then nobody takes it, and its refusals
 * go to the report. */
typedef struct claim_class_t {
  const tenon__kernel_entry_t* entry; /* NULL: all kernels that name the operator */
  const tenon__candidates_t* candidates;
  struct tenon_region_t* region; /* of the first place */
  /* The whole with and without it, when that was last compared; 0: it never was worth a look. */
  double with_seconds;
  double without_seconds;
} claim_class_t;

/* An operator with the longest epilogue, or the longest prologue of one input, that a kernel takes.
 * A prologue's operator has its epilogue already. `fused` is never empty. limit 0: the operator
 * stays alone. That is where prologues begin: a kernel may make what it reads more than once, or
 * put it somewhere first, so one has to prove itself, where an epilogue costs next to nothing. */
typedef struct fusion_t {
  const tenon__candidates_t* fused;
  uint32_t
      base_count; /* of the operator's nodes, its epilogue's among them where this is a prologue */
  uint32_t node_count;  /* of the chain behind the operator, or before it */
  uint32_t first_limit; /* before anything was decided */
  uint32_t limit;       /* the most of them that may be taken; TENON_NONE: all */
  tenon__time_t apart;  /* the operator, then the chain in one step; no figure: nobody asked */
  double fused_seconds; /* of the whole covering, with copies, when it was last tried; 0: never */
  double apart_seconds;
} fusion_t;

/* Of one graph, in the order in which they were found, which is the network's: ties are broken by
 * it. Tables are its own and move as they grow; indices hold. */
typedef struct alternatives_t {
  tenon_allocator_t allocator;
  claim_t* claims;
  uint32_t claim_count;
  size_t claim_capacity;
  claim_class_t* classes;
  uint32_t class_count;
  size_t class_capacity;
  tenon__string_map_t class_index; /* key of the region -> class */
  uint32_t* taken;                 /* classes, in order of precedence; room for all */
  uint32_t taken_count;
  fusion_t* fusions;
  uint32_t fusion_count;
  size_t fusion_capacity;
  tenon__string_map_t fusion_index; /* key of the fused region -> fusion */
} alternatives_t;

void tenon__alternatives_initialize(alternatives_t* out_alternatives, tenon_allocator_t allocator);
void tenon__alternatives_deinitialize(alternatives_t* alternatives);
/* The place is one of those with the same region; candidates are looked for when it is the first. A
 * claim whose kernel refuses is kept, for the report. The region is finished here, and gets the
 * claimant. `claim` is copied, its class_index set. Finding candidates may measure. */
tenon_status_t tenon__alternatives_add_claim(grouping_t* grouping,
                                             const tenon__kernel_entry_t* entry, claim_t* claim);
/* The fusion of this key; TENON_NONE when it is new. */
uint32_t tenon__alternatives_find_fusion(const alternatives_t* alternatives, const char* key);
/* The key must be new. OUT_OF_MEMORY only; silent. */
tenon_status_t tenon__alternatives_add_fusion(alternatives_t* alternatives, const char* key,
                                              fusion_t fusion, uint32_t* out_index);

/* No class is taken, fusions are found anew, and times are as they are now. Claims stay. Called
 * when times were measured again: the choice then begins anew, so that it depends on times and not
 * on the way there. */
tenon_status_t tenon__alternatives_renew(tenon__tuning_t* tuning, alternatives_t* alternatives);

#endif
