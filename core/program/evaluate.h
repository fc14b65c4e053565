/*
 * A scalar evaluator: folding at build, contents on symbols, and the fall-back where no kernel is.
 *
 * It is the meaning of programs: kernels are compared with it, and nothing that is measured runs on
 * it. Every element type, any strides; one thread.
 */
#ifndef TENON_CORE_PROGRAM_EVALUATE_H_
#define TENON_CORE_PROGRAM_EVALUATE_H_

#include "tenon/plugin.h"

/* Evaluates the program over its space. `inputs`: one aligned view for each operand (rank dims and
 * strides of the space; indexed operands: their own); `outputs` likewise, data NULL where one is
 * not wanted. Scratch from the allocator. A LOAD out of range that no SELECT excludes: INVALID_DATA
 * with coordinate and extent. Sums of f32 are added in double and rounded once. Outputs must not
 * overlap inputs. Linear in points and instructions, several passes where reductions read
 * reductions. OUT_OF_MEMORY too, or INVALID_DATA for a space of more points than can be counted. */
tenon_status_t tenon__program_evaluate(const tenon_program_t* program, const int64_t* space,
                                       const tenon_tensor_view_t* inputs,
                                       const tenon_tensor_view_t* outputs,
                                       tenon_allocator_t allocator, const tenon_sink_t* sink);

#endif
