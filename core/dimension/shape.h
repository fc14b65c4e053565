/* Shapes that are being worked out. */
#ifndef TENON_CORE_DIMENSION_SHAPE_H_
#define TENON_CORE_DIMENSION_SHAPE_H_

#include "tenon/plugin.h"

typedef struct tenon__inferred_shape_t {
  uint32_t rank;
  const tenon_dim_t* dims;
} tenon__inferred_shape_t;

#endif
