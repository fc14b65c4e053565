/* A scalar evaluator: folding at build, contents on symbols, and the fall-back where no kernel is.
 */
#ifndef TENON_CORE_EXPRESSION_EVALUATE_H_
#define TENON_CORE_EXPRESSION_EVALUATE_H_

#include "core/expression/program.h"

/* Evaluates the program over its space. `inputs`: one aligned view for each operand (rank dims and
 * strides of the space; indexed operands: their own); `outputs` likewise, data NULL where one is
 * not wanted. Scratch from the allocator. A LOAD out of range that no SELECT excludes: INVALID_DATA
 * with coordinate and extent.
 */
tenon_status_t tenon__program_evaluate(const tenon_program_t* program, const int64_t* space,
                                       const tenon_tensor_view_t* inputs,
                                       const tenon_tensor_view_t* outputs,
                                       tenon_allocator_t allocator, const tenon_sink_t* sink);
/* Integer (and bool, and integral float) programs on symbols: contents[k] of operand k (NULL:
 * unknown) in row-major order of the operand's own dims. *out_contents NULL where the program does
 * more than dimensions can say. */
tenon_status_t tenon__program_contents(tenon__dim_pool_t* pool,
                                       const tenon__expression_t* expression, uint32_t output,
                                       const tenon_dim_t* const* contents,
                                       const uint32_t* content_counts,
                                       const tenon_dim_t* const* operand_dims,
                                       tenon__arena_t* arena, const tenon_dim_t** out_contents,
                                       uint32_t* out_count);

#endif
