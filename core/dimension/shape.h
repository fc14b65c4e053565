/* Shapes during inference. */
#ifndef TENON_CORE_DIMENSION_SHAPE_H_
#define TENON_CORE_DIMENSION_SHAPE_H_

#include "tenon/plugin.h"

/* dims[k] is the extent of axis k, in the caller's memory. rank TENON_NONE and dims NULL: not known
 * (yet). An extent may be INVALID until it is set. */
typedef struct tenon__inferred_shape_t {
  uint32_t rank;
  const tenon_dim_t* dims;
} tenon__inferred_shape_t;

#endif
