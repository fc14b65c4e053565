/* Data for trials, as the domains of ports ask for it: the same each time. */
#ifndef TENON_CORE_CANDIDATE_MADE_DATA_H_
#define TENON_CORE_CANDIDATE_MADE_DATA_H_

#include "core/operator/domain.h"

/* What is asked of one tensor. */
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
} tenon__data_wish_t;

/* Fills dense rows. Floats are ordinary numbers: between 1/16 and 1, of either sign, where the
 * domain says nothing else. Strings stay as they are. */
void tenon__data_make(const tenon__data_wish_t* wish, void* out_data);

#endif
