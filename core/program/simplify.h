/*
 * Emission with simplification. The result may be an existing instruction, a constant, or another
 * form of equal value. Constants are folded, operands of commutative operations ordered, and
 * comparisons oriented. All rules are exact except two, which the contract names: sigmoid and
 * softplus are recognised.
 */
#ifndef TENON_CORE_PROGRAM_SIMPLIFY_H_
#define TENON_CORE_PROGRAM_SIMPLIFY_H_

#include "core/program/program_builder.h"

/* Key of an instruction that does not depend on its number. It orders the operands of commutative
 * operations. */
typedef struct tenon__instruction_key_t {
  uint64_t hash;
  uint32_t first_operand; /* smallest operand that it reads, TENON_NONE */
  uint32_t size;          /* number of instructions below it as a tree, limited */
} tenon__instruction_key_t;

/* On the stack; its results are in the builder's arena. The resulting instructions may be in any
 * order, and some may be unused. tenon__expression_gather (normalise.h) orders them and drops
 * unused ones. */
typedef struct tenon__simplifier_t {
  tenon__program_builder_t builder;
  tenon__instruction_key_t* keys; /* one for each instruction of the builder */
  uint32_t key_count;
  uint32_t key_capacity;
} tenon__simplifier_t;

/* Emit operands through its builder first. The builder remembers failures. */
void tenon__simplifier_initialize(tenon__simplifier_t* out_simplifier, tenon__arena_t* arena);
/* Operands are numbers of the builder. `coordinates`: of a LOAD (operands[1] of them), else NULL.
 */
uint32_t tenon__simplify_emit(tenon__simplifier_t* simplifier,
                              const tenon_instruction_t* instruction, const uint32_t* coordinates);
static inline uint32_t tenon__simplify_operation(tenon__simplifier_t* simplifier, uint32_t opcode,
                                                 tenon_dtype_t dtype, uint32_t a, uint32_t b,
                                                 uint32_t c) {
  const tenon_instruction_t instruction = {
      .opcode = (uint16_t)opcode, .dtype = (uint16_t)dtype, .operands = {a, b, c}};
  return tenon__simplify_emit(simplifier, &instruction, NULL);
}

#endif
