/* Data for trials of kernels and of rewrites, as the domains of ports ask for it. */
#ifndef TENON_CORE_OPERATOR_MADE_DATA_H_
#define TENON_CORE_OPERATOR_MADE_DATA_H_

#include "core/operator/domain.h"

/* What is asked of one tensor. Borrowed for the call. low and high are for whoever wants other
 * numbers than the usual (rewrite_draw.h). */
typedef struct tenon__data_wish_t {
  tenon_dtype_t dtype;
  uint32_t rank;
  const int64_t* dims;
  tenon__domain_t domain;
  /* Places: for INDEX one extent that indices stay below; for COORDINATES one for each element of a
   * tuple. */
  uint32_t limit_count;
  const int64_t* limits;
  uint32_t axis; /* distinct indices: the axis of this tensor along which they differ */
  /* Where the domain gives no range: whole numbers, or any, from `low` to `high`; nothing is said
   * where they are the same. */
  double low;
  double high;
  uint64_t seed; /* the same data each time, others with another seed */
} tenon__data_wish_t;

/* Fills dense rows. Floats are ordinary numbers: between 1/16 and 1, of either sign, where the
 * domain says nothing else. Strings stay as they are. Integers without a range are small: 0 and 1
 * in wide types, which may count something. Cannot fail. */
void tenon__data_make(const tenon__data_wish_t* wish, void* out_data);

#endif
