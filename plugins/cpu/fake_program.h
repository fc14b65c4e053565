/* Helpers that build programs for tests. */
#ifndef TENON_CPU_FAKE_PROGRAM_H_
#define TENON_CPU_FAKE_PROGRAM_H_

#include "tenon/plugin.h"

enum { MOST = 48 };

/* A program under construction. */
typedef struct draft_t {
  tenon_instruction_t instructions[MOST];
  tenon_operand_t operands[8];
  tenon_program_output_t outputs[4];
  uint32_t coordinates[8];
  tenon_program_t program;
} draft_t;

static inline uint32_t add(draft_t* draft, uint32_t opcode, uint32_t dtype, uint32_t a, uint32_t b,
                           uint32_t c) {
  const uint32_t i = draft->program.instruction_count++;
  draft->instructions[i] = (tenon_instruction_t){
      .opcode = (uint16_t)opcode, .dtype = (uint16_t)dtype, .operands = {a, b, c}};
  return i;
}
static inline uint32_t f32(draft_t* draft, uint32_t opcode, uint32_t a, uint32_t b) {
  return add(draft, opcode, TENON_DTYPE_FLOAT32, a, b, 0);
}
static inline uint32_t constant(draft_t* draft, double x) {
  const uint32_t i = f32(draft, TENON_OPCODE_CONSTANT, 0, 0);
  draft->instructions[i].immediate.f = x;
  return i;
}
static inline uint32_t with_axis(draft_t* draft, uint32_t opcode, uint32_t dtype, uint32_t a,
                                 int64_t immediate) {
  const uint32_t i = add(draft, opcode, dtype, a, 0, 0);
  draft->instructions[i].immediate.i = immediate;
  return i;
}
/* Adds an instruction that reads operand `index`, which is region input `index`. */
static inline uint32_t input(draft_t* draft, uint32_t index, tenon_dtype_t stored, uint32_t dtype) {
  draft->operands[index] = (tenon_operand_t){.index = index, .dtype = stored};
  if (draft->program.operand_count <= index) {
    draft->program.operand_count = index + 1;
  }
  return with_axis(draft, TENON_OPCODE_INPUT, dtype, 0, index);
}
static inline void output(draft_t* draft, uint32_t instruction, tenon_dtype_t dtype,
                          uint64_t reduced) {
  const uint32_t o = draft->program.output_count++;
  draft->outputs[o] = (tenon_program_output_t){
      .instruction = instruction, .dtype = dtype, .index = o, .reduced_axes = reduced};
}
static inline void finish(draft_t* draft, uint32_t rank) {
  draft->program.instructions = draft->instructions;
  draft->program.operands = draft->operands;
  draft->program.outputs = draft->outputs;
  draft->program.coordinates = draft->coordinates;
  draft->program.rank = rank;
}

#endif
