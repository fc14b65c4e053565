/*
 * A scalar evaluator, for folding in builds, contents on symbols, and as the fall-back if there is
 * no kernel.
 *
 * It defines the meaning of programs: kernels are compared with it. It is never measured. It
 * supports all element types and strides, and uses one thread.
 */
#ifndef TENON_CORE_PROGRAM_EVALUATE_H_
#define TENON_CORE_PROGRAM_EVALUATE_H_

#include "tenon/plugin.h"

/* Evaluates the program over its space. `inputs`: one aligned view for each operand (rank dims and
 * strides of the space; indexed operands: their own); `outputs` is the same, with data NULL for
 * unused outputs. Scratch is from the allocator. Sums of f32 are added in double and rounded once.
 * Outputs must not overlap inputs. Linear in points and instructions, with several passes if
 * reductions read reductions. Returns INVALID_DATA for a LOAD out of range that no SELECT excludes,
 * with coordinate and extent, or for a space with too many points to count. Also returns
 * OUT_OF_MEMORY. */
tenon_status_t tenon__program_evaluate(const tenon_program_t* program, const int64_t* space,
                                       const tenon_tensor_view_t* inputs,
                                       const tenon_tensor_view_t* outputs,
                                       tenon_allocator_t allocator, const tenon_sink_t* sink);

#endif
