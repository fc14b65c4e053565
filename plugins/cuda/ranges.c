/* Finds the i64 values that fit 32 bits, from the ranges of coordinates and extents. */
#include "analysis.h"

/* The values from `least` to `most`. Both fit 32 bits, so int64_t cannot overflow in this file. If
 * the range is not `known`, the value may have any value. */
typedef struct range_t {
  bool known;
  int64_t least;
  int64_t most;
} range_t;

static int64_t smaller(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t larger(int64_t a, int64_t b) {
  return a > b ? a : b;
}
static range_t between(int64_t least, int64_t most) {
  const bool fits = least >= INT32_MIN && most <= INT32_MAX;
  return (range_t){fits, fits ? least : 0, fits ? most : 0};
}
static int64_t magnitude(range_t a) {
  return larger(-a.least, a.most);
}

static range_t product_of(range_t a, range_t b) {
  const int64_t ends[] = {a.least * b.least, a.least * b.most, a.most * b.least, a.most * b.most};
  return between(smaller(smaller(ends[0], ends[1]), smaller(ends[2], ends[3])),
                 larger(larger(ends[0], ends[1]), larger(ends[2], ends[3])));
}

/* Returns the range of an operation on two known ranges. Division by 0 gives 0. */
static range_t range_of(uint16_t opcode, range_t a, range_t b) {
  const int64_t far = magnitude(a);
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return between(a.least + b.least, a.most + b.most);
    case TENON_OPCODE_SUB:
      return between(a.least - b.most, a.most - b.least);
    case TENON_OPCODE_MUL:
      return product_of(a, b);
    case TENON_OPCODE_MIN:
      return between(smaller(a.least, b.least), smaller(a.most, b.most));
    case TENON_OPCODE_MAX:
      return between(larger(a.least, b.least), larger(a.most, b.most));
    case TENON_OPCODE_NEG:
      return between(-a.most, -a.least);
    case TENON_OPCODE_ABS:
      return between(0, far);
    case TENON_OPCODE_DIV:
    case TENON_OPCODE_FLOOR_DIV:
      return a.least >= 0 && b.least >= 0 ? between(0, a.most) : between(-far - 1, far + 1);
    case TENON_OPCODE_MOD:
      return between(b.least >= 0 ? 0 : -magnitude(b), b.most <= 0 ? 0 : b.most);
    case TENON_OPCODE_FMOD:
      return between(a.least >= 0 ? 0 : -far, a.most <= 0 ? 0 : far);
    default:
      return (range_t){false, 0, 0};
  }
}

/* Returns the range of a type. It is known if all values of the type fit 32 bits. */
static range_t range_of_type(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_BOOL:
      return between(0, 1);
    case TENON_DTYPE_INT8:
    case TENON_DTYPE_INT16:
    case TENON_DTYPE_INT32:
      return between(INT32_MIN, INT32_MAX);
    case TENON_DTYPE_UINT8:
    case TENON_DTYPE_UINT16:
      return between(0, UINT16_MAX);
    default:
      return (range_t){false, 0, 0};
  }
}

static range_t find_range(const tenon_program_t* program, uint32_t k, const range_t* ranges) {
  const tenon_instruction_t* in = &program->instructions[k];
  if (tenon__cuda_result_type(in) != TENON_DTYPE_INT64) { /* comparisons give bool */
    return range_of_type(tenon__cuda_result_type(in));
  }
  switch (in->opcode) {
    case TENON_OPCODE_CONSTANT:
      return between(in->immediate.i, in->immediate.i);
    case TENON_OPCODE_INDEX:
    case TENON_OPCODE_SIZE:
    case TENON_OPCODE_EXTENT:
      return between(0, TENON_CUDA_SHORT_EXTENT);
    case TENON_OPCODE_CAST:
      return tenon__cuda_class(program->instructions[in->operands[0]].dtype) == 'f'
                 ? (range_t){false, 0, 0}
                 : ranges[in->operands[0]];
    case TENON_OPCODE_SELECT: {
      const range_t a = ranges[in->operands[1]];
      const range_t b = ranges[in->operands[2]];
      return a.known && b.known ? between(smaller(a.least, b.least), larger(a.most, b.most))
                                : (range_t){false, 0, 0};
    }
    default: {
      const uint32_t count = tenon__cuda_operand_count(in->opcode);
      const range_t a = count > 0 ? ranges[in->operands[0]] : (range_t){false, 0, 0};
      const range_t b = count > 1 ? ranges[in->operands[1]] : a;
      return a.known && b.known ? range_of(in->opcode, a, b) : (range_t){false, 0, 0};
    }
  }
}

void tenon__cuda_find_ranges(tenon__cuda_analysis_t* analysis) {
  const tenon_program_t* program = analysis->program;
  range_t ranges[TENON_CUDA_INSTRUCTIONS];
  for (uint32_t k = 0; k < program->instruction_count; k++) {
    ranges[k] = find_range(program, k, ranges);
    analysis->fits[k] =
        ranges[k].known && tenon__cuda_result_type(&program->instructions[k]) == TENON_DTYPE_INT64;
  }
}
