/* Data movements as programs, for code that supports expressions but no moves: general moves
 * without a move kernel, and checks of move kernels. */
#ifndef TENON_CORE_PROGRAM_FROM_MOVE_H_
#define TENON_CORE_PROGRAM_FROM_MOVE_H_

#include "core/program/program.h"
#include "core/tensor/index_map.h"
#include "core/tensor/type.h"

/* Converts a general (or any) move to an expression with LOADs. A symbol in its coordinates that no
 * extent of the output or of the sources provides is read from an input that contains it. The first
 * source in range supplies the element: nested SELECTs over LOADs, the fill innermost. Operands'
 * indices are numbers of the node's inputs. `inputs` are their types; absent ones have element type
 * UNDEFINED. Returns UNSUPPORTED for coordinates that instructions cannot compute, and for element
 * types that they cannot move. */
tenon_status_t tenon__expression_from_move(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                           tenon_dtype_t dtype, const tenon__type_t* inputs,
                                           uint32_t input_count, tenon__arena_t* arena,
                                           const tenon_sink_t* sink,
                                           tenon__expression_t* out_expression);

#endif
