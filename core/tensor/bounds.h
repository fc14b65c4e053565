/* Which elements strides reach: views that a plan describes are checked against the memory that
 * they lie in, since a plan may come from anybody. */
#ifndef TENON_CORE_TENSOR_BOUNDS_H_
#define TENON_CORE_TENSOR_BOUNDS_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* A tensor with these dims and strides, whose first element is number `offset`. */
typedef struct tenon__reach_t {
  uint32_t rank;
  const int64_t* dims;
  const int64_t* strides;
  int64_t offset;
} tenon__reach_t;

/* Does `inner` touch no element outside of those between the first and the last that `outer`
 * touches? False too when an extent is negative or a product overflows. A tensor without elements
 * lies anywhere. */
bool tenon__reach_within(const tenon__reach_t* inner, const tenon__reach_t* outer);
/* *inout_sum += a * b; false on overflow. */
bool tenon__add_product(int64_t a, int64_t b, int64_t* inout_sum);

#endif
