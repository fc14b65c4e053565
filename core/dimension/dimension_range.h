/* Interval arithmetic: the minimum and maximum value of a node, saturated to int64. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_RANGE_H_
#define TENON_CORE_DIMENSION_DIMENSION_RANGE_H_

#include "core/dimension/dimension.h"
#include "core/dimension/dimension_node.h"

/* Computes the range from the operands' ranges in the pool; the node itself need not be in it.
 * Bounds beyond int64 are saturated, as no value is there. */
void tenon__dim_compute_range(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                              int64_t* out_min, int64_t* out_max);
/* Bounds of a sum, term by term. If a partial sum overflows int64, that side stays open. */
typedef struct tenon__bounds_t {
  int64_t low;
  int64_t high;
  bool low_open;
  bool high_open;
} tenon__bounds_t;
/* Adds one term's bounds. Start with all zeros. */
void tenon__bounds_add(tenon__bounds_t* bounds, int64_t low, int64_t high);
/* Multiplies [low, high] by [other_low, other_high], saturated to int64. Returns true if it was
 * saturated. */
bool tenon__bounds_multiply(int64_t* inout_low, int64_t* inout_high, int64_t other_low,
                            int64_t other_high);

#endif
