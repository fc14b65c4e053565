/* Is an expression scale * x + shift? One walk over the instructions keeps for each the pair
 * (scale, shift) as instructions of a new program. */
#include "core/program/linear.h"

#include <string.h>

#include "core/base/status.h"
#include "core/program/normalise.h"
#include "core/program/simplify.h"

/* TENON_NONE: zero. What does not depend on x has scale zero. */
typedef struct pair_t {
  bool valid;
  uint32_t scale;
  uint32_t shift;
} pair_t;

typedef struct linear_t {
  const tenon__expression_t* expression;
  uint32_t operand;
  tenon__simplifier_t simplifier;
  uint32_t* operands; /* of the expression -> of the builder */
  pair_t* pairs;
  tenon_dtype_t dtype;
} linear_t;

static uint32_t operation(linear_t* l, uint32_t opcode, uint32_t a, uint32_t b) {
  return tenon__simplify_operation(&l->simplifier, opcode, l->dtype, a, b, 0);
}

/* a + b or a - b where either may be zero. */
static uint32_t sum_of(linear_t* l, uint32_t opcode, uint32_t a, uint32_t b) {
  if (b == TENON_NONE) {
    return a;
  }
  if (a == TENON_NONE) {
    return opcode == TENON_OPCODE_ADD ? b : operation(l, TENON_OPCODE_NEG, b, 0);
  }
  return operation(l, opcode, a, b);
}

/* a * b or a / b where a may be zero. */
static uint32_t product_of(linear_t* l, uint32_t opcode, uint32_t a, uint32_t b) {
  return a == TENON_NONE ? TENON_NONE : operation(l, opcode, a, b);
}

static bool is_free(const pair_t* pair) {
  return pair->valid && pair->scale == TENON_NONE && pair->shift != TENON_NONE;
}

static pair_t pair_of_binary(linear_t* l, const tenon_instruction_t* i) {
  const pair_t a = l->pairs[i->operands[0]];
  const pair_t b = l->pairs[i->operands[1]];
  pair_t result = {0};
  if (!a.valid || !b.valid) {
    return result;
  }
  if (i->opcode == TENON_OPCODE_ADD || i->opcode == TENON_OPCODE_SUB) {
    result.valid = true;
    result.scale = sum_of(l, i->opcode, a.scale, b.scale);
    result.shift = sum_of(l, i->opcode, a.shift, b.shift);
  } else if (i->opcode == TENON_OPCODE_MUL && (is_free(&a) || is_free(&b))) {
    const pair_t* varying = is_free(&b) ? &a : &b;
    const uint32_t factor = is_free(&b) ? b.shift : a.shift;
    result.valid = true;
    result.scale = product_of(l, TENON_OPCODE_MUL, varying->scale, factor);
    result.shift = product_of(l, TENON_OPCODE_MUL, varying->shift, factor);
  } else if (i->opcode == TENON_OPCODE_DIV && is_free(&b)) {
    result.valid = true;
    result.scale = product_of(l, TENON_OPCODE_DIV, a.scale, b.shift);
    result.shift = product_of(l, TENON_OPCODE_DIV, a.shift, b.shift);
  }
  return result;
}

/* What depends on nothing that depends on x is copied as it is. */
static bool copy_free(linear_t* l, uint32_t index, pair_t* out_pair) {
  const tenon_program_t* program = &l->expression->program;
  tenon_instruction_t i = program->instructions[index];
  uint32_t coordinates[64];
  uint32_t count = 0;
  const uint32_t* needs =
      tenon__instruction_needs(program->coordinates, &program->instructions[index], &count);
  const bool is_load = i.opcode == TENON_OPCODE_LOAD;
  if (i.opcode == TENON_OPCODE_INPUT && (uint32_t)i.immediate.i == l->operand) {
    return false;
  }
  for (uint32_t k = 0; k < count && k < 64; ++k) {
    const pair_t* pair = &l->pairs[needs[k]];
    if (!is_free(pair)) {
      return false;
    }
    coordinates[k] = pair->shift;
  }
  if (!is_load) {
    memcpy(i.operands, coordinates, count * sizeof(uint32_t));
  }
  if (tenon__opcode_reads_operand(i.opcode)) {
    i.immediate.i = (int64_t)l->operands[i.immediate.i];
  }
  *out_pair = (pair_t){.valid = true,
                       .scale = TENON_NONE,
                       .shift = tenon__simplify_emit(&l->simplifier, &i, coordinates)};
  return true;
}

static pair_t pair_of(linear_t* l, uint32_t index) {
  const tenon_instruction_t* i = &l->expression->program.instructions[index];
  pair_t result = {0};
  if (copy_free(l, index, &result) || i->dtype != l->dtype) {
    return result;
  }
  if (i->opcode == TENON_OPCODE_INPUT) {
    const tenon__scalar_t one = {.f = 1.0};
    return (pair_t){.valid = true,
                    .scale = tenon__emit_constant(&l->simplifier.builder, l->dtype, one),
                    .shift = TENON_NONE};
  }
  if (i->opcode == TENON_OPCODE_NEG && l->pairs[i->operands[0]].valid) {
    const pair_t* a = &l->pairs[i->operands[0]];
    return (pair_t){.valid = true,
                    .scale = sum_of(l, TENON_OPCODE_SUB, TENON_NONE, a->scale),
                    .shift = sum_of(l, TENON_OPCODE_SUB, TENON_NONE, a->shift)};
  }
  return tenon__opcode_operand_count(i->opcode) == 2 ? pair_of_binary(l, i) : result;
}

static tenon_status_t finish(linear_t* l, uint32_t instruction, tenon__arena_t* arena,
                             tenon__expression_t* out_expression) {
  if (instruction == TENON_NONE) {
    instruction = tenon__emit_constant(&l->simplifier.builder, l->dtype, (tenon__scalar_t){.f = 0});
  }
  tenon_program_output_t output = l->expression->program.outputs[0];
  output.instruction = instruction;
  return tenon__expression_gather(&l->simplifier.builder, l->expression, &output, arena,
                                  out_expression);
}

tenon_status_t tenon__expression_linear_in(const tenon__expression_t* expression, uint32_t operand,
                                           tenon__arena_t* arena, tenon__expression_t* out_scale,
                                           tenon__expression_t* out_shift) {
  const tenon_program_t* program = &expression->program;
  linear_t l = {.expression = expression, .operand = operand};
  if (program->output_count != 1 || operand >= program->operand_count ||
      program->operands[operand].indexed != 0 ||
      (program->outputs[0].reserved & TENON_OUTPUT_ROUNDS) != 0) {
    return TENON_ERROR_UNSUPPORTED;
  }
  l.dtype = tenon__instruction_type(&program->instructions[program->outputs[0].instruction]);
  if (tenon__dtype_class(l.dtype) != 'f') {
    return TENON_ERROR_UNSUPPORTED;
  }
  l.pairs = tenon__arena_allocate(arena, program->instruction_count + 1u, sizeof(*l.pairs));
  l.operands = tenon__arena_allocate(arena, program->operand_count + 1u, sizeof(*l.operands));
  TENON_TRY_MEMORY(l.pairs != NULL && l.operands != NULL);
  tenon__simplifier_initialize(&l.simplifier, arena);
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    l.operands[k] =
        tenon__emit_operand(&l.simplifier.builder, &program->operands[k], &expression->accesses[k]);
  }
  for (uint32_t k = 0; k < program->instruction_count && !l.simplifier.builder.failed; ++k) {
    l.pairs[k] = pair_of(&l, k);
  }
  TENON_TRY_MEMORY(!l.simplifier.builder.failed);
  const pair_t result = l.pairs[program->outputs[0].instruction];
  if (!result.valid || result.scale == TENON_NONE) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(finish(&l, result.scale, arena, out_scale));
  return finish(&l, result.shift, arena, out_shift);
}
