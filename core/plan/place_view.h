/* Location of a place's elements: dims and strides of a tensor at given extents, with views
 * resolved. */
#ifndef TENON_CORE_PLAN_PLACE_VIEW_H_
#define TENON_CORE_PLAN_PLACE_VIEW_H_

#include "core/plan/plan.h"

/* The arguments for places of one graph. On the caller's stack, borrowed. */
typedef struct tenon__placement_t {
  const tenon__network_t* network;
  uint32_t graph;
  const tenon__schedule_t* schedule; /* of the graph */
  const tenon__extents_t* extents;
  /* Strides of the place at the root of a view if it is not contiguous in its own order (memory of
   * the application), else NULL. */
  const int64_t* root_strides;
} tenon__placement_t;

/* Computes dims, strides (in elements) and the offset from the first element of the root's memory.
 * Returns INVALID_STATE if an extent is unknown, UNSUPPORTED if a linear view does not fit its
 * base's strides, and INVALID_DATA if an extent is negative or a view exceeds its base. Sends no
 * message, because the caller knows the step. `out_dims` and `out_strides` have an entry for each
 * axis of the place's value. The view [i1, i0] of rows [2, 3] has dims [3, 2] and strides [1, 3].
 * Allocates nothing. */
tenon_status_t tenon__place_strides(const tenon__placement_t* placement, uint32_t place,
                                    int64_t* out_dims, int64_t* out_strides, int64_t* out_offset);

#endif
