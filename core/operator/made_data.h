/* Data for trials of kernels and of rewrites, within the domains of ports. */
#ifndef TENON_CORE_OPERATOR_MADE_DATA_H_
#define TENON_CORE_OPERATOR_MADE_DATA_H_

#include "core/operator/domain.h"

/* The requested properties of one tensor. Borrowed for the call. low and high select other numbers
 * than the default (rewrite_draw.h). */
typedef struct tenon__data_wish_t {
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  tenon__domain_t domain;
  /* Upper bounds of places: for INDEX one extent, for COORDINATES one for each element of a
   * tuple. */
  uint32_t limit_count;
  const int64_t* limits;
  uint32_t axis; /* distinct indices: the axis of this tensor along which they differ */
  /* If the domain has no range: numbers from `low` to `high`. Unused if they are equal. */
  double low;
  double high;
  uint64_t seed; /* determines the data */
} tenon__data_wish_t;

/* Fills contiguous row-major data. Cannot fail. By default floats are between 1/16 and 1, of either
 * sign. Integers without a range are small: 0 and 1 in large types, which may be counts. Strings
 * are not changed. */
void tenon__data_make(const tenon__data_wish_t* wish, void* out_data);

#endif
