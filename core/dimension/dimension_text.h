/* Dimensions as people write them. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_TEXT_H_
#define TENON_CORE_DIMENSION_DIMENSION_TEXT_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* "batch", "4*batch + 1", "(s0 + 1)/2"; written into the arena; "?" when memory is out. Cut with
 * "..." beyond 1 KiB. For messages: equal texts need not be equal dimensions. */
const char* tenon__dim_text(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__arena_t* arena);
/* "[2, batch]", likewise. */
const char* tenon__dims_text(const tenon__dim_pool_t* pool, const tenon_dim_t* dims, uint32_t count,
                             tenon__arena_t* arena);

#endif
