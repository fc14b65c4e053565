/* Is an expression scale * x + shift? Walks the instructions once, keeping for each the pair (scale, shift) as
 * instructions of a new program. */
#include <string.h>

#include "core/base/status.h"
#include "core/expression/assembler.h"
#include "core/expression/scalar.h"

/* TENON_NONE: zero. `free`: does not depend on the operand. */
typedef struct pair_t {
  bool valid;
  uint32_t scale;
  uint32_t shift;
} pair_t;

typedef struct linear_t {
  const tenon__expression_t* expression;
  uint32_t operand;
  tenon__assembler_t assembler;
  pair_t* pairs;
  tenon_dtype_t dtype;
} linear_t;

static uint32_t binary(linear_t* l, uint16_t opcode, uint32_t a, uint32_t b) {
  const tenon_instruction_t i = {
      .opcode = opcode, .dtype = (uint16_t)l->dtype, .operands = {a, b, 0}};
  return tenon__assembler_add(&l->assembler, &i, NULL);
}

static uint32_t sum_of(linear_t* l, uint16_t opcode, uint32_t a, uint32_t b) {
  if (b == TENON_NONE) {
    return a;
  }
  if (a == TENON_NONE) {
    if (opcode == TENON_OPCODE_ADD) {
      return b;
    }
    const tenon_instruction_t i = {
        .opcode = TENON_OPCODE_NEG, .dtype = (uint16_t)l->dtype, .operands = {b, 0, 0}};
    return tenon__assembler_add(&l->assembler, &i, NULL);
  }
  return binary(l, opcode, a, b);
}

static uint32_t times(linear_t* l, uint16_t opcode, uint32_t a, uint32_t b) {
  return a == TENON_NONE ? TENON_NONE : binary(l, opcode, a, b);
}

static pair_t combine(linear_t* l, const tenon_instruction_t* i) {
  const pair_t a = l->pairs[i->operands[0]];
  const pair_t b = l->pairs[i->operands[1]];
  pair_t result = {0};
  if (!a.valid || !b.valid) {
    return result;
  }
  switch (i->opcode) {
    case TENON_OPCODE_ADD:
    case TENON_OPCODE_SUB:
      result.valid = true;
      result.scale = sum_of(l, i->opcode, a.scale, b.scale);
      result.shift = sum_of(l, i->opcode, a.shift, b.shift);
      return result;
    case TENON_OPCODE_MUL:
      if (a.scale != TENON_NONE && b.scale != TENON_NONE) {
        return result;
      }
      result.valid = a.shift != TENON_NONE || a.scale != TENON_NONE;
      if (b.scale == TENON_NONE && b.shift != TENON_NONE) {
        result.scale = times(l, TENON_OPCODE_MUL, a.scale, b.shift);
        result.shift = times(l, TENON_OPCODE_MUL, a.shift, b.shift);
      } else if (a.shift != TENON_NONE && a.scale == TENON_NONE) {
        result.scale = times(l, TENON_OPCODE_MUL, b.scale, a.shift);
        result.shift = times(l, TENON_OPCODE_MUL, b.shift, a.shift);
      } else {
        result.valid = false;
      }
      return result;
    case TENON_OPCODE_DIV:
      if (b.scale != TENON_NONE || b.shift == TENON_NONE) {
        return result;
      }
      result.valid = true;
      result.scale = times(l, TENON_OPCODE_DIV, a.scale, b.shift);
      result.shift = times(l, TENON_OPCODE_DIV, a.shift, b.shift);
      return result;
    default:
      return result;
  }
}

/* An instruction that does not depend on the operand is copied as it is. */
static bool copy_free(linear_t* l, uint32_t index, pair_t* out_pair) {
  tenon_instruction_t i = l->expression->program.instructions[index];
  if (i.opcode == TENON_OPCODE_LOAD || i.opcode == TENON_OPCODE_INDEX ||
      i.opcode == TENON_OPCODE_SIZE || tenon__opcode_is_reduction(i.opcode)) {
    return false;
  }
  if (i.opcode == TENON_OPCODE_INPUT) {
    const uint32_t operand = (uint32_t)i.immediate.i;
    if (operand == l->operand) {
      return false;
    }
    i.immediate.i = tenon__assembler_operand(
        &l->assembler, &l->expression->program.operands[operand],
        &l->expression->accesses[operand]);
  }
  for (uint32_t o = 0; o < tenon__opcode_operand_count(i.opcode); ++o) {
    const pair_t* p = &l->pairs[i.operands[o]];
    if (!p->valid || p->scale != TENON_NONE || p->shift == TENON_NONE) {
      return false;
    }
    i.operands[o] = p->shift;
  }
  *out_pair = (pair_t){.valid = true,
                       .scale = TENON_NONE,
                       .shift = tenon__assembler_add(&l->assembler, &i, NULL)};
  return true;
}

static pair_t pair_of(linear_t* l, uint32_t index) {
  const tenon_instruction_t* i = &l->expression->program.instructions[index];
  pair_t result = {0};
  if (copy_free(l, index, &result)) {
    return result;
  }
  if (i->dtype != l->dtype) {
    return result;
  }
  if (i->opcode == TENON_OPCODE_INPUT && (uint32_t)i->immediate.i == l->operand) {
    result.valid = true;
    result.scale = tenon__assembler_constant(&l->assembler, l->dtype, (tenon__scalar_t){.f = 1});
    result.shift = TENON_NONE;
    return result;
  }
  if (i->opcode == TENON_OPCODE_NEG && l->pairs[i->operands[0]].valid) {
    const pair_t a = l->pairs[i->operands[0]];
    result.valid = true;
    result.scale = sum_of(l, TENON_OPCODE_SUB, TENON_NONE, a.scale);
    result.shift = sum_of(l, TENON_OPCODE_SUB, TENON_NONE, a.shift);
    return result;
  }
  if (tenon__opcode_operand_count(i->opcode) == 2) {
    return combine(l, i);
  }
  return result;
}

static tenon_status_t finish(linear_t* l, uint32_t instruction, double missing,
                             tenon__expression_t* out_expression) {
  const tenon__expression_t* e = l->expression;
  if (instruction == TENON_NONE) {
    instruction =
        tenon__assembler_constant(&l->assembler, l->dtype, (tenon__scalar_t){.f = missing});
  }
  const tenon_program_output_t output = {.instruction = instruction,
                                         .dtype = e->program.outputs[0].dtype};
  return tenon__assembler_finish(&l->assembler, &output, e->output_axes, e->output_ranks, 1,
                                 out_expression);
}

bool tenon__expression_linear_in(const tenon__expression_t* expression, uint32_t operand,
                                 tenon__arena_t* arena, tenon__expression_t* out_scale,
                                 tenon__expression_t* out_shift) {
  const tenon_program_t* program = &expression->program;
  linear_t l = {.expression = expression, .operand = operand};
  if (program->output_count != 1 || operand >= program->operand_count ||
      program->operands[operand].indexed != 0) {
    return false;
  }
  l.dtype = program->instructions[program->outputs[0].instruction].dtype;
  l.pairs = tenon__arena_allocate(arena, program->instruction_count + 1u, sizeof *l.pairs);
  if (tenon__dtype_class(l.dtype) != 'f' || l.pairs == NULL ||
      !tenon__assembler_initialize(&l.assembler, arena, program->rank, expression->space,
                                   4 * program->instruction_count + 4, program->operand_count,
                                   program->coordinate_count)) {
    return false;
  }
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    l.pairs[k] = pair_of(&l, k);
  }
  const pair_t result = l.pairs[program->outputs[0].instruction];
  return result.valid && result.scale != TENON_NONE &&
         finish(&l, result.scale, 1, out_scale) == TENON_OK &&
         finish(&l, result.shift, 0, out_shift) == TENON_OK;
}
