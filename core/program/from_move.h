/* Moves as programs. For whoever knows expressions and no moves: a general move where no kernel
 * moves, and the judge of kernels that do. */
#ifndef TENON_CORE_PROGRAM_FROM_MOVE_H_
#define TENON_CORE_PROGRAM_FROM_MOVE_H_

#include "core/program/program.h"
#include "core/tensor/index_map.h"
#include "core/tensor/type.h"

/* A general (or any) move as an expression with LOADs. A symbol in its coordinates that no extent
 * of the output, or of what it moves, gives is read from an input whose contents it is. The first
 * source in range supplies the element: nested SELECTs over LOADs, the fill innermost. UNSUPPORTED
 * for a coordinate that instructions cannot say, and for element types that they cannot move.
 * Operands' indices are numbers of the node's inputs; `inputs` are their types, absent ones of
 * element type UNDEFINED. */
tenon_status_t tenon__expression_from_move(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                           tenon_dtype_t dtype, const tenon__type_t* inputs,
                                           uint32_t input_count, tenon__arena_t* arena,
                                           const tenon_sink_t* sink,
                                           tenon__expression_t* out_expression);

#endif
