/* One operation on scalars: the meaning of the opcodes, for folding, contents and the evaluator.
 * Results are rounded to the instruction's arithmetic type. */
#ifndef TENON_CORE_PROGRAM_SCALAR_H_
#define TENON_CORE_PROGRAM_SCALAR_H_

#include <stdbool.h>

#include "core/tensor/dtype.h"

/* Computes an opcode from CAST to SELECT (not RANDOM, reductions, INPUT, LOAD, EXTENT, INDEX,
 * SIZE). `dtype` is the instruction's, for a comparison that of its operands. `from` is CAST's
 * source type. Integer division by 0 and overflow have defined values, given in
 * sdk/docs/expressions.md. */
tenon__scalar_t tenon__scalar_apply(uint32_t opcode, tenon_dtype_t dtype, tenon_dtype_t from,
                                    tenon__scalar_t a, tenon__scalar_t b, tenon__scalar_t c);
/* Rounds a double to a float type, or wraps an integer to the type's width. */
tenon__scalar_t tenon__scalar_fit(tenon_dtype_t dtype, tenon__scalar_t value);
/* Philox4x32-10: uniform in [0, 1) from the first word (24 bits for f32, 53 from two words for
 * f64). The same number for the same key and counter on every machine. */
double tenon__random_uniform(tenon_dtype_t dtype, uint64_t key, uint64_t counter);

bool tenon__opcode_is_comparison(uint32_t opcode); /* result is bool */
bool tenon__opcode_is_reduction(uint32_t opcode);
bool tenon__opcode_is_commutative(uint32_t opcode);
bool tenon__opcode_reads_operand(uint32_t opcode); /* the immediate is an operand's number */
/* The first returns the types of an opcode's operands (of a RANDOM and a SELECT: its results): 'f'
 * floats, 'n' numbers, 'i' integers and bool, 's' integers, 'a' any. The second returns true if
 * they include `dtype`. */
char tenon__opcode_domain(uint32_t opcode);
bool tenon__opcode_takes(uint32_t opcode, tenon_dtype_t dtype);
uint32_t tenon__opcode_operand_count(uint32_t opcode);
const char* tenon__opcode_name(uint32_t opcode);
/* Returns the type of an instruction's result. */
tenon_dtype_t tenon__instruction_type(const tenon_instruction_t* instruction);
/* Returns the instructions that one needs: its operands, or a LOAD's coordinates, from the
 * program's list. */
const uint32_t* tenon__instruction_needs(const uint32_t* coordinates,
                                         const tenon_instruction_t* instruction,
                                         uint32_t* out_count);
/* Counts how often each instruction is needed by instructions with a count above 0, in reverse
 * order, so that counts propagate to operands. If `through` is false, the operands of reductions
 * are not counted. */
void tenon__count_needs(const tenon_instruction_t* instructions, const uint32_t* coordinates,
                        uint32_t count, bool through, uint32_t* inout_counts);
/* Returns true if the program has an instruction with one of these opcodes. */
bool tenon__program_has(const tenon_program_t* program, uint32_t first, uint32_t last);
/* Computes for each instruction the number of rounds of reductions that must precede it (its own
 * included, if it is one), and returns the maximum. An evaluator needs that number of passes over
 * the space, and one more for the outputs. */
uint32_t tenon__program_stages(const tenon_program_t* program, uint32_t* out_stages);

#endif
