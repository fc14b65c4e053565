/*
 * Do two kernels compute the same? Their outputs, compared element by element. A wrong kernel is
 * wrong by a share of the result, a right one by roundings: the tolerance lies between the two, and
 * follows from element type, arithmetic and length of sums. It knows no operator.
 */
#ifndef TENON_CORE_REHEARSAL_DIFFERENCE_H_
#define TENON_CORE_REHEARSAL_DIFFERENCE_H_

#include <stdbool.h>

#include "core/region/region.h"

/* Elements a and b agree when |a - b| <= relative * max(|a|, |b|) + absolute, or both are the same
 * infinity, or both are NaN. All three are 0 for integers and strings, but `share` where a rounding
 * may tip a float over a step (floor, a comparison, a cast to an integer). */
typedef struct tenon__tolerance_t {
  double relative;
  double absolute;
  double share; /* of all elements, that may differ by any amount */
} tenon__tolerance_t;

/* `first` and `second` are the elements at `at`; of strings their sizes. */
typedef struct tenon__difference_t {
  uint64_t count; /* elements beyond the tolerance; 0: the tensors agree, or differ in extents */
  uint64_t total;
  bool is_shape; /* they differ in extents: nothing else is said */
  uint64_t at;   /* where the difference is largest, counted in rows */
  uint64_t from; /* the first that differs, and the last */
  uint64_t to;
  double first;
  double second;
} tenon__difference_t;

/* How somebody made an output: by which arithmetic, and in which type it was stored before it was
 * compared; UNDEFINED: its own. */
typedef struct tenon__making_t {
  const tenon_numerics_t* numerics;
  tenon_dtype_t stored;
} tenon__making_t;

/* By how much two right answers for output `index` may differ. `magnitude`: the largest in it. How
 * many terms an element sums up is guessed from the extents: [m, k] by [k, n] gives sqrt(mk kn /
 * mn) = k. The numerics say accumulator and products; where they say nothing it is f32 arithmetic.
 */
tenon__tolerance_t tenon__tolerance_of(const struct tenon_region_t* region, uint32_t index,
                                       double magnitude, tenon__making_t first,
                                       tenon__making_t second);
/* The largest finite magnitude in a tensor; 0 for strings. */
double tenon__tensor_magnitude(const tenon_tensor_view_t* view);
/* True when they differ by more than the tolerance. Extents and types that differ are a difference,
 * whatever the tolerance. Any strides; both tensors are read once. */
bool tenon__tensors_differ(const tenon_tensor_view_t* first, const tenon_tensor_view_t* second,
                           const tenon__tolerance_t* tolerance,
                           tenon__difference_t* out_difference);

#endif
