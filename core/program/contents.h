/* Small integer programs evaluated on symbols, so that computed shapes stay symbolic. */
#ifndef TENON_CORE_PROGRAM_CONTENTS_H_
#define TENON_CORE_PROGRAM_CONTENTS_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"
#include "core/tensor/type.h"

/* Integer (and bool, and integral float) programs on symbols: what output `output` holds where each
 * operand of the program is an operands[k], whose contents and extents count. inout_type's contents
 * are set, or stay as they are where the program does more than dimensions can say. So shape(x)[0]
 * * 2 is the dimension 2*batch, and what reads it knows its extents before any run. An element
 * costs as much as the program; who calls bounds their number (1024). OUT_OF_MEMORY only. */
tenon_status_t tenon__program_contents(tenon__dim_pool_t* pool,
                                       const tenon__expression_t* expression, uint32_t output,
                                       const tenon__type_t* operands, tenon__arena_t* arena,
                                       tenon__type_t* inout_type);

#endif
