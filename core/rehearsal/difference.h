/*
 * Comparison of two kernels' outputs, element by element. A wrong kernel differs by a fraction of
 * the result, a correct one by roundings. The tolerance is between the two and follows from element
 * type, arithmetic and length of sums. It depends on no operator.
 */
#ifndef TENON_CORE_REHEARSAL_DIFFERENCE_H_
#define TENON_CORE_REHEARSAL_DIFFERENCE_H_

#include <stdbool.h>

#include "core/region/region.h"

/* Elements a and b agree when |a - b| <= relative * max(|a|, |b|) + absolute, or both are the same
 * infinity, or both are NaN. All are 0 for integers and strings, except `share` if a rounding may
 * change a discrete result (floor, a comparison, a cast to an integer). */
typedef struct tenon__tolerance_t {
  double relative;
  double absolute;
  double share; /* fraction of all elements that may differ by any amount */
} tenon__tolerance_t;

/* `first` and `second` are the elements at `at`; for strings, their sizes. */
typedef struct tenon__difference_t {
  uint64_t count; /* elements beyond the tolerance; 0: the tensors agree, or differ in extents */
  uint64_t total;
  bool is_shape; /* they differ in extents; other members are unset */
  uint64_t at;   /* row-major index of the largest difference */
  uint64_t from; /* first and last element that differ */
  uint64_t to;
  double first;
  double second;
} tenon__difference_t;

/* Origin of an output: its arithmetic, and the type in which it was stored before the comparison;
 * UNDEFINED: its own. */
typedef struct tenon__making_t {
  const tenon_numerics_t* numerics;
  tenon_dtype_t stored;
} tenon__making_t;

/* Returns the tolerance between two correct results for output `index`. `magnitude` is its largest
 * magnitude. The length of sums is guessed from the extents: [m, k] by [k, n] gives sqrt(mk kn /
 * mn) = k. The numerics give accumulator and multiplications; if unset, f32 arithmetic is
 * assumed. */
tenon__tolerance_t tenon__tolerance_of(const struct tenon_region_t* region, uint32_t index,
                                       double magnitude, tenon__making_t first,
                                       tenon__making_t second);
/* Returns the largest finite magnitude in a tensor; 0 for strings. */
double tenon__tensor_magnitude(const tenon_tensor_view_t* view);
/* Returns true if they differ by more than the tolerance. Different extents or types are always a
 * difference. Any strides; both tensors are read once. */
bool tenon__tensors_differ(const tenon_tensor_view_t* first, const tenon_tensor_view_t* second,
                           const tenon__tolerance_t* tolerance,
                           tenon__difference_t* out_difference);

#endif
