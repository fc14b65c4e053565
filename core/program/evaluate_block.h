/*
 * Internal to the evaluator: one block of points. Each instruction has a row of values, one for
 * each point of the block. A walk has the position of the block in the space.
 *
 * Rows are used so that the switch over opcodes is executed once for 256 points.
 */
#ifndef TENON_CORE_PROGRAM_EVALUATE_BLOCK_H_
#define TENON_CORE_PROGRAM_EVALUATE_BLOCK_H_

#include "core/tensor/dtype.h"

enum { TENON__BLOCK = 256 };

/* A walk over a space in row-major order, block by block. */
typedef struct tenon__walk_t {
  uint32_t rank;
  int64_t extents[TENON_RANK_LIMIT];
  int64_t point[TENON_RANK_LIMIT]; /* the first of the block */
  uint64_t left;                   /* points from here on */
} tenon__walk_t;

/* The walk has one step along the axes of `without`. Returns false if the number of points
 * overflows or an extent is negative. */
bool tenon__walk_begin(uint32_t rank, const int64_t* extents, uint64_t without,
                       tenon__walk_t* out_walk);
/* Advances by at most `left` points; `point` is then the first of the next block. */
void tenon__walk_advance(tenon__walk_t* walk, uint32_t count);
/* Computes sum(coordinate * stride) for each of `count` points. */
void tenon__walk_offsets(const tenon__walk_t* walk, const int64_t* strides, uint32_t count,
                         int64_t* out_offsets);

/* Reads elements of a view at offsets (in elements) and converts them to `dtype` as CAST does.
 * Offsets count from the view's first element, bit_offset included. */
void tenon__block_read(const tenon_tensor_view_t* view, const int64_t* offsets, tenon_dtype_t dtype,
                       tenon__scalar_t* out, uint32_t count);
/* Writes values of type `from`, converted to the view's dtype. */
void tenon__block_write(const tenon_tensor_view_t* view, const int64_t* offsets,
                        const tenon__scalar_t* values, tenon_dtype_t from, uint32_t count);
/* Executes an opcode from CAST to RANDOM on rows. `from` is the type of the first operand's values.
 * All three operands are rows of `count` values. Operands that the opcode does not have are
 * ignored. */
void tenon__block_apply(const tenon_instruction_t* instruction, tenon_dtype_t from,
                        const tenon__scalar_t* const operands[3], tenon__scalar_t* out,
                        uint32_t count);
/* Reductions: the initial value of a sum, the addition of values, and the final value after
 * `length` points. */
tenon__scalar_t tenon__reduction_begin(const tenon_instruction_t* instruction);
void tenon__reduction_add(const tenon_instruction_t* instruction, const tenon__scalar_t* values,
                          const int64_t* offsets, tenon__scalar_t* sums, uint32_t count);
tenon__scalar_t tenon__reduction_end(const tenon_instruction_t* instruction, tenon__scalar_t sum,
                                     uint64_t length);

#endif
