/* Inputs of integer products, and programs in their slots as quantised networks have them. */
#ifndef TENON_CPU_FAKE_INTEGER_H_
#define TENON_CPU_FAKE_INTEGER_H_

#include "fake_program.h"
#include "fake_run.h"

/* Adds an input of random bytes. */
static inline fake_value_t* fake_byte_input(fake_t* fake, bool is_signed, uint32_t rank,
                                            const int64_t* dims, bool is_constant) {
  fake_value_t* value = fake_input(fake, is_signed ? TENON_DTYPE_INT8 : TENON_DTYPE_UINT8, rank,
                                   dims, is_constant, false);
  for (int64_t k = 0; k < fake_count(rank, dims); k++) {
    value->numbers[k] =
        (double)fake_choice(&fake->seed, is_signed ? -128 : 0, is_signed ? 127 : 255);
  }
  return value;
}

/* Adds an input of `count` zero points. If `count` is 0, the input is absent. */
static inline fake_value_t* fake_zero_input(fake_t* fake, bool is_signed, int64_t count) {
  static const int64_t absent[FAKE_RANK] = {0};
  return count > 0 ? fake_byte_input(fake, is_signed, 1, &count, false)
                   : fake_input(fake, TENON_DTYPE_INT8, FAKE_RANK, absent, false, false);
}

/* Returns zero point `at` of such an input: the only one, one of a list, or 0 if it is absent. */
static inline double fake_zero(const fake_value_t* zeros, int64_t at) {
  return zeros->info.rank != 1 ? 0 : zeros->numbers[zeros->dims[0] == 1 ? 0 : at];
}

typedef enum fake_integer_slot_t {
  FAKE_INTEGER_EMPTY,
  /* u8: round(sum * s) + 100, where s is a power of 2 for each channel */
  FAKE_INTEGER_QUANTIZED,
  /* i8: max(round((sum + b) * 2^-9), 0), where b is an i32 for each channel */
  FAKE_INTEGER_BIASED,
  FAKE_INTEGER_SCALED, /* f32: sum / 2 plus a tensor */
  FAKE_INTEGER_SLOTS
} fake_integer_slot_t;

static inline tenon_dtype_t fake_integer_dtype(fake_integer_slot_t slot) {
  return slot == FAKE_INTEGER_EMPTY       ? TENON_DTYPE_INT32
         : slot == FAKE_INTEGER_QUANTIZED ? TENON_DTYPE_UINT8
         : slot == FAKE_INTEGER_BIASED    ? TENON_DTYPE_INT8
                                          : TENON_DTYPE_FLOAT32;
}

/* Makes the slot's program and adds its input. `channel_axis` is an axis of the space. */
static inline void fake_fill_integer_slot(fake_t* fake, fake_integer_slot_t slot, uint32_t rank,
                                          const int64_t* dims, uint32_t channel_axis,
                                          draft_t* draft) {
  const tenon_dtype_t type = slot == FAKE_INTEGER_BIASED ? TENON_DTYPE_INT32 : TENON_DTYPE_FLOAT32;
  const uint64_t all = ((uint64_t)1 << rank) - 1;
  int64_t own[FAKE_RANK];
  if (slot == FAKE_INTEGER_EMPTY) {
    return;
  }
  for (uint32_t k = 0; k < rank; k++) {
    own[k] = slot == FAKE_INTEGER_SCALED || k == channel_axis ? dims[k] : 1;
  }
  uint32_t v = input(draft, 0, TENON_DTYPE_INT32, TENON_DTYPE_INT32);
  const uint32_t other = input(draft, 1, type, type);
  draft->operands[0].kind = TENON_OPERAND_SLOT_VALUE;
  draft->operands[1].index = fake->input_count;
  draft->operands[1].broadcast_axes =
      slot == FAKE_INTEGER_SCALED ? 0 : all & ~((uint64_t)1 << channel_axis);
  fake_value_t* value = fake_input(fake, type, rank, own, false, true);
  for (int64_t k = 0; k < fake_count(rank, own); k++) {
    value->numbers[k] = slot == FAKE_INTEGER_QUANTIZED ? ldexp(1, -(int)(8 + k % 5))
                                                       : (double)((k * 37 % 2000) - 1000);
  }
  if (slot == FAKE_INTEGER_BIASED) {
    v = add(draft, TENON_OPCODE_ADD, TENON_DTYPE_INT32, v, other, 0);
  }
  v = f32(draft, TENON_OPCODE_CAST, v, 0);
  v = f32(draft, TENON_OPCODE_MUL, v,
          slot == FAKE_INTEGER_QUANTIZED
              ? other
              : constant(draft, slot == FAKE_INTEGER_SCALED ? 0.5 : ldexp(1, -9)));
  if (slot == FAKE_INTEGER_SCALED) {
    v = f32(draft, TENON_OPCODE_ADD, v, other);
  } else {
    v = f32(draft, TENON_OPCODE_ROUND, v, 0);
    v = slot == FAKE_INTEGER_QUANTIZED ? f32(draft, TENON_OPCODE_ADD, v, constant(draft, 100))
                                       : f32(draft, TENON_OPCODE_MAX, v, constant(draft, 0));
    v = add(draft, TENON_OPCODE_CAST, fake_integer_dtype(slot), v, 0, 0);
  }
  output(draft, v, fake_integer_dtype(slot), 0);
  finish(draft, rank);
  fake->slot = &draft->program;
}

/* Returns the result of the slot for one sum. */
static inline double fake_apply_integer_slot(const fake_t* fake, fake_integer_slot_t slot,
                                             double sum, int64_t index, int64_t channel) {
  const double* other = fake->values[fake->node_input_count].numbers;
  switch (slot) {
    case FAKE_INTEGER_QUANTIZED:
      return fmin(fmax(nearbyint(sum * other[channel]) + 100, 0), 255);
    case FAKE_INTEGER_BIASED:
      return fmin(fmax(nearbyint(ldexp(sum + other[channel], -9)), 0), 127);
    case FAKE_INTEGER_SCALED:
      return (double)(float)(0.5 * sum + other[index]);
    default:
      return sum;
  }
}

#endif
