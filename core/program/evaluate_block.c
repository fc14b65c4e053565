/* Rows of values: reading, writing, arithmetic, sums. Frequent operations have loops of their own;
 * the others go value by value. */
#include "core/program/evaluate_block.h"

#include <math.h>
#include <string.h>

#include "core/program/scalar.h"
#include "core/tensor/layout.h"

bool tenon__walk_begin(uint32_t rank, const int64_t* extents, uint64_t without,
                       tenon__walk_t* out_walk) {
  *out_walk = (tenon__walk_t){.rank = rank};
  for (uint32_t k = 0; k < rank; ++k) {
    out_walk->extents[k] = ((without >> k) & 1u) != 0 ? 1 : extents[k];
  }
  return tenon__element_count(rank, out_walk->extents, &out_walk->left);
}

/* Moves a point by `count` along the last axis and carries. */
static void move_point(const tenon__walk_t* walk, int64_t* point, uint64_t count) {
  for (uint32_t k = walk->rank; k > 0 && count > 0; --k) {
    const uint64_t extent = (uint64_t)walk->extents[k - 1];
    const uint64_t moved = (uint64_t)point[k - 1] + count;
    point[k - 1] = (int64_t)(moved % extent);
    count = moved / extent;
  }
}

void tenon__walk_advance(tenon__walk_t* walk, uint32_t count) {
  walk->left -= count;
  if (walk->left > 0) {
    move_point(walk, walk->point, count);
  }
}

void tenon__walk_offsets(const tenon__walk_t* walk, const int64_t* strides, uint32_t count,
                         int64_t* out_offsets) {
  int64_t point[TENON_RANK_LIMIT];
  if (walk->rank == 0) {
    memset(out_offsets, 0, count * sizeof(*out_offsets));
    return;
  }
  memcpy(point, walk->point, walk->rank * sizeof(*point));
  const uint32_t last = walk->rank - 1;
  for (uint32_t done = 0; done < count;) {
    const int64_t row = walk->extents[last] - point[last];
    const uint32_t run = row < (int64_t)(count - done) ? (uint32_t)row : count - done;
    int64_t place = 0;
    for (uint32_t k = 0; k <= last; ++k) {
      place += point[k] * strides[k];
    }
    for (uint32_t i = 0; i < run; ++i) {
      out_offsets[done + i] = place + (int64_t)i * strides[last];
    }
    done += run;
    if (done < count) {
      move_point(walk, point, run);
    }
  }
}

/* ---- Reading and writing ---- */

/* Where an element of so many bits lies, and its number from there. Elements may stand before the
 * view's data, so each whole one is taken from its own address. */
static void* place_of(const tenon_tensor_view_t* view, uint32_t bits, int64_t offset,
                      uint64_t* out_index) {
  *out_index = bits < 8 ? (uint64_t)(offset + (int64_t)(view->bit_offset / bits)) : 0;
  return (char*)view->data + (bits < 8 ? 0 : offset * (int64_t)(bits / 8));
}

#define READ_ROW(type, field, wide)                                            \
  for (uint32_t p = 0; p < count; ++p) {                                       \
    type value;                                                                \
    memcpy(&value, base + offsets[p] * (int64_t)sizeof(value), sizeof(value)); \
    out[p].field = (wide)value;                                                \
  }                                                                            \
  break

static void read_stored(const tenon_tensor_view_t* view, const int64_t* offsets,
                        tenon__scalar_t* out, uint32_t count) {
  const char* base = view->data;
  const uint32_t bits = tenon__dtype_bits(view->dtype);
  switch (view->dtype) {
    case TENON_DTYPE_FLOAT32:
      READ_ROW(float, f, double);
    case TENON_DTYPE_FLOAT64:
      READ_ROW(double, f, double);
    case TENON_DTYPE_INT64:
      READ_ROW(int64_t, i, int64_t);
    case TENON_DTYPE_INT32:
      READ_ROW(int32_t, i, int64_t);
    case TENON_DTYPE_UINT8:
      READ_ROW(uint8_t, i, int64_t);
    default:
      for (uint32_t p = 0; p < count; ++p) {
        uint64_t index = 0;
        const void* place = place_of(view, bits, offsets[p], &index);
        out[p] = tenon__element_load(place, view->dtype, index);
      }
      break;
  }
}

#undef READ_ROW

void tenon__block_read(const tenon_tensor_view_t* view, const int64_t* offsets, tenon_dtype_t dtype,
                       tenon__scalar_t* out, uint32_t count) {
  const tenon_dtype_t stored = tenon__dtype_arithmetic(view->dtype);
  read_stored(view, offsets, out, count);
  if (stored == dtype) {
    return;
  }
  for (uint32_t p = 0; p < count; ++p) {
    out[p] = tenon__scalar_cast(out[p], stored, dtype);
  }
}

void tenon__block_write(const tenon_tensor_view_t* view, const int64_t* offsets,
                        const tenon__scalar_t* values, tenon_dtype_t from, uint32_t count) {
  char* base = view->data;
  const uint32_t bits = tenon__dtype_bits(view->dtype);
  if (view->dtype == TENON_DTYPE_FLOAT32 && from == TENON_DTYPE_FLOAT32) {
    for (uint32_t p = 0; p < count; ++p) {
      const float value = (float)values[p].f;
      memcpy(base + offsets[p] * (int64_t)sizeof(value), &value, sizeof(value));
    }
    return;
  }
  for (uint32_t p = 0; p < count; ++p) {
    uint64_t index = 0;
    void* place = place_of(view, bits, offsets[p], &index);
    tenon__element_store(place, view->dtype, index, values[p], from);
  }
}

/* ---- Arithmetic ---- */

#define ROW(expression)                  \
  for (uint32_t p = 0; p < count; ++p) { \
    const double x = a[p].f;             \
    const double y = b[p].f;             \
    out[p].f = (expression);             \
  }                                      \
  return true

#define TRUTH(expression)                \
  for (uint32_t p = 0; p < count; ++p) { \
    const double x = a[p].f;             \
    const double y = b[p].f;             \
    out[p].i = (expression);             \
  }                                      \
  return true

/* What rounds. Sums and products of f32 are exact or rounded innocuously in f64, so rounding once
 * more gives the f32 result. */
static inline bool apply_rounded(uint32_t opcode, bool is_single, const tenon__scalar_t* a,
                                 const tenon__scalar_t* b, tenon__scalar_t* out, uint32_t count) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      ROW(is_single ? (double)(float)(x + y) : x + y);
    case TENON_OPCODE_SUB:
      ROW(is_single ? (double)(float)(x - y) : x - y);
    case TENON_OPCODE_MUL:
      ROW(is_single ? (double)(float)(x * y) : x * y);
    case TENON_OPCODE_DIV:
      ROW(is_single ? (double)(float)(x / y) : x / y);
    default:
      return false;
  }
}

/* What needs no rounding in either float type. */
static bool apply_float(uint32_t opcode, const tenon__scalar_t* a, const tenon__scalar_t* b,
                        tenon__scalar_t* out, uint32_t count) {
  switch (opcode) {
    case TENON_OPCODE_MAX:
      ROW(isnan(x) || isnan(y) ? (double)NAN : x > y || (x == y && signbit(y)) ? x : y);
    case TENON_OPCODE_MIN:
      ROW(isnan(x) || isnan(y) ? (double)NAN : x < y || (x == y && signbit(x)) ? x : y);
    case TENON_OPCODE_EQ:
      TRUTH(x == y);
    case TENON_OPCODE_NE:
      TRUTH(x != y);
    case TENON_OPCODE_LT:
      TRUTH(x < y);
    case TENON_OPCODE_LE:
      TRUTH(x <= y);
    default:
      return false;
  }
}

#undef ROW
#undef TRUTH

#define ROW(expression)                  \
  for (uint32_t p = 0; p < count; ++p) { \
    const uint64_t x = (uint64_t)a[p].i; \
    const uint64_t y = (uint64_t)b[p].i; \
    out[p].i = (int64_t)(expression);    \
  }                                      \
  return true

/* i64 alone: narrower integers wrap. */
static bool apply_i64(uint32_t opcode, const tenon__scalar_t* a, const tenon__scalar_t* b,
                      tenon__scalar_t* out, uint32_t count) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      ROW(x + y);
    case TENON_OPCODE_SUB:
      ROW(x - y);
    case TENON_OPCODE_MUL:
      ROW(x * y);
    case TENON_OPCODE_EQ:
      ROW(x == y);
    case TENON_OPCODE_LT:
      ROW((int64_t)x < (int64_t)y);
    case TENON_OPCODE_LE:
      ROW((int64_t)x <= (int64_t)y);
    default:
      return false;
  }
}

#undef ROW

void tenon__block_apply(const tenon_instruction_t* instruction, tenon_dtype_t from,
                        const tenon__scalar_t* const operands[3], tenon__scalar_t* out,
                        uint32_t count) {
  const tenon__scalar_t* a = operands[0];
  const tenon__scalar_t* b = operands[1];
  const tenon__scalar_t* c = operands[2];
  const uint32_t opcode = instruction->opcode;
  const tenon_dtype_t dtype = instruction->dtype;
  const bool is_float = tenon__dtype_class(dtype) == 'f' && opcode != TENON_OPCODE_CAST;
  if ((dtype == TENON_DTYPE_FLOAT32 && apply_rounded(opcode, true, a, b, out, count)) ||
      (dtype == TENON_DTYPE_FLOAT64 && apply_rounded(opcode, false, a, b, out, count)) ||
      (is_float && apply_float(opcode, a, b, out, count)) ||
      (dtype == TENON_DTYPE_INT64 && apply_i64(opcode, a, b, out, count))) {
    return;
  }
  if (opcode == TENON_OPCODE_SELECT) {
    for (uint32_t p = 0; p < count; ++p) {
      out[p] = a[p].i != 0 ? b[p] : c[p];
    }
    return;
  }
  if (opcode == TENON_OPCODE_RANDOM) {
    for (uint32_t p = 0; p < count; ++p) {
      out[p].f = tenon__random_uniform(dtype, (uint64_t)a[p].i, (uint64_t)b[p].i);
    }
    return;
  }
  for (uint32_t p = 0; p < count; ++p) {
    out[p] = tenon__scalar_apply(opcode, dtype, from, a[p], b[p], c[p]);
  }
}

/* ---- Reductions ---- */

tenon__scalar_t tenon__reduction_begin(const tenon_instruction_t* instruction) {
  const bool is_bool = instruction->dtype == TENON_DTYPE_BOOL;
  tenon__scalar_t begin = {.f = 0.0};
  if (instruction->opcode == TENON_OPCODE_PROD) {
    begin.f = 1.0;
  } else if (instruction->opcode == TENON_OPCODE_REDUCE_MIN) {
    begin.f = HUGE_VAL; /* as an integer the largest that there is */
  } else if (instruction->opcode == TENON_OPCODE_REDUCE_MAX && !is_bool) {
    begin.f = -HUGE_VAL;
  }
  return tenon__scalar_cast(begin, TENON_DTYPE_FLOAT64, instruction->dtype);
}

void tenon__reduction_add(const tenon_instruction_t* instruction, const tenon__scalar_t* values,
                          const int64_t* offsets, tenon__scalar_t* sums, uint32_t count) {
  const tenon_dtype_t dtype = instruction->dtype;
  const bool is_float = tenon__dtype_class(dtype) == 'f';
  const bool extreme = instruction->opcode == TENON_OPCODE_REDUCE_MIN ||
                       instruction->opcode == TENON_OPCODE_REDUCE_MAX;
  const bool product = instruction->opcode == TENON_OPCODE_PROD;
  const uint32_t opcode =
      instruction->opcode == TENON_OPCODE_REDUCE_MIN ? TENON_OPCODE_MIN : TENON_OPCODE_MAX;
  for (uint32_t p = 0; p < count; ++p) {
    tenon__scalar_t* sum = &sums[offsets[p]];
    if (extreme) {
      *sum = tenon__scalar_apply(opcode, dtype, dtype, *sum, values[p], values[p]);
    } else if (is_float) {
      sum->f = product ? sum->f * values[p].f : sum->f + values[p].f;
    } else {
      const uint64_t x = (uint64_t)sum->i;
      const uint64_t y = (uint64_t)values[p].i;
      sum->i = (int64_t)(product ? x * y : x + y);
    }
  }
}

tenon__scalar_t tenon__reduction_end(const tenon_instruction_t* instruction, tenon__scalar_t sum,
                                     uint64_t length) {
  const tenon_dtype_t dtype = instruction->dtype;
  const char kind = tenon__dtype_class(dtype);
  const bool mean = instruction->opcode == TENON_OPCODE_MEAN;
  if (mean && kind == 'f') {
    sum.f /= (double)length;
  } else if (mean && length > 0) {
    sum.i = kind == 'u'          ? (int64_t)((uint64_t)sum.i / length)
            : length > INT64_MAX ? 0
                                 : sum.i / (int64_t)length;
  }
  return tenon__scalar_fit(dtype, sum);
}
