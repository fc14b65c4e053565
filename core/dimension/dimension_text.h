/* Dimensions as readable text. */
#ifndef TENON_CORE_DIMENSION_DIMENSION_TEXT_H_
#define TENON_CORE_DIMENSION_DIMENSION_TEXT_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"

/* Returns "batch", "4*batch + 1" or "(s0 + 1)/2", in the arena; "?" if out of memory. Truncated
 * with "..." at 1 KiB. For messages; equal texts may be different dimensions. */
const char* tenon__dim_text(const tenon__dim_pool_t* pool, tenon_dim_t dim, tenon__arena_t* arena);
/* Returns "[2, batch]", same as above. */
const char* tenon__dims_text(const tenon__dim_pool_t* pool, const tenon_dim_t* dims, uint32_t count,
                             tenon__arena_t* arena);

#endif
