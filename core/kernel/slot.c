/* Comparison of a program with the limits of a slot: length, operands, and the axes along which
 * each operand varies. */
#include "core/kernel/slot.h"

#include "core/base/bytes.h"
#include "core/dimension/dimension_pool.h"
#include "core/program/scalar.h"

const tenon_slot_t* tenon__kernel_slot(const tenon_kernel_t* kernel, uint32_t number) {
  return number < kernel->slots.count ? tenon__list_item(&kernel->slots, number) : NULL;
}

/* The space of a program: which of its axes have an extent other than 1. */
static uint64_t wide_axes(const tenon__expression_t* expression, const tenon__dim_pool_t* pool) {
  uint64_t axes = 0;
  for (uint32_t k = 0; k < expression->program.rank; ++k) {
    int64_t extent = 0;
    const bool is_one = tenon__dim_known(pool, expression->space[k], &extent) && extent == 1;
    axes |= is_one ? 0 : UINT64_C(1) << k;
  }
  return axes;
}

/* The TENON_BROADCAST_* as which an operand may be read: several, where extents are 1. */
static uint32_t broadcasts_of(const tenon_slot_t* slot, const tenon_operand_t* operand,
                              uint32_t rank, uint64_t wide) {
  const uint64_t varying = wide & ~operand->broadcast_axes;
  const uint64_t channel = slot->channel_axis < rank ? UINT64_C(1) << slot->channel_axis : 0;
  const uint64_t last = rank > 0 ? UINT64_C(1) << (rank - 1) : 0;
  uint32_t kinds = varying == 0 ? TENON_BROADCAST_SCALAR : 0;
  if (operand->indexed != 0) {
    return TENON_BROADCAST_OTHER;
  }
  kinds |= channel != 0 && varying == (wide & channel) ? TENON_BROADCAST_CHANNEL : 0;
  kinds |= varying == (wide & ~last) ? TENON_BROADCAST_ROW : 0;
  kinds |= varying == wide ? TENON_BROADCAST_FULL : 0;
  return kinds != 0 ? kinds : TENON_BROADCAST_OTHER;
}

static const char* operand_fault(const tenon_slot_t* slot, const tenon__expression_t* expression,
                                 const tenon__dim_pool_t* pool) {
  const tenon_program_t* program = &expression->program;
  const uint64_t wide = wide_axes(expression, pool);
  uint32_t count = 0;
  for (uint32_t k = 0; k < program->operand_count; ++k) {
    const tenon_operand_t* operand = &program->operands[k];
    if (operand->kind == TENON_OPERAND_SLOT_VALUE) {
      continue;
    }
    if (++count > slot->max_operands) {
      return "its slot takes fewer operands";
    }
    if ((broadcasts_of(slot, operand, program->rank, wide) & slot->broadcasts) == 0) {
      return "its slot takes no operand that is broadcast like this one";
    }
  }
  return NULL;
}

static const char* instruction_fault(const tenon_slot_t* slot, const tenon_program_t* program) {
  if (slot->max_instructions > 0 && program->instruction_count > slot->max_instructions) {
    return "its slot takes fewer instructions";
  }
  for (uint32_t k = 0; k < program->instruction_count; ++k) {
    const tenon_instruction_t* instruction = &program->instructions[k];
    if (tenon__opcode_is_reduction(instruction->opcode)) {
      return "a slot takes no reductions";
    }
    if (slot->arithmetic != TENON_DTYPE_UNDEFINED && instruction->dtype != slot->arithmetic &&
        instruction->dtype != TENON_DTYPE_BOOL) {
      return "its slot computes in another element type";
    }
  }
  return NULL;
}

/* What would be said of a slot of the kind that the filling needs. */
static const char* place_fault(uint32_t kind) {
  return kind == TENON_SLOT_PROLOGUE ? "its slot is not on this input"
         : kind == TENON_SLOT_SIDE   ? "its slot is not beside its first output"
                                     : "its slot is not behind its first output";
}

const char* tenon__slot_fault(const tenon_slot_t* slot, const tenon__region_slot_t* filling,
                              const tenon__dim_pool_t* pool) {
  if (slot->kind != filling->kind || slot->index != filling->index) {
    return place_fault(filling->kind);
  }
  const char* fault = instruction_fault(slot, &filling->expression.program);
  return fault != NULL ? fault : operand_fault(slot, &filling->expression, pool);
}
