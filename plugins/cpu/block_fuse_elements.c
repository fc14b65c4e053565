/* Fuses steps that have no sums: quantisation, GELU, (x - a) * b + c, and the search of arg_max. */
#include <string.h>

#include "block_fuse.h"

/* Returns the instruction that computes `operand` if it has this opcode and only step *inout_at
 * reads it. Otherwise returns NULL. */
static const tenon_instruction_t* own_operand(const tenon__cpu_block_t* block, uint32_t begin,
                                              uint32_t end, uint32_t operand, uint32_t* inout_at,
                                              uint32_t opcode) {
  const uint32_t maker = tenon__cpu_block_find_own(block, begin, end, operand, *inout_at);
  const step_kind_t kind = maker == TENON_NONE ? STEP_NONE : block->steps[maker].kind;
  if ((kind != STEP_UNARY && kind != STEP_BINARY && kind != STEP_CAST) ||
      block->program->types[operand] != TENON_CPU_TYPE_F32 ||
      instruction_at(block, operand)->opcode != opcode) {
    return NULL;
  }
  *inout_at = maker;
  return instruction_at(block, operand);
}

/* Fuses round(f32(x) * s) + z and its conversion to a byte, where x is a row of i32, s a row or one
 * number for each row, and z one number for each row. `makers` are the steps that add and round. */
static void fuse_requantized(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, step_t* step,
                             const uint32_t* makers, uint32_t zero) {
  uint32_t scales = makers[1];
  const tenon_instruction_t* rounded = instruction_at(block, block->steps[makers[1]].result);
  const tenon_instruction_t* product =
      own_operand(block, begin, end, rounded->operands[0], &scales, TENON_OPCODE_MUL);
  for (uint32_t side = 0; side < (product == NULL ? 0U : 2U); side++) {
    uint32_t casts = scales;
    const tenon_instruction_t* cast =
        own_operand(block, begin, end, product->operands[side], &casts, TENON_OPCODE_CAST);
    if (cast == NULL || !is_row(block, cast->operands[0]) ||
        block->program->types[cast->operands[0]] != TENON_CPU_TYPE_I32) {
      continue;
    }
    step->kind = STEP_REQUANTIZED;
    step->inputs[0] = cast->operands[0];
    step->inputs[1] = product->operands[1 - side];
    step->inputs[2] = zero;
    block->steps[makers[0]].kind = block->steps[makers[1]].kind = STEP_NONE;
    block->steps[scales].kind = block->steps[casts].kind = STEP_NONE;
    return;
  }
}

/* Fuses (f32(x) - z) * s, where x is a row of bytes, and s and z are one number for each row. */
static void fuse_dequantized(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  if (step->kind != STEP_BINARY || block->program->types[step->result] != TENON_CPU_TYPE_F32 ||
      instruction_at(block, step->result)->opcode != TENON_OPCODE_MUL) {
    return;
  }
  const tenon_instruction_t* product = instruction_at(block, step->result);
  for (uint32_t side = 0; side < 2; side++) {
    uint32_t subs = at;
    const uint32_t own = product->operands[side];
    const tenon_instruction_t* sub = own_operand(block, begin, end, own, &subs, TENON_OPCODE_SUB);
    uint32_t casts = subs;
    const tenon_instruction_t* cast = own_operand(
        block, begin, end, sub == NULL ? own : sub->operands[0], &casts, TENON_OPCODE_CAST);
    const uint32_t type =
        cast == NULL ? TENON_CPU_TYPE_COUNT : block->program->types[cast->operands[0]];
    if ((type != TENON_CPU_TYPE_U8 && type != TENON_CPU_TYPE_I8) ||
        !is_row(block, cast->operands[0]) || is_row(block, product->operands[1 - side]) ||
        (sub != NULL && is_row(block, sub->operands[1]))) {
      continue;
    }
    step->kind = STEP_DEQUANTIZED;
    step->inputs[0] = cast->operands[0];
    step->inputs[1] = product->operands[1 - side];
    step->inputs[2] = sub == NULL ? TENON_NONE : sub->operands[1];
    block->steps[casts].kind = STEP_NONE;
    block->steps[sub == NULL ? casts : subs].kind = STEP_NONE;
    return;
  }
}

/* Fuses round(x / s) + z and its conversion to a byte, where s and z are one number for each
 * row. */
static void fuse_quantized(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const uint8_t type = block->program->types[step->result];
  uint32_t makers[3] = {at, at, at};
  if (step->kind != STEP_CAST || (type != TENON_CPU_TYPE_U8 && type != TENON_CPU_TYPE_I8)) {
    return;
  }
  const uint32_t whole = instruction_at(block, step->result)->operands[0];
  const tenon_instruction_t* sum =
      own_operand(block, begin, end, whole, &makers[0], TENON_OPCODE_ADD);
  if (sum == NULL || !is_row(block, sum->operands[0]) || is_row(block, sum->operands[1])) {
    return;
  }
  makers[1] = makers[0];
  const tenon_instruction_t* rounded =
      own_operand(block, begin, end, sum->operands[0], &makers[1], TENON_OPCODE_ROUND);
  makers[2] = makers[1];
  const tenon_instruction_t* quotient =
      rounded == NULL
          ? NULL
          : own_operand(block, begin, end, rounded->operands[0], &makers[2], TENON_OPCODE_DIV);
  if (rounded != NULL && quotient == NULL) {
    fuse_requantized(block, begin, end, step, makers, sum->operands[1]);
    return;
  }
  if (quotient == NULL || !is_row(block, quotient->operands[0]) ||
      is_row(block, quotient->operands[1])) {
    return;
  }
  step->kind = STEP_QUANTIZED;
  step->inputs[0] = quotient->operands[0];
  step->inputs[1] = quotient->operands[1];
  step->inputs[2] = sum->operands[1];
  for (uint32_t k = 0; k < 3; k++) {
    block->steps[makers[k]].kind = STEP_NONE;
  }
}

static bool is_number(const tenon__cpu_block_t* block, uint32_t i, float number) {
  float value = 0;
  memcpy(&value, &block->constants[i], sizeof(value));
  return block->is_constant[i] && block->program->types[i] == TENON_CPU_TYPE_F32 && value == number;
}
/* Returns the other operand of a sum, product or quotient with this number on the right, or on the
 * left of a sum or product; else TENON_NONE. */
static uint32_t beside_number(const tenon__cpu_block_t* block, const tenon_instruction_t* in,
                              float number) {
  const bool commutes = in->opcode != TENON_OPCODE_DIV;
  return is_number(block, in->operands[1], number)               ? in->operands[0]
         : commutes && is_number(block, in->operands[0], number) ? in->operands[1]
                                                                 : TENON_NONE;
}

typedef struct gelu_t {
  uint32_t x;         /* instruction */
  uint32_t makers[4]; /* steps that become part of the fused step */
} gelu_t;

/* Finds erf(x / sqrt(2)) + 1 if only step `reader` reads it. */
static bool find_gate(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                      uint32_t operand, uint32_t reader, gelu_t* gelu) {
  uint32_t at = reader;
  const tenon_instruction_t* sum = own_operand(block, begin, end, operand, &at, TENON_OPCODE_ADD);
  const uint32_t function = sum == NULL ? TENON_NONE : beside_number(block, sum, 1.0F);
  gelu->makers[0] = at;
  const tenon_instruction_t* erf =
      function == TENON_NONE ? NULL
                             : own_operand(block, begin, end, function, &at, TENON_OPCODE_ERF);
  if (erf == NULL) {
    return false;
  }
  gelu->makers[1] = at;
  const uint32_t inner = erf->operands[0];
  const tenon_instruction_t* scaled = own_operand(block, begin, end, inner, &at, TENON_OPCODE_MUL);
  gelu->x = scaled == NULL ? TENON_NONE : beside_number(block, scaled, 0.70710678F);
  if (scaled == NULL) {
    scaled = own_operand(block, begin, end, inner, &at, TENON_OPCODE_DIV);
    gelu->x = scaled == NULL ? TENON_NONE : beside_number(block, scaled, 1.41421356F);
  }
  gelu->makers[2] = at;
  return gelu->x != TENON_NONE;
}

/* Returns true if one factor is x and the other is 0.5. */
static bool are_half(const tenon__cpu_block_t* block, uint32_t a, uint32_t b, uint32_t x) {
  return (a == x && is_number(block, b, 0.5F)) || (b == x && is_number(block, a, 0.5F));
}

/* Finds x * 0.5 * (erf(x / sqrt(2)) + 1), in any order of the factors. Operand `side` of the step is
 * the product of two factors. */
static bool find_gelu(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at,
                      uint32_t side, gelu_t* gelu) {
  const tenon_instruction_t* in = instruction_at(block, block->steps[at].result);
  uint32_t product = at;
  const tenon_instruction_t* pair =
      own_operand(block, begin, end, in->operands[side], &product, TENON_OPCODE_MUL);
  if (pair == NULL) {
    return false;
  }
  const uint32_t factors[3] = {in->operands[1 - side], pair->operands[0], pair->operands[1]};
  gelu->makers[3] = product;
  for (uint32_t gate = 0; gate < 3; gate++) {
    const uint32_t reader = gate == 0 ? at : product;
    if (find_gate(block, begin, end, factors[gate], reader, gelu)) {
      return are_half(block, factors[(gate + 1) % 3], factors[(gate + 2) % 3], gelu->x) &&
             block->varies[gelu->x] == block->varies[block->steps[at].result];
    }
  }
  return false;
}

static void fuse_gelu(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  gelu_t gelu;
  if (find_gelu(block, begin, end, at, 0, &gelu) || find_gelu(block, begin, end, at, 1, &gelu)) {
    step->kind = STEP_GELU;
    step->inputs[0] = gelu.x;
    for (uint32_t k = 0; k < 4; k++) {
      block->steps[gelu.makers[k]].kind = STEP_NONE;
    }
  }
}

/* Fuses (x - a) * b + c and x * b + c, in any order of the factors and terms. */
static void fuse_affine(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const tenon_instruction_t* in = instruction_at(block, step->result);
  for (uint32_t side = 0; side < 4 && step->kind == STEP_BINARY; side++) {
    uint32_t product = at;
    const tenon_instruction_t* scaled =
        own_operand(block, begin, end, in->operands[side / 2], &product, TENON_OPCODE_MUL);
    if (scaled == NULL || scaled->operands[0] == scaled->operands[1] ||
        in->operands[0] == in->operands[1]) {
      continue; /* a square, or twice the product */
    }
    uint32_t shift = product;
    uint32_t x = scaled->operands[side % 2];
    const tenon_instruction_t* shifted =
        own_operand(block, begin, end, x, &shift, TENON_OPCODE_SUB);
    x = shifted != NULL ? shifted->operands[0] : x;
    if (!is_row(block, x) ||
        (shifted == NULL && side % 2 == 0 &&
         tenon__cpu_block_find_maker(block, begin, end, scaled->operands[1]) != TENON_NONE &&
         is_row(block, scaled->operands[1]))) {
      continue; /* the other factor may be a difference */
    }
    step->kind = STEP_AFFINE;
    step->inputs[0] = x;
    step->inputs[1] = shifted != NULL ? shifted->operands[1] : TENON_NONE;
    step->inputs[2] = scaled->operands[1 - side % 2];
    step->addend = in->operands[1 - side / 2];
    block->steps[product].kind = STEP_NONE;
    if (shifted != NULL) {
      block->steps[shift].kind = STEP_NONE;
    }
  }
}

/* Returns the opcode of a step that joins two values of f32, else 0. */
static uint32_t binary_of(const tenon__cpu_block_t* block, const step_t* step) {
  return step->kind == STEP_BINARY && block->program->types[step->result] == TENON_CPU_TYPE_F32 &&
                 is_row(block, step->result)
             ? instruction_at(block, step->result)->opcode
             : 0;
}

/* Fuses the minimum or maximum of (x != x | x == m ? a : b), where x is a row of f32, and a and b are
 * i64. If rows are reduced, m is a row and a is one number for each row. If columns are reduced, m is
 * one number for each row and a is a row. */
static void fuse_found(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const uint32_t opcode = instruction_at(block, step->result)->opcode;
  const bool by_columns = block->shape.columns_reduced;
  const uint32_t select = tenon__cpu_block_find_own(block, begin, end, step->inputs[0], at);
  if ((opcode != TENON_OPCODE_REDUCE_MIN && opcode != TENON_OPCODE_REDUCE_MAX) ||
      select == TENON_NONE || block->steps[select].kind != STEP_SELECT ||
      block->program->types[step->result] != TENON_CPU_TYPE_I64) {
    return;
  }
  const tenon_instruction_t* taken = instruction_at(block, block->steps[select].result);
  const uint32_t either = tenon__cpu_block_find_own(block, begin, end, taken->operands[0], select);
  if (either == TENON_NONE ||
      instruction_at(block, taken->operands[0])->opcode != TENON_OPCODE_OR ||
      is_row(block, taken->operands[1]) != by_columns || is_row(block, taken->operands[2])) {
    return;
  }
  const tenon_instruction_t* parts = instruction_at(block, block->steps[either].result);
  const uint32_t side =
      instruction_at(block, parts->operands[0])->opcode == TENON_OPCODE_NE ? 0 : 1;
  const tenon_instruction_t* nan = instruction_at(block, parts->operands[side]);
  const tenon_instruction_t* equal = instruction_at(block, parts->operands[1 - side]);
  const uint32_t is_nan =
      tenon__cpu_block_find_own(block, begin, end, parts->operands[side], either);
  const uint32_t is_equal =
      tenon__cpu_block_find_own(block, begin, end, parts->operands[1 - side], either);
  const uint32_t x = nan->operands[0];
  if (is_nan == TENON_NONE || is_equal == TENON_NONE || nan->opcode != TENON_OPCODE_NE ||
      nan->operands[1] != x || equal->opcode != TENON_OPCODE_EQ || equal->operands[0] != x ||
      block->program->types[x] != TENON_CPU_TYPE_F32 || !is_row(block, x) ||
      is_row(block, equal->operands[1]) == by_columns) {
    return;
  }
  step->kind = STEP_FOUND;
  step->inputs[0] = x;
  step->inputs[1] = equal->operands[1];
  step->inputs[2] = taken->operands[1];
  step->addend = taken->operands[2];
  block->steps[select].kind = block->steps[either].kind = STEP_NONE;
  block->steps[is_nan].kind = block->steps[is_equal].kind = STEP_NONE;
}

void tenon__cpu_block_fuse_gelu(tenon__cpu_block_t* block, uint32_t begin, uint32_t end) {
  for (uint32_t s = begin; s < end; s++) {
    if (binary_of(block, &block->steps[s]) == TENON_OPCODE_MUL) {
      fuse_gelu(block, begin, end, s);
    }
  }
}

void tenon__cpu_block_fuse_elements(tenon__cpu_block_t* block, uint32_t begin, uint32_t end) {
  for (uint32_t s = begin; s < end; s++) {
    fuse_quantized(block, begin, end, s);
    fuse_dequantized(block, begin, end, s);
    if (block->steps[s].kind == STEP_REDUCE) {
      fuse_found(block, begin, end, s);
    } else if (binary_of(block, &block->steps[s]) == TENON_OPCODE_ADD) {
      fuse_affine(block, begin, end, s);
    }
  }
}
