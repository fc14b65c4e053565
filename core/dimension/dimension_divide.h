/* The canonical forms of floor division and remainder. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_DIVIDE_H_
#define TENON_CORE_DIMENSION_DIMENSION_DIVIDE_H_

#include "core/dimension/dimension.h"

tenon_dim_t tenon__dim_floor_div(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);
tenon_dim_t tenon__dim_mod(tenon__dim_pool_t* pool, tenon_dim_t a, tenon_dim_t b);

#endif
