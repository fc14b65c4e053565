/*
 * Fuses steps of a phase, which saves passes over a block. This file fuses exp(x - m) with its sum,
 * as in a softmax, (x - m)^2 with its sum, as in a normalisation, and a * s * g + b. Divisions
 * exp(x - m) / sum use a reciprocal. block_fuse_elements.c fuses steps without sums.
 */
#include "block_fuse.h"

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
    exp = tenon__cpu_block_find_maker(block, begin, end, in->operands[2]);
    if (exp == TENON_NONE || block->steps[exp].kind != STEP_UNARY ||
        block->steps[exp].output != TENON_NONE || is_row(block, in->operands[0]) ||
        is_row(block, in->operands[1]) ||
        tenon__cpu_block_is_read(block, begin, end, in->operands[2], maker, TENON_NONE)) {
      return;
    }
  }
  const tenon_instruction_t* function = instruction_at(block, block->steps[exp].result);
  const uint32_t shifted = function->operands[0];
  const uint32_t sub = tenon__cpu_block_find_maker(block, begin, end, shifted);
  if (function->opcode != TENON_OPCODE_EXP || sub == TENON_NONE || !is_shifted(block, sub) ||
      block->steps[sub].output != TENON_NONE ||
      tenon__cpu_block_is_read(block, begin, end, shifted, exp, TENON_NONE)) {
    return;
  }
  block->steps[exp].kind = STEP_NONE;
  make_sum(fused, &block->steps[sum], block->elements->exp_sum);
  memcpy(fused->inputs, block->steps[sub].inputs, sizeof(fused->inputs));
  fused->guard = selects ? in->operands[0] : TENON_NONE;
  fused->guarded = selects ? in->operands[1] : TENON_NONE;
  fused->discards = fused->output == TENON_NONE &&
                    !tenon__cpu_block_is_read(block, begin, end, fused->result, maker, sum);
  block->steps[sub].kind = STEP_NONE;
}

/* Fuses d * d with its sum. No other step may read d * d. If this phase computes d = x - m, the
 * fused step also computes d. */
static void fuse_square(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t sum,
                        uint32_t maker) {
  step_t* reduce = &block->steps[sum];
  step_t* square = &block->steps[maker];
  const uint32_t shifted = square->inputs[0];
  const uint32_t sub = tenon__cpu_block_find_maker(block, begin, end, shifted);
  if (square->inputs[1] != shifted || square->output != TENON_NONE ||
      tenon__cpu_block_is_read(block, begin, end, square->result, sum, TENON_NONE)) {
    return;
  }
  step_t* fused = square;
  if (sub != TENON_NONE && is_shifted(block, sub)) {
    fused = &block->steps[sub];
    fused->discards = fused->output == TENON_NONE &&
                      !tenon__cpu_block_is_read(block, begin, end, shifted, maker, TENON_NONE);
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
    const uint32_t maker = tenon__cpu_block_find_maker(block, begin, end, step->inputs[0]);
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

/* Fuses (a * s) * g, where s is one number for each row and a and g are rows. */
static void fuse_product(tenon__cpu_block_t* block, uint32_t begin, uint32_t end, uint32_t at) {
  step_t* step = &block->steps[at];
  const tenon_instruction_t* in = instruction_at(block, step->result);
  for (uint32_t side = 0; side < 2 && step->kind == STEP_BINARY; side++) {
    const uint32_t maker = tenon__cpu_block_find_own(block, begin, end, in->operands[side], at);
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
    const uint32_t maker = tenon__cpu_block_find_own(block, begin, end, in->operands[side], at);
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
  tenon__cpu_block_fuse_gelu(block, begin, end);
  if (block->shape.columns_reduced) {
    fuse_phase(block, begin, end);
    fuse_scaled(block, begin, end);
  }
  tenon__cpu_block_fuse_elements(block, begin, end);
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
