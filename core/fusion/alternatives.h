/*
 * Alternatives to the plain covering of a graph. In the plain covering, each operator fuses as much
 * adjacent arithmetic as a kernel has slots for, and expressions are fused as far as possible. All
 * locations in the network with the same alternative are decided together:
 *
 *   claims     multi-node matches: nodes that one kernel computes at once, or one node with an
 *              expression that kernels compute by its operator's name
 *   fusions    epilogues and prologues, which may stay separate, or be shorter
 *
 * Common decisions keep the search small, because a network has many nodes of few kinds, and make
 * equal layers equal in the plan.
 */
#ifndef TENON_CORE_FUSION_ALTERNATIVES_H_
#define TENON_CORE_FUSION_ALTERNATIVES_H_

#include "core/fusion/grouping.h"

/* One location. Nodes and region are in the tuning's arena. Claims may overlap: the class that is
 * first in `taken` gets the nodes. */
typedef struct claim_t {
  uint32_t class_index;
  uint32_t node_count;
  const uint32_t* nodes; /* the main one first */
  struct tenon_region_t* region;
} claim_t;

/* Claims with equal regions. `candidates` may be empty: then no kernel accepts it, and its refusals
 * are reported. */
typedef struct claim_class_t {
  const tenon__kernel_entry_t* entry; /* NULL: all kernels that name the operator */
  const tenon__candidates_t* candidates;
  struct tenon_region_t* region; /* of the first location */
  /* Seconds of the whole graph with and without it in the last comparison; 0: never compared. */
  double with_seconds;
  double without_seconds;
} claim_class_t;

/* An operator with the longest epilogue, or the longest prologue of one input, that a kernel
 * accepts. A prologue's operator has its epilogue already. `fused` is never empty. limit 0: the
 * operator is not fused. Prologues begin with 0, because a kernel may compute its input repeatedly
 * or store it first, so a prologue must be measured to be faster. An epilogue costs almost
 * nothing. */
typedef struct fusion_t {
  const tenon__candidates_t* fused;
  uint32_t base_count;  /* number of the operator's nodes, for a prologue with its epilogue's */
  uint32_t node_count;  /* of the chain after the operator, or before it */
  uint32_t first_limit; /* initial limit */
  uint32_t limit;       /* maximum number of fused nodes; TENON_NONE: all */
  tenon__time_t apart;  /* the operator, then the chain in one step; no figure: not requested */
  double fused_seconds; /* of the whole covering, with copies, in the last trial; 0: never tried */
  double apart_seconds;
} fusion_t;

/* The alternatives of one graph, in order of discovery, which is the network's and decides ties. It
 * owns the tables, which move when they grow; indices stay valid. */
typedef struct alternatives_t {
  tenon_allocator_t allocator;
  claim_t* claims;
  uint32_t claim_count;
  size_t claim_capacity;
  claim_class_t* classes;
  uint32_t class_count;
  size_t class_capacity;
  tenon__string_map_t class_index; /* key of the region -> class */
  uint32_t* taken;                 /* classes, in order of precedence; has space for all */
  uint32_t taken_count;
  fusion_t* fusions;
  uint32_t fusion_count;
  size_t fusion_capacity;
  tenon__string_map_t fusion_index; /* key of the fused region -> fusion */
} alternatives_t;

void tenon__alternatives_initialize(alternatives_t* out_alternatives, tenon_allocator_t allocator);
void tenon__alternatives_deinitialize(alternatives_t* alternatives);
/* Adds a claim to the class with the same region. Candidates are searched for the first one of a
 * class, which may measure. A claim whose kernel refuses is kept for the report. The region is
 * finished here and gets the claimant. `claim` is copied and its class_index set. */
tenon_status_t tenon__alternatives_add_claim(grouping_t* grouping,
                                             const tenon__kernel_entry_t* entry, claim_t* claim);
/* Returns the fusion of this key; TENON_NONE if it is new. */
uint32_t tenon__alternatives_find_fusion(const alternatives_t* alternatives, const char* key);
/* Adds a fusion; the key must be new. Returns OUT_OF_MEMORY only, without a message. */
tenon_status_t tenon__alternatives_add_fusion(alternatives_t* alternatives, const char* key,
                                              fusion_t fusion, uint32_t* out_index);

/* Resets all classes and fusions, and updates times. Claims stay. Called after a second
 * measurement: the choice then restarts, so that it depends only on the times. */
tenon_status_t tenon__alternatives_renew(tenon__tuning_t* tuning, alternatives_t* alternatives);

#endif
