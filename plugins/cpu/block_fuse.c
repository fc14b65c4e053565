/*
 * Fuses steps of a phase, which saves passes over a block. It fuses exp(x - m) with its sum, as in
 * a softmax, and (x - m)^2 with its sum, as in a normalisation. It also fuses a * s * g + b and
 * quantisation, GELU and the search of arg_max. Divisions exp(x - m) / sum use a reciprocal.
 */
#include "block_plan.h"

static const tenon_instruction_t* instruction_at(const tenon__cpu_block_t* block, uint32_t i) {
  return &block->program->source.instructions[i];
}

static bool is_row(const tenon__cpu_block_t* block, uint32_t i) {
  return (block->varies[i] & TENON_CPU_COLUMNS) != 0;
}

/* Returns the step of [begin, end) that computes the value, or TENON_NONE. */
static uint32_t find_maker(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                           uint32_t instruction) {
  for (uint32_t s = begin; s < end; s++) {
    const step_kind_t kind = block->steps[s].kind;
    if (kind != STEP_REDUCE && kind != STEP_FOUND && kind != STEP_WRITE &&
        block->steps[s].result == instruction) {
      return s;
    }
  }
  return TENON_NONE;
}

static bool reads(const tenon__cpu_block_t* block, const step_t* step, uint32_t instruction) {
  const tenon_instruction_t* in = instruction_at(block, step->result);
  if (step->kind == STEP_REDUCE || step->kind == STEP_WRITE || step->kind == STEP_GELU) {
    return step->inputs[0] == instruction;
  }
  if (step->kind == STEP_SHIFTED_SUM) {
    return step->inputs[0] == instruction || step->inputs[1] == instruction ||
           step->guard == instruction || step->guarded == instruction;
  }
  if (step->kind == STEP_SCALED || step->kind == STEP_QUANTIZED || step->kind == STEP_FOUND ||
      step->kind == STEP_AFFINE) {
    return step->inputs[0] == instruction || step->inputs[1] == instruction ||
           step->inputs[2] == instruction ||
           (step->kind != STEP_QUANTIZED && step->addend == instruction);
  }
  if (step->kind == STEP_GATHER) {
    for (uint32_t k = 0; k < in->operands[1]; k++) {
      if (block->program->source.coordinates[in->operands[0] + k] == instruction) {
        return true;
      }
    }
    return false;
  }
  for (uint32_t k = 0; k < tenon__cpu_opcode_operands(in->opcode); k++) {
    if (in->operands[k] == instruction) {
      return true;
    }
  }
  return false;
}

/* Returns true if a step other than `but` and `or_but` reads the value. If one block covers all
 * phases, the steps of later phases count too. */
static bool is_read(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                    uint32_t instruction, uint32_t but, uint32_t or_but) {
  const uint32_t last = block->shape.whole ? block->step_count : end;
  for (uint32_t s = begin; s < last; s++) {
    if (s != but && s != or_but && block->steps[s].kind != STEP_NONE &&
        reads(block, &block->steps[s], instruction)) {
      return true;
    }
  }
  return false;
}

/* Returns true if the step subtracts one number for each row from a row. */
static bool is_shifted(const tenon__cpu_block_t* block, uint32_t step) {
  const tenon_instruction_t* in = instruction_at(block, block->steps[step].result);
  return block->steps[step].kind == STEP_BINARY && in->opcode == TENON_OPCODE_SUB &&
         is_row(block, in->operands[0]) && !is_row(block, in->operands[1]);
}

/* Turns `fused` into a step that also sums function(x - m) and removes the step `reduce`. */
static void make_sum(step_t* fused, step_t* reduce, tenon__cpu_shifted_sum_t function) {
  fused->kind = STEP_SHIFTED_SUM;
  fused->sum = reduce->result;
  fused->function = function;
  fused->guard = fused->guarded = TENON_NONE;
  reduce->kind = STEP_NONE;
}

/* Fuses exp(x - m) with its sum. Both steps must be in this phase. No other step may read x - m.
 * `maker` may be a SELECT between exp(x - m) and a number, with one condition for each row. */
static void fuse_exp(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t sum,
                     uint32_t maker) {
  step_t* fused = &block->steps[maker];
  const tenon_instruction_t* in = instruction_at(block, fused->result);
  const bool selects = fused->kind == STEP_SELECT;
  uint32_t exp = maker;
  if (selects) {
    exp = find_maker(block, begin, end, in->operands[2]);
    if (exp == TENON_NONE || block->steps[exp].kind != STEP_UNARY ||
        block->steps[exp].output != TENON_NONE || is_row(block, in->operands[0]) ||
        is_row(block, in->operands[1]) ||
        is_read(block, begin, end, in->operands[2], maker, TENON_NONE)) {
      return;
    }
  }
  const tenon_instruction_t* function = instruction_at(block, block->steps[exp].result);
  const uint32_t shifted = function->operands[0];
  const uint32_t sub = find_maker(block, begin, end, shifted);
  if (function->opcode != TENON_OPCODE_EXP || sub == TENON_NONE || !is_shifted(block, sub) ||
      block->steps[sub].output != TENON_NONE ||
      is_read(block, begin, end, shifted, exp, TENON_NONE)) {
    return;
  }
  block->steps[exp].kind = STEP_NONE;
  make_sum(fused, &block->steps[sum], block->elements->exp_sum);
  memcpy(fused->inputs, block->steps[sub].inputs, sizeof(fused->inputs));
  fused->guard = selects ? in->operands[0] : TENON_NONE;
  fused->guarded = selects ? in->operands[1] : TENON_NONE;
  fused->discards =
      fused->output == TENON_NONE && !is_read(block, begin, end, fused->result, maker, sum);
  block->steps[sub].kind = STEP_NONE;
}

/* Fuses d * d with its sum. No other step may read d * d. If this phase computes d = x - m, the
 * fused step also computes d. */
static void fuse_square(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t sum,
                        uint32_t maker) {
  step_t* reduce = &block->steps[sum];
  step_t* square = &block->steps[maker];
  const uint32_t shifted = square->inputs[0];
  const uint32_t sub = find_maker(block, begin, end, shifted);
  if (square->inputs[1] != shifted || square->output != TENON_NONE ||
      is_read(block, begin, end, square->result, sum, TENON_NONE)) {
    return;
  }
  step_t* fused = square;
  if (sub != TENON_NONE && is_shifted(block, sub)) {
    fused = &block->steps[sub];
    fused->discards =
        fused->output == TENON_NONE && !is_read(block, begin, end, shifted, maker, TENON_NONE);
    square->kind = STEP_NONE;
  } else if (is_row(block, shifted)) {
    square->inputs[1] = TENON_NONE;
    square->discards = true;
  } else {
    return;
  }
  make_sum(fused, reduce, block->elements->square_sum);
}

static void fuse_phase(tenon__cpu_block_t* block, uint32_t begin, uint32_t end) {
  for (uint32_t s = begin; s < end; s++) {
    const step_t* step = &block->steps[s];
    if (step->kind != STEP_REDUCE) {
      continue;
    }
    const uint32_t opcode = instruction_at(block, step->result)->opcode;
    const uint32_t maker = find_maker(block, begin, end, step->inputs[0]);
    const bool adds = opcode == TENON_OPCODE_SUM || opcode == TENON_OPCODE_MEAN;
    if (!adds || maker == TENON_NONE || block->program->types[step->result] != TENON_CPU_TYPE_F32) {
      continue;
    }
    const uint32_t made_by = instruction_at(block, step->inputs[0])->opcode;
    if ((made_by == TENON_OPCODE_EXP && block->steps[maker].kind == STEP_UNARY) ||
        block->steps[maker].kind == STEP_SELECT) {
      fuse_exp(block, begin, end, s, maker);
    } else if (made_by == TENON_OPCODE_MUL && block->steps[maker].kind == STEP_BINARY) {
      fuse_square(block, begin, end, s, maker);
    }
  }
}

/* Returns true if the step adds or multiplies two different rows of f32. */
static bool joins_rows(const tenon__cpu_block_t* block, const step_t* step, uint32_t opcode) {
  const tenon_instruction_t* in = instruction_at(block, step->result);
  return step->kind == STEP_BINARY && in->opcode == opcode &&
         block->program->types[step->result] == TENON_CPU_TYPE_F32 &&
         is_row(block, in->operands[0]) && is_row(block, in->operands[1]) &&
         in->operands[0] != in->operands[1];
}

/* Returns the step of this phase that computes a value which only step `reader` reads, or
 * TENON_NONE. */
static uint32_t find_own(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                         uint32_t instruction, uint32_t reader) {
  const uint32_t maker = find_maker(block, begin, end, instruction);
  return maker != TENON_NONE && block->steps[maker].output == TENON_NONE &&
                 !is_read(block, begin, end, instruction, reader, TENON_NONE)
             ? maker
             : TENON_NONE;
}

/* Fuses (a * s) * g, where s is one number for each row and a and g are rows. */
static void fuse_product(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const tenon_instruction_t* in = instruction_at(block, step->result);
  for (uint32_t side = 0; side < 2 && step->kind == STEP_BINARY; side++) {
    const uint32_t maker = find_own(block, begin, end, in->operands[side], at);
    if (maker == TENON_NONE || block->steps[maker].kind != STEP_BINARY) {
      continue;
    }
    const tenon_instruction_t* scaled = instruction_at(block, block->steps[maker].result);
    const uint32_t row = is_row(block, scaled->operands[0]) ? 0 : 1;
    if (scaled->opcode == TENON_OPCODE_MUL && is_row(block, scaled->operands[row]) &&
        !is_row(block, scaled->operands[1 - row])) {
      step->kind = STEP_SCALED;
      step->inputs[0] = scaled->operands[row];
      step->inputs[1] = scaled->operands[1 - row];
      step->inputs[2] = in->operands[1 - side];
      step->addend = TENON_NONE;
      block->steps[maker].kind = STEP_NONE;
    }
  }
}

/* Fuses (a * s) * g + b, where b is a row. */
static void fuse_addend(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const tenon_instruction_t* in = instruction_at(block, step->result);
  for (uint32_t side = 0; side < 2 && step->kind == STEP_BINARY; side++) {
    const uint32_t maker = find_own(block, begin, end, in->operands[side], at);
    if (maker != TENON_NONE && block->steps[maker].kind == STEP_SCALED &&
        block->steps[maker].addend == TENON_NONE) {
      memcpy(step->inputs, block->steps[maker].inputs, sizeof(step->inputs));
      step->kind = STEP_SCALED;
      step->addend = in->operands[1 - side];
      block->steps[maker].kind = STEP_NONE;
    }
  }
}

static void fuse_scaled(tenon__cpu_block_t* block, uint32_t begin, uint32_t end) {
  for (uint32_t s = begin; s < end; s++) {
    if (joins_rows(block, &block->steps[s], TENON_OPCODE_MUL)) {
      fuse_product(block, begin, end, s);
    } else if (joins_rows(block, &block->steps[s], TENON_OPCODE_ADD)) {
      fuse_addend(block, begin, end, s);
    }
  }
}

/* Returns the instruction that computes `operand` if it has this opcode and only step *inout_at
 * reads it. Otherwise returns NULL. */
static const tenon_instruction_t* own_operand(const tenon__cpu_block_t* block, uint32_t begin,
                                              uint32_t end, uint32_t operand, uint32_t* inout_at,
                                              uint32_t opcode) {
  const uint32_t maker = find_own(block, begin, end, operand, *inout_at);
  if (maker == TENON_NONE || block->program->types[operand] != TENON_CPU_TYPE_F32 ||
      (block->steps[maker].kind != STEP_UNARY && block->steps[maker].kind != STEP_BINARY) ||
      instruction_at(block, operand)->opcode != opcode) {
    return NULL;
  }
  *inout_at = maker;
  return instruction_at(block, operand);
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
  uint32_t x;
  uint32_t makers[4]; /* steps to remove */
} gelu_t;

/* erf(x / sqrt(2)) + 1, which only step `reader` reads. */
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

/* Fuses x * 0.5 * (erf(x / sqrt(2)) + 1), in any order of the factors. */
static void fuse_gelu(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const tenon_instruction_t* in = instruction_at(block, step->result);
  for (uint32_t side = 0; side < 2 && step->kind == STEP_BINARY; side++) {
    gelu_t gelu = {TENON_NONE, {at, at, at, at}};
    const tenon_instruction_t* pair =
        own_operand(block, begin, end, in->operands[side], &gelu.makers[3], TENON_OPCODE_MUL);
    uint32_t factors[3] = {in->operands[1 - side], TENON_NONE, TENON_NONE};
    if (pair != NULL) {
      memcpy(factors + 1, pair->operands, 2 * sizeof(*factors));
    }
    for (uint32_t gate = 0; gate < 3 && pair != NULL && step->kind == STEP_BINARY; gate++) {
      const uint32_t reader = gate == 0 ? at : gelu.makers[3];
      const uint32_t a = factors[(gate + 1) % 3];
      const uint32_t b = factors[(gate + 2) % 3];
      if (find_gate(block, begin, end, factors[gate], reader, &gelu) &&
          ((a == gelu.x && is_number(block, b, 0.5F)) ||
           (b == gelu.x && is_number(block, a, 0.5F))) &&
          block->varies[gelu.x] == block->varies[step->result]) {
        step->kind = STEP_GELU;
        step->inputs[0] = gelu.x;
        for (uint32_t k = 0; k < 4; k++) {
          block->steps[gelu.makers[k]].kind = STEP_NONE;
        }
      }
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
    if (!is_row(block, x) || (shifted == NULL && side % 2 == 0 &&
                              find_maker(block, begin, end, scaled->operands[1]) != TENON_NONE &&
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

/* Fuses the minimum or maximum of (x != x | x == m ? a : b), where x is a row of f32 and a and b
 * are i64. Of m and a one is a number for each row and one is a row, as the reduced axis has it. */
static void fuse_found(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const uint32_t opcode = instruction_at(block, step->result)->opcode;
  const bool by_columns = block->shape.columns_reduced;
  const uint32_t select = find_own(block, begin, end, step->inputs[0], at);
  if ((opcode != TENON_OPCODE_REDUCE_MIN && opcode != TENON_OPCODE_REDUCE_MAX) ||
      select == TENON_NONE || block->steps[select].kind != STEP_SELECT ||
      block->program->types[step->result] != TENON_CPU_TYPE_I64) {
    return;
  }
  const tenon_instruction_t* taken = instruction_at(block, block->steps[select].result);
  const uint32_t either = find_own(block, begin, end, taken->operands[0], select);
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
  const uint32_t is_nan = find_own(block, begin, end, parts->operands[side], either);
  const uint32_t is_equal = find_own(block, begin, end, parts->operands[1 - side], either);
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

/* Returns true for exp(x) and for a SELECT whose third operand is exp(x). */
static bool is_exponential(const tenon__cpu_block_t* block, uint32_t i) {
  const tenon_instruction_t* in = instruction_at(block, i);
  in = in->opcode == TENON_OPCODE_SELECT ? instruction_at(block, in->operands[2]) : in;
  return in->opcode == TENON_OPCODE_EXP;
}

/* Marks divisions exp(x - m) / sum, which use one reciprocal of the sum for a whole row. */
static void mark_reciprocals(tenon__cpu_block_t* block) {
  for (uint32_t s = 0; s < block->step_count; s++) {
    step_t* step = &block->steps[s];
    const tenon_instruction_t* in = instruction_at(block, step->result);
    step->reciprocal = step->kind == STEP_BINARY && in->opcode == TENON_OPCODE_DIV &&
                       block->program->types[step->result] == TENON_CPU_TYPE_F32 &&
                       is_exponential(block, in->operands[0]) &&
                       instruction_at(block, in->operands[1])->opcode == TENON_OPCODE_SUM &&
                       is_row(block, in->operands[0]) && !is_row(block, in->operands[1]);
  }
}

static void fuse_list(tenon__cpu_block_t* block, uint32_t begin, uint32_t end) {
  for (uint32_t s = begin; s < end; s++) {
    if (binary_of(block, &block->steps[s]) == TENON_OPCODE_MUL) {
      fuse_gelu(block, begin, end, s);
    }
  }
  if (block->shape.columns_reduced) {
    fuse_phase(block, begin, end);
    fuse_scaled(block, begin, end);
  }
  for (uint32_t s = begin; s < end; s++) {
    fuse_quantized(block, begin, end, s);
    if (block->steps[s].kind == STEP_REDUCE) {
      fuse_found(block, begin, end, s);
    } else if (binary_of(block, &block->steps[s]) == TENON_OPCODE_ADD) {
      fuse_affine(block, begin, end, s);
    }
  }
}

void tenon__cpu_block_fuse(tenon__cpu_block_t* block) {
  const uint32_t lists = block->program->phase_count + 1;
  uint32_t kept = 0;
  for (uint32_t list = 0; list < lists; list++) {
    fuse_list(block, block->phase_begin[list], block->phase_begin[list + 1]);
  }
  if (block->shape.columns_reduced) {
    mark_reciprocals(block);
  }
  for (uint32_t list = 0; list <= lists; list++) {
    const uint32_t end = list < lists ? block->phase_begin[list + 1] : block->step_count;
    const uint32_t begin = block->phase_begin[list];
    block->phase_begin[list] = kept;
    for (uint32_t s = begin; s < end; s++) {
      if (block->steps[s].kind != STEP_NONE) {
        block->steps[kept++] = block->steps[s];
      }
    }
  }
  block->step_count = kept;
}
