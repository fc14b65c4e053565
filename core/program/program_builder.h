/*
 * Building a program instruction by instruction. Equal instructions are made once; constants are
 * rounded to their type. Everything lies in the arena. Memory that runs out is remembered: emitting
 * then gives 0, and finishing fails.
 *
 * Numbers of instructions are their places: an operand is always smaller than who reads it, so that
 * one pass in order evaluates a program.
 */
#ifndef TENON_CORE_PROGRAM_PROGRAM_BUILDER_H_
#define TENON_CORE_PROGRAM_PROGRAM_BUILDER_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/program/program.h"
#include "core/program/scalar.h"

/* Arrays move as they grow; numbers hold. accesses[k] belongs to operands[k]. Nothing needs to be
 * freed: it is the arena's. */
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
/* Any instruction. Unused operands are 0; `coordinates`: of a LOAD, operands[1] of them, copied, of
 * integer type, one for each dimension of its operand; what its operands[0] says is not looked at.
 */
uint32_t tenon__emit(tenon__program_builder_t* builder, const tenon_instruction_t* instruction,
                     const uint32_t* coordinates);
/* An instruction of another program as one of this: what it needs is values[old number] here, and
 * operands that mean nothing are 0. The operand it reads is operands[old number]; NULL: keeps its
 * number. A LOAD's coordinates go to out_coordinates, which has TENON_RANK_LIMIT places; emits
 * nothing. */
tenon_instruction_t tenon__instruction_renumber(const uint32_t* coordinates,
                                                const tenon_instruction_t* instruction,
                                                const uint32_t* values, const uint32_t* operands,
                                                uint32_t* out_coordinates);
/* The program of what was emitted, without outputs. */
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
/* INDEX, SIZE, INPUT and reductions: what has an integer immediate; EXTENT: of axis `a`. */
static inline uint32_t tenon__emit_immediate(tenon__program_builder_t* builder, uint32_t opcode,
                                             tenon_dtype_t dtype, uint32_t a, int64_t immediate) {
  const tenon_instruction_t instruction = {.opcode = (uint16_t)opcode,
                                           .dtype = (uint16_t)dtype,
                                           .operands = {a, 0, 0},
                                           .immediate = {.i = immediate}};
  return tenon__emit(builder, &instruction, NULL);
}
/* -0.0 is another constant than 0.0. */
uint32_t tenon__emit_constant(tenon__program_builder_t* builder, tenon_dtype_t dtype,
                              tenon__scalar_t value);
uint32_t tenon__emit_load(tenon__program_builder_t* builder, tenon_dtype_t dtype, uint32_t operand,
                          const uint32_t* coordinates, uint32_t count);
/* The operand with these fields and this access, made if new. */
uint32_t tenon__emit_operand(tenon__program_builder_t* builder, const tenon_operand_t* operand,
                             const tenon__access_t* access);
/* Axes of the space that an access does not vary along, but those that have extent 1 for sure: an
 * operand's `broadcast_axes`. */
uint64_t tenon__access_broadcast_axes(const tenon__dim_pool_t* pool, const tenon__access_t* access,
                                      const tenon_dim_t* space, uint32_t rank);

/* The value in that type: as it is, or converted. */
uint32_t tenon__emit_cast(tenon__program_builder_t* builder, uint32_t instruction,
                          tenon_dtype_t dtype);
/* Value of a CONSTANT. */
bool tenon__builder_constant(const tenon__program_builder_t* builder, uint32_t instruction,
                             tenon__scalar_t* out_value);

/* The outputs of an expression: see tenon__expression_t. */
typedef struct tenon__program_outputs_t {
  uint32_t count;
  const tenon_program_output_t* outputs;
  const uint32_t* const* axes;
  const uint32_t* ranks;
} tenon__program_outputs_t;

/* The expression made of what was emitted, with copies of outputs and space. Instructions that no
 * output needs are kept; tenon__expression_normalise drops them. Instructions, operands and
 * accesses stay the builder's arrays: emit nothing afterwards. OUT_OF_MEMORY only. */
tenon_status_t tenon__program_builder_finish(tenon__program_builder_t* builder, uint32_t rank,
                                             const tenon_dim_t* space,
                                             const tenon__program_outputs_t* outputs,
                                             tenon__expression_t* out_expression);

/* Axes along which an instruction's value varies, and axes that reductions below it removed. Both
 * arrays have one entry for each instruction. Bit k is axis k of the space. Of sum(x, [1]) over [n,
 * m] varying is axis 0 and reduced axis 1. */
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
