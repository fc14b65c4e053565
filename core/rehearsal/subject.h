/* The region whose candidates are tried and compared, and the build that does it. */
#ifndef TENON_CORE_REHEARSAL_SUBJECT_H_
#define TENON_CORE_REHEARSAL_SUBJECT_H_

#include "core/timing/conversion.h"
#include "core/timing/tuning.h"

/* Finds the kernel for a region of one node: the preferred, or the first reference kernel.
 * *out_candidate NULL: none. */
typedef tenon_status_t (*tenon__ask_node_t)(tenon__tuning_t* tuning, struct tenon_region_t* region,
                                            bool by_reference,
                                            const tenon__candidate_t** out_candidate);

/* Borrowed. */
typedef struct tenon__subject_t {
  tenon__tuning_t* tuning;
  struct tenon_region_t* region;
  const tenon__kernel_entry_t* claimant; /* only this kernel is asked; NULL: all */
  const tenon__conversion_t* conversion; /* of a copy; NULL: the tactics' own rules */
  tenon__ask_node_t ask_node;            /* for the region's definition, node by node */
} tenon__subject_t;

#endif
