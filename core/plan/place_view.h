/* Where a place's elements lie: dims and strides of a tensor at given extents, views resolved. */
#ifndef TENON_CORE_PLAN_PLACE_VIEW_H_
#define TENON_CORE_PLAN_PLACE_VIEW_H_

#include "core/plan/plan.h"

/* Where one graph's places are looked for. On the caller's stack, borrowed. */
typedef struct tenon__placement_t {
  const tenon__network_t* network;
  uint32_t graph;
  const tenon__schedule_t* schedule; /* of the graph */
  const tenon__extents_t* extents;
  /* Of the place at the root of a view, when it is not dense in its own order (memory of the
   * application); NULL otherwise. */
  const int64_t* root_strides;
} tenon__placement_t;

/* Dims, strides (in elements) and the offset from the first element of the root's memory.
 * INVALID_STATE when an extent is unknown, UNSUPPORTED when a linear view does not fit its base's
 * strides, INVALID_DATA when an extent is negative or a view leaves its base. Silent; who calls
 * knows the step. `out_dims` and `out_strides` have an entry for each axis of the place's value.
 * The view [i1, i0] of rows [2, 3] has dims [3, 2] and strides [1, 3]. Allocates nothing. */
tenon_status_t tenon__place_strides(const tenon__placement_t* placement, uint32_t place,
                                    int64_t* out_dims, int64_t* out_strides, int64_t* out_offset);

#endif
