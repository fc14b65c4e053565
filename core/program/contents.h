/* Small integer programs evaluated on symbols, so that computed shapes stay symbolic. */
#ifndef TENON_CORE_PROGRAM_CONTENTS_H_
#define TENON_CORE_PROGRAM_CONTENTS_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"
#include "core/tensor/type.h"

/* Evaluates an integer (or bool, or integral float) program on symbols: the contents of output
 * `output` from contents and extents of operands[k]. Sets inout_type's contents, or leaves them
 * unchanged if dimensions cannot express the result. For example, shape(x)[0] * 2 is the dimension
 * 2*batch, and its readers know their extents before a run. Each element costs one evaluation, so
 * the caller limits their number (1024). Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__program_contents(tenon__dim_pool_t* pool,
                                       const tenon__expression_t* expression, uint32_t output,
                                       const tenon__type_t* operands, tenon__arena_t* arena,
                                       tenon__type_t* inout_type);

#endif
