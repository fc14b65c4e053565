/* Small integer programs evaluated on symbols, so that computed shapes stay symbolic. */
#ifndef TENON_CORE_PROGRAM_CONTENTS_H_
#define TENON_CORE_PROGRAM_CONTENTS_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"

/* Integer (and bool, and integral float) programs on symbols: contents[k] of operand k (NULL:
 * unknown) in row-major order of the operand's own dims. *out_contents NULL where the program does
 * more than dimensions can say. So shape(x)[0] * 2 is the dimension 2*batch, and what reads it
 * knows its extents before any run. An element costs as much as the program; who calls bounds their
 * number (1024). OUT_OF_MEMORY only. */
tenon_status_t tenon__program_contents(tenon__dim_pool_t* pool,
                                       const tenon__expression_t* expression, uint32_t output,
                                       const tenon_dim_t* const* contents,
                                       const uint32_t* content_counts,
                                       const tenon_dim_t* const* operand_dims,
                                       tenon__arena_t* arena, const tenon_dim_t** out_contents,
                                       uint32_t* out_count);

#endif
