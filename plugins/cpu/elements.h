/*
 * What an expression's instructions do to blocks of elements: one table of functions for each
 * instruction set. A function handles `count` elements that lie together; an operand marked S is
 * one element, used for all. Blocks may be the same memory as the result, never overlap it
 * otherwise. No alignment is asked for; nothing beyond `count` is read or written.
 *
 * f32 goes by vectors, with elementary functions within 4 ulp (vector_math.inc); other types by
 * loops that the compiler makes vectors of. Integers wrap, shifts and divisions are those of the
 * contract. What is computed in f16 or bf16 is f32 here.
 */
#ifndef TENON_CPU_ELEMENTS_H_
#define TENON_CPU_ELEMENTS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/plugin.h"

/* The types in which blocks are computed. NAME, C type, dtype. bool is one byte, 0 or 1. */
#define TENON_CPU_TYPES(X) \
  X(BOOL, uint8_t, BOOL)   \
  X(I8, int8_t, INT8)      \
  X(I16, int16_t, INT16)   \
  X(I32, int32_t, INT32)   \
  X(I64, int64_t, INT64)   \
  X(U8, uint8_t, UINT8)    \
  X(U16, uint16_t, UINT16) \
  X(U32, uint32_t, UINT32) \
  X(U64, uint64_t, UINT64) \
  X(F32, float, FLOAT32)   \
  X(F64, double, FLOAT64)
#define TENON_CPU_TYPE_ENTRY(name, c_type, dtype) TENON_CPU_TYPE_##name,
typedef enum tenon__cpu_type_t {
  TENON_CPU_TYPES(TENON_CPU_TYPE_ENTRY) TENON_CPU_TYPE_COUNT
} tenon__cpu_type_t;

typedef void (*tenon__cpu_unary_t)(void* out, const void* a, size_t count);
typedef void (*tenon__cpu_binary_t)(void* out, const void* a, const void* b, size_t count);
/* condition (bool) ? a : b, by element size, for conditions that are a row; a step is 1, or 0
 * for one element used for all. */
typedef void (*tenon__cpu_select_t)(void* out, const void* condition, const void* a, size_t a_step,
                                    const void* b, size_t b_step, size_t count);
/* Folds `count` elements into *inout_sum. Floats in the lanes of several vectors, so in another
 * order than the elements'. */
typedef void (*tenon__cpu_fold_t)(void* inout_sum, const void* a, size_t count);

/* A row less a number, or a function of that, which is summed: the sum is the result. */
typedef struct tenon__cpu_shifted_row_t {
  float* out; /* NULL: only the sum is wanted */
  const float* x;
  float shift;
  size_t count;
  /* Bytes that are read or written soon, as many as those of x: their lines are fetched meanwhile.
   * Any address. */
  const char* will_read;
  const char* will_write;
} tenon__cpu_shifted_row_t;
typedef float (*tenon__cpu_shifted_sum_t)(const tenon__cpu_shifted_row_t* row);

/* out[k] = x[k] * scale * factor[k] + addend[k]; NULL: 0. */
typedef struct tenon__cpu_scaled_row_t {
  float* out;
  const float* x;
  float scale;
  const float* factor;
  const float* addend;
  size_t count;
} tenon__cpu_scaled_row_t;

/* Forms of a binary function: both operands are blocks, or the second or the first is one
 * element. */
enum { TENON_CPU_VV = 0, TENON_CPU_VS = 1, TENON_CPU_SV = 2, TENON_CPU_FORM_COUNT = 3 };

/* Functions of one argument that are common after a product: one pass instead of several. NaN
 * stays NaN in all of them. */
#define TENON_CPU_ACTIVATIONS(X)             \
  X(NONE, "x")                               \
  X(CLAMP, "min(max(x, a), b)")              \
  X(LEAKY, "x < 0 ? a x : x")                \
  X(SIGMOID, "sigmoid(x)")                   \
  X(SWISH, "x sigmoid(a x)")                 \
  X(HARD_SIGMOID, "max(0, min(1, a x + b))") \
  X(HARD_SWISH, "x max(0, min(1, a x + b))") \
  X(TANH, "tanh(x)")                         \
  X(GELU, "x (1 + erf(x / sqrt(2))) / 2")    \
  X(GELU_TANH, "x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2")
#define TENON_CPU_ACTIVATION_ENTRY(name, text) TENON_CPU_ACTIVATION_##name,
typedef enum tenon__cpu_activation_t {
  TENON_CPU_ACTIVATIONS(TENON_CPU_ACTIVATION_ENTRY) TENON_CPU_ACTIVATION_COUNT
} tenon__cpu_activation_t;
/* In place, on rows x columns floats, `stride` floats from row to row; the parameters are a and
 * b above. */
typedef void (*tenon__cpu_activate_t)(float* x, size_t stride, size_t rows, size_t columns, float a,
                                      float b);

/* y[k] = sum of weights[t * count + k] * x[index[t * count + k]], for t in [0, taps), at least one. */
typedef struct tenon__cpu_sums_t {
  const int32_t* index;
  const float* weights;
  size_t taps;
  size_t count;
} tenon__cpu_sums_t;

/* c = a * b of 16-bit integers, summed in 32 bits, for up to pair_columns columns. Rows of a have
 * 2 * pairs numbers, a_stride apart. b is [pairs][pair_columns][2]: two numbers of a column lie side by
 * side; columns past `columns` are read and not written. */
typedef struct tenon__cpu_pairs_t {
  const int16_t* a;
  const int16_t* b;
  int32_t* c;
  size_t a_stride;
  size_t c_stride;
  size_t rows;
  size_t pairs;
  size_t columns;
} tenon__cpu_pairs_t;

/* Constant. Indexed by TENON_OPCODE_*, then by tenon__cpu_type_t. */
typedef struct tenon__cpu_elements_t {
  /* NULL where an operation has no meaning for a type, or no such form: then operands are
   * widened to rows. */
  tenon__cpu_unary_t unary[TENON_OPCODE_COUNT][TENON_CPU_TYPE_COUNT];
  tenon__cpu_binary_t binary[TENON_OPCODE_COUNT][TENON_CPU_TYPE_COUNT][TENON_CPU_FORM_COUNT];
  /* SUM to MEAN; MEAN sums, and who calls divides. */
  tenon__cpu_fold_t fold[TENON_OPCODE_COUNT][TENON_CPU_TYPE_COUNT];
  /* The sum of exp(x - shift), the elements of `out`; the sum of the squares of x - shift, which
   * `out` has without the squares. */
  tenon__cpu_shifted_sum_t exp_sum;
  tenon__cpu_shifted_sum_t square_sum;
  void (*scaled)(const tenon__cpu_scaled_row_t* row);
  /* round(x / scale) + zero, saturated, NaN is 0: unsigned bytes, then signed ones. */
  void (*quantize[2])(void* out, const float* x, float scale, float zero, size_t count);
  /* [from][to]: floats to integers truncate and saturate, NaN is 0; integers wrap; to bool is
   * "not 0". */
  tenon__cpu_unary_t convert[TENON_CPU_TYPE_COUNT][TENON_CPU_TYPE_COUNT];
  tenon__cpu_select_t select[4]; /* elements of 1, 2, 4, 8 bytes */
  tenon__cpu_unary_t from_f16;   /* to float, exact */
  tenon__cpu_unary_t from_bf16;
  /* From float, to nearest with halves to even. */
  tenon__cpu_unary_t to_f16;
  tenon__cpu_unary_t to_bf16;
  tenon__cpu_activate_t activate[TENON_CPU_ACTIVATION_COUNT];
  /* One step of a recurrent cell for `count` hidden elements. `gates`: sums, gate after gate, each
   * `count` long. lstm: i o f c; c and h are updated. gru: z r h from the input (with biases), and
   * from the state; h is updated. gate: out = sigmoid(gates) * h, and blend: h = (1 - sigmoid(z))
   * tanh(n) + sigmoid(z) h. */
  void (*lstm_cell)(const float* gates, float* c, float* h, size_t count);
  void (*gru_cell)(const float* gates, const float* recurrent, float* h, size_t count);
  void (*gru_reset)(const float* r, const float* h, float* out, size_t count);
  void (*gru_blend)(const float* z, const float* n, float* h, size_t count);
  /* out[j * out_stride + i] = a[i * a_stride + j], for i in [0, rows); strides and counts in
   * elements of 4 bytes. */
  void (*transpose_32)(void* out, size_t out_stride, const void* a, size_t a_stride, size_t rows,
                       size_t columns);
  /* offsets[k] = x[k] * stride, or that much more if `adds`. False, and nothing is done, if an x[k] is
   * not in [0, extent). */
  bool (*add_offsets)(int64_t* offsets, const int64_t* x, int64_t extent, int64_t stride, bool adds,
                      size_t count);
  /* x has x_count elements. An element whose weight is 0 is not looked at: it may be infinite. */
  void (*gather_sum)(float* y, const float* x, size_t x_count, const tenon__cpu_sums_t* sums);
  /* y[k] = sum of weights[r] * rows[r][k], for r in [0, row_count), added to y[k] if
   * `adds`. row_count is at least 1. */
  void (*blend)(float* y, const float* const* rows, const float* weights, size_t row_count,
                bool adds, size_t count);
  /* Integers in the order of the floats, exclusive-or `flip`: 0, or -1 for the opposite order. Zeros
   * of both signs are equal, and NaN is above all numbers. */
  void (*order_keys)(int32_t* out, const float* x, int32_t flip, size_t count);
  /* Writes the places of the elements whose key is above `limit`, in order. Returns how many.
   * out_index has room for `count`. */
  size_t (*keys_above)(uint32_t* out_index, const float* x, int32_t flip, int32_t limit,
                       size_t count);
  void (*multiply_pairs)(const tenon__cpu_pairs_t* pairs);
  size_t pair_columns;
} tenon__cpu_elements_t;

extern const tenon__cpu_elements_t tenon__cpu_elements_baseline;
extern const tenon__cpu_elements_t tenon__cpu_elements_avx2;
extern const tenon__cpu_elements_t tenon__cpu_elements_avx512;

#endif
