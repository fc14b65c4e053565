/* Is an expression scale * x + shift? One walk over the instructions keeps for each the pair
 * (scale, shift) as instructions of a new program. */
#include "core/program/linear.h"

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
  uint32_t* shifts; /* of the pairs */
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

/* What is linear in its operands; -a is 0 - a. */
static pair_t pair_of_operation(linear_t* l, const tenon_instruction_t* i) {
  const bool is_negation = i->opcode == TENON_OPCODE_NEG;
  const uint32_t sum = is_negation ? TENON_OPCODE_SUB : i->opcode;
  const pair_t zero = {.valid = true, .scale = TENON_NONE, .shift = TENON_NONE};
  const pair_t a = is_negation ? zero : l->pairs[i->operands[0]];
  const pair_t b = l->pairs[i->operands[is_negation ? 0 : 1]];
  pair_t result = {.valid = a.valid && b.valid};
  if (result.valid && (sum == TENON_OPCODE_ADD || sum == TENON_OPCODE_SUB)) {
    result.scale = sum_of(l, sum, a.scale, b.scale);
    result.shift = sum_of(l, sum, a.shift, b.shift);
  } else if (result.valid && ((i->opcode == TENON_OPCODE_MUL && (is_free(&a) || is_free(&b))) ||
                              (i->opcode == TENON_OPCODE_DIV && is_free(&b)))) {
    const pair_t* varying = is_free(&b) ? &a : &b;
    const uint32_t factor = is_free(&b) ? b.shift : a.shift;
    result.scale = product_of(l, i->opcode, varying->scale, factor);
    result.shift = product_of(l, i->opcode, varying->shift, factor);
  } else {
    result.valid = false;
  }
  return result;
}

/* What depends on nothing that depends on x is copied as it is. */
static bool copy_free(linear_t* l, uint32_t index, pair_t* out_pair) {
  const tenon_program_t* program = &l->expression->program;
  const tenon_instruction_t* i = &program->instructions[index];
  uint32_t coordinates[TENON_RANK_LIMIT];
  uint32_t count = 0;
  const uint32_t* needs = tenon__instruction_needs(program->coordinates, i, &count);
  bool copies = i->opcode != TENON_OPCODE_INPUT || (uint32_t)i->immediate.i != l->operand;
  for (uint32_t k = 0; k < count; ++k) {
    copies = copies && is_free(&l->pairs[needs[k]]);
  }
  if (copies) {
    const tenon_instruction_t own =
        tenon__instruction_renumber(program->coordinates, i, l->shifts, l->operands, coordinates);
    *out_pair = (pair_t){true, TENON_NONE, tenon__simplify_emit(&l->simplifier, &own, coordinates)};
  }
  return copies;
}

static pair_t pair_of(linear_t* l, uint32_t index) {
  const tenon_instruction_t* i = &l->expression->program.instructions[index];
  pair_t result = {0};
  if (copy_free(l, index, &result) || i->dtype != l->dtype) {
    return result;
  }
  if (i->opcode == TENON_OPCODE_INPUT) {
    const tenon__scalar_t one = {.f = 1.0};
    return (pair_t){true, tenon__emit_constant(&l->simplifier.builder, l->dtype, one), TENON_NONE};
  }
  return i->opcode == TENON_OPCODE_NEG || tenon__opcode_operand_count(i->opcode) == 2
             ? pair_of_operation(l, i)
             : result;
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
  l.shifts = tenon__arena_allocate(arena, program->instruction_count + 1u, sizeof(*l.shifts));
  TENON_TRY_MEMORY(l.pairs != NULL && l.operands != NULL && l.shifts != NULL);
  tenon__simplifier_initialize(&l.simplifier, arena);
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    l.operands[k] =
        tenon__emit_operand(&l.simplifier.builder, &program->operands[k], &expression->accesses[k]);
  }
  for (uint32_t k = 0; k < program->instruction_count && !l.simplifier.builder.failed; ++k) {
    l.pairs[k] = pair_of(&l, k);
    l.shifts[k] = l.pairs[k].shift;
  }
  TENON_TRY_MEMORY(!l.simplifier.builder.failed);
  const pair_t result = l.pairs[program->outputs[0].instruction];
  if (!result.valid || result.scale == TENON_NONE) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(finish(&l, result.scale, arena, out_scale));
  return finish(&l, result.shift, arena, out_shift);
}
