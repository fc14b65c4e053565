/* Where a place's elements lie: dims and strides of a tensor at given extents, views resolved. */
#ifndef TENON_CORE_PLAN_PLACE_VIEW_H_
#define TENON_CORE_PLAN_PLACE_VIEW_H_

#include "core/plan/plan.h"

/* Dims, strides (in elements) and the offset from the first element of the root's memory.
 * `root_strides`: of the root place, when it is not dense in its own order (memory of the
 * application); NULL otherwise. INVALID_STATE when an extent is unknown, UNSUPPORTED when a linear
 * view does not fit its base's strides, INVALID_DATA when an extent is negative or a view leaves
 * its base. */
tenon_status_t tenon__place_strides(const tenon__network_t* network, uint32_t graph,
                                    const tenon__schedule_t* schedule, uint32_t place,
                                    const tenon__extents_t* extents, const int64_t* root_strides,
                                    int64_t* out_dims, int64_t* out_strides, int64_t* out_offset);

#endif
