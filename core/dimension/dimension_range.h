/* Interval arithmetic: the least and the largest value of a node, cut to what int64 holds. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_RANGE_H_
#define TENON_CORE_DIMENSION_DIMENSION_RANGE_H_

#include "core/dimension/dimension.h"
#include "core/dimension/dimension_node.h"

/* From the ranges of the operands as they are in the pool; the node need not be in it. A bound
 * beyond int64 is cut, as no value lies there. */
void tenon__dim_compute_range(const tenon__dim_pool_t* pool, const tenon__dim_node_t* node,
                              int64_t* out_min, int64_t* out_max);
/* Bounds of a sum, term by term. A partial sum beyond int64 leaves that side open for good. */
typedef struct tenon__bounds_t {
  int64_t low;
  int64_t high;
  bool low_open;
  bool high_open;
} tenon__bounds_t;
/* Adds one term's bounds. Begins with all zero. */
void tenon__bounds_add(tenon__bounds_t* bounds, int64_t low, int64_t high);
/* [low, high] times [other_low, other_high], cut to int64; true when it had to be cut. */
bool tenon__bounds_multiply(int64_t* inout_low, int64_t* inout_high, int64_t other_low,
                            int64_t other_high);

#endif
