/*
 * Builds a program instruction by instruction. Equal instructions are made once. Constants are
 * rounded to their type. Everything is in the arena. A failed allocation is remembered: later calls
 * of emit return 0, and finish fails.
 *
 * The number of an instruction is its index. Operands have smaller numbers than their readers, so
 * that one pass in order evaluates a program.
 */
#ifndef TENON_CORE_PROGRAM_PROGRAM_BUILDER_H_
#define TENON_CORE_PROGRAM_PROGRAM_BUILDER_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"
#include "core/program/scalar.h"

/* Arrays move when they grow; numbers stay valid. accesses[k] belongs to operands[k]. The arena
 * owns everything. */
typedef struct tenon__program_builder_t {
  tenon__arena_t* arena;
  bool failed;
  tenon_instruction_t* instructions;
  uint32_t instruction_count;
  uint32_t instruction_capacity;
  tenon_operand_t* operands;
  tenon__access_t* accesses;
  uint32_t operand_count;
  uint32_t operand_capacity;
  uint32_t access_capacity;
  uint32_t* coordinates;
  uint32_t coordinate_count;
  uint32_t coordinate_capacity;
  uint32_t* slots; /* hash table: instruction number + 1 */
  uint32_t slot_count;
} tenon__program_builder_t;

void tenon__program_builder_initialize(tenon__program_builder_t* out_builder,
                                       tenon__arena_t* arena);
/* Emits any instruction. Unused operands are 0. `coordinates` are those of a LOAD: operands[1]
 * numbers, copied, of integer type, one for each dimension of its operand. operands[0] of a LOAD is
 * ignored. */
uint32_t tenon__emit(tenon__program_builder_t* builder, const tenon_instruction_t* instruction,
                     const uint32_t* coordinates);
/* Converts an instruction of another program. Its operand instructions become values[old number],
 * and unused ones become 0. The program operand that it reads becomes operands[old number]; NULL:
 * keeps its number. A LOAD's coordinates are written to out_coordinates, which has TENON_RANK_LIMIT
 * entries. Emits nothing. */
tenon_instruction_t tenon__instruction_renumber(const uint32_t* coordinates,
                                                const tenon_instruction_t* instruction,
                                                const uint32_t* values, const uint32_t* operands,
                                                uint32_t* out_coordinates);
/* Returns the program of the emitted instructions, without outputs. */
static inline tenon_program_t tenon__builder_program(const tenon__program_builder_t* builder,
                                                     uint32_t rank) {
  return (tenon_program_t){.instructions = builder->instructions,
                           .operands = builder->operands,
                           .coordinates = builder->coordinates,
                           .instruction_count = builder->instruction_count,
                           .operand_count = builder->operand_count,
                           .coordinate_count = builder->coordinate_count,
                           .rank = rank};
}
static inline uint32_t tenon__emit_operation(tenon__program_builder_t* builder, uint32_t opcode,
                                             tenon_dtype_t dtype, uint32_t a, uint32_t b,
                                             uint32_t c) {
  const tenon_instruction_t instruction = {
      .opcode = (uint16_t)opcode, .dtype = (uint16_t)dtype, .operands = {a, b, c}};
  return tenon__emit(builder, &instruction, NULL);
}
/* Emits an instruction with an integer immediate: INDEX, SIZE, INPUT and reductions; EXTENT: of
 * axis `a`. */
static inline uint32_t tenon__emit_immediate(tenon__program_builder_t* builder, uint32_t opcode,
                                             tenon_dtype_t dtype, uint32_t a, int64_t immediate) {
  const tenon_instruction_t instruction = {.opcode = (uint16_t)opcode,
                                           .dtype = (uint16_t)dtype,
                                           .operands = {a, 0, 0},
                                           .immediate = {.i = immediate}};
  return tenon__emit(builder, &instruction, NULL);
}
/* -0.0 and 0.0 are different constants. */
uint32_t tenon__emit_constant(tenon__program_builder_t* builder, tenon_dtype_t dtype,
                              tenon__scalar_t value);
uint32_t tenon__emit_load(tenon__program_builder_t* builder, tenon_dtype_t dtype, uint32_t operand,
                          const uint32_t* coordinates, uint32_t count);
/* Returns the operand with these members and this access; adds it if it is new. */
uint32_t tenon__emit_operand(tenon__program_builder_t* builder, const tenon_operand_t* operand,
                             const tenon__access_t* access);
/* Returns an operand's `broadcast_axes`: axes of the space along which an access does not vary,
 * except those that certainly have extent 1. */
uint64_t tenon__access_broadcast_axes(const tenon__dim_pool_t* pool, const tenon__access_t* access,
                                      const tenon_dim_t* space, uint32_t rank);

/* Returns the value in that type, converted if necessary. */
uint32_t tenon__emit_cast(tenon__program_builder_t* builder, uint32_t instruction,
                          tenon_dtype_t dtype);
/* Returns the value of a CONSTANT; false for other instructions. */
bool tenon__builder_constant(const tenon__program_builder_t* builder, uint32_t instruction,
                             tenon__scalar_t* out_value);

/* The outputs of an expression: see tenon__expression_t. */
typedef struct tenon__program_outputs_t {
  uint32_t count;
  const tenon_program_output_t* outputs;
  const uint32_t* const* axes;
  const uint32_t* ranks;
} tenon__program_outputs_t;

/* Makes the expression of the emitted instructions, with copies of outputs and space. Instructions
 * that no output needs are kept; tenon__expression_normalise drops them. It uses the builder's
 * arrays of instructions, operands and accesses, so emit nothing afterwards. Returns OUT_OF_MEMORY
 * only. */
tenon_status_t tenon__program_builder_finish(tenon__program_builder_t* builder, uint32_t rank,
                                             const tenon_dim_t* space,
                                             const tenon__program_outputs_t* outputs,
                                             tenon__expression_t* out_expression);

/* Computes for each instruction the axes along which its value varies, and the axes that reductions
 * below it have removed. Both arrays have one entry for each instruction; bit k is axis k of the
 * space. For sum(x, [1]) over [n, m], axis 0 varies and axis 1 is reduced. */
void tenon__program_axes(const tenon_program_t* program, uint64_t* out_varying,
                         uint64_t* out_reduced);
static inline uint64_t tenon__axes_below(uint32_t rank) {
  return rank >= 64 ? UINT64_MAX : (UINT64_C(1) << rank) - 1u;
}

static inline tenon_dtype_t tenon__builder_type(const tenon__program_builder_t* builder,
                                                uint32_t instruction) {
  return tenon__instruction_type(&builder->instructions[instruction]);
}

#endif
