/* One operation on scalars: the meaning of the opcodes, for folding, contents and the evaluator.
 * Results are rounded to the instruction's arithmetic type. */
#ifndef TENON_CORE_PROGRAM_SCALAR_H_
#define TENON_CORE_PROGRAM_SCALAR_H_

#include <stdbool.h>

#include "core/tensor/dtype.h"

/* Opcodes from CAST to SELECT (not RANDOM, reductions, INPUT, LOAD, EXTENT, INDEX, SIZE). `dtype`:
 * the instruction's. `from`: CAST's source type. Integer division by 0 and what overflows have a
 * value, the same everywhere: sdk/docs/expressions.md says which. `dtype` of a comparison is that
 * of its operands. */
tenon__scalar_t tenon__scalar_apply(uint32_t opcode, tenon_dtype_t dtype, tenon_dtype_t from,
                                    tenon__scalar_t a, tenon__scalar_t b, tenon__scalar_t c);
/* A double rounded to a float type's values; an integer wrapped to its width. */
tenon__scalar_t tenon__scalar_fit(tenon_dtype_t dtype, tenon__scalar_t value);
/* Philox4x32-10: uniform in [0, 1) from the first word (24 bits for f32, 53 from two words for
 * f64). The same number for the same key and counter on every machine. */
double tenon__random_uniform(tenon_dtype_t dtype, uint64_t key, uint64_t counter);

bool tenon__opcode_is_comparison(uint32_t opcode); /* result is bool */
bool tenon__opcode_is_reduction(uint32_t opcode);
bool tenon__opcode_is_commutative(uint32_t opcode);
bool tenon__opcode_reads_operand(uint32_t opcode); /* the immediate is an operand's number */
/* What an opcode takes: 'f' floats, 'n' numbers, 'i' integers and bool, 's' integers, 'a' any; of a
 * RANDOM and a SELECT what it gives. And whether a type is among that. */
char tenon__opcode_domain(uint32_t opcode);
bool tenon__opcode_takes(uint32_t opcode, tenon_dtype_t dtype);
uint32_t tenon__opcode_operand_count(uint32_t opcode);
const char* tenon__opcode_name(uint32_t opcode);
/* Type of what an instruction yields. */
tenon_dtype_t tenon__instruction_type(const tenon_instruction_t* instruction);
/* Instructions that one needs: its operands, or of a LOAD its coordinates, from the program's list.
 */
const uint32_t* tenon__instruction_needs(const uint32_t* coordinates,
                                         const tenon_instruction_t* instruction,
                                         uint32_t* out_count);
/* Counts, for what has a count already, how often each instruction is needed: by all that have one
 * afterwards. Without `through`, what a reduction needs is not looked at. */
void tenon__count_needs(const tenon_instruction_t* instructions, const uint32_t* coordinates,
                        uint32_t count, bool through, uint32_t* inout_counts);
/* Is there an instruction with one of these opcodes? */
bool tenon__program_has(const tenon_program_t* program, uint32_t first, uint32_t last);
/* For each instruction, how many rounds of reductions must be done before it can be computed (its
 * own, if it is one, included); the largest of these numbers. An evaluator needs as many passes
 * over the space, and one more for the outputs. */
uint32_t tenon__program_stages(const tenon_program_t* program, uint32_t* out_stages);

#endif
