/* Finds the steps that compute and read a value. */
#include "block_fuse.h"

uint32_t tenon__cpu_block_find_maker(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
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
  if (tenon__cpu_block_has_three(step->kind)) {
    return step->inputs[0] == instruction || step->inputs[1] == instruction ||
           step->inputs[2] == instruction ||
           (tenon__cpu_block_has_addend(step->kind) && step->addend == instruction);
  }
  if (step->kind == STEP_GATHER) {
    for (uint32_t k = 0; k < in->operands[1]; k++) {
      if (tenon__cpu_block_coordinate(block, step, k) == instruction) {
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

bool tenon__cpu_block_is_read(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
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

uint32_t tenon__cpu_block_find_own(const tenon__cpu_block_t* block, uint32_t begin, uint32_t end,
                                   uint32_t instruction, uint32_t reader) {
  const uint32_t maker = tenon__cpu_block_find_maker(block, begin, end, instruction);
  return maker != TENON_NONE && block->steps[maker].output == TENON_NONE &&
                 !tenon__cpu_block_is_read(block, begin, end, instruction, reader, TENON_NONE)
             ? maker
             : TENON_NONE;
}

/* Returns true if instruction i is a constant integer of this value. */
static bool is_whole(const tenon__cpu_block_t* block, uint32_t i, int64_t value) {
  return block->is_constant[i] && block->program->types[i] == TENON_CPU_TYPE_I64 &&
         (int64_t)block->constants[i] == value;
}

/* Indices count from the end if they are negative: t < 0 ? t + extent : t. */
uint32_t tenon__cpu_block_wrapped(const tenon__cpu_block_t* block, const tenon_instruction_t* load,
                                  uint32_t axis) {
  const uint32_t c = block->program->source.coordinates[load->operands[0] + axis];
  const tenon_instruction_t* select = instruction_at(block, c);
  if (!block->is_shaped || select->opcode != TENON_OPCODE_SELECT) {
    return TENON_NONE;
  }
  const uint32_t t = select->operands[2];
  const tenon_instruction_t* less = instruction_at(block, select->operands[0]);
  const tenon_instruction_t* sum = instruction_at(block, select->operands[1]);
  const int64_t extent = block->shape.tables[load->immediate.i].dims[axis];
  const bool wraps = less->opcode == TENON_OPCODE_LT && less->operands[0] == t &&
                     is_whole(block, less->operands[1], 0) && sum->opcode == TENON_OPCODE_ADD &&
                     sum->operands[0] == t && is_whole(block, sum->operands[1], extent);
  return wraps ? t : TENON_NONE;
}
