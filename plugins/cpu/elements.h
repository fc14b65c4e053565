/*
 * Block functions of the instructions of expressions, with one table for each instruction set. A
 * function handles `count` contiguous elements. An operand marked S is one element for all of them.
 * The result may be the same memory as an operand but must not overlap it otherwise. Operands need
 * no alignment. Functions read and write nothing after `count` elements.
 *
 * Vector functions compute f32, with elementary functions within 4 ulp (vector_math.inc). Loops
 * that the compiler vectorises compute the other types. Integers wrap. Shifts and divisions follow
 * the contract. Instructions in f16 and bf16 are computed as f32.
 */
#ifndef TENON_CPU_ELEMENTS_H_
#define TENON_CPU_ELEMENTS_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenon/plugin.h"

/* The types of blocks: NAME, C type, dtype. A bool is one byte, 0 or 1. */
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
/* For each element, selects a if the condition (bool) is true, else b. The condition is a row. A
 * step is 1, or 0 if one element is used for the whole row. There is one function for each element
 * size. */
typedef void (*tenon__cpu_select_t)(void* out, const void* condition, const void* a, size_t a_step,
                                    const void* b, size_t b_step, size_t count);
/* How coordinates become offsets. */
typedef struct tenon__cpu_offsets_t {
  int64_t extent;
  int64_t stride;
  bool adds;  /* to offsets that exist */
  bool wraps; /* extent is added to negative coordinates first */
} tenon__cpu_offsets_t;
/* Reduces `count` elements into *inout_sum. Floats use the lanes of several vectors, so the order
 * of operations differs from the order of the elements. */
typedef void (*tenon__cpu_fold_t)(void* inout_sum, const void* a, size_t count);

/* Arguments of a function that computes x - shift, or a function of it, for a row and returns the
 * sum. */
typedef struct tenon__cpu_shifted_row_t {
  float* out; /* NULL: only the sum is needed */
  const float* x;
  float shift;
  size_t count;
  /* Memory that later steps read and write, with as many bytes as x has. The function prefetches
   * it. Any address is allowed. */
  const char* will_read;
  const char* will_write;
} tenon__cpu_shifted_row_t;
typedef float (*tenon__cpu_shifted_sum_t)(const tenon__cpu_shifted_row_t* row);

/* out[k] = x[k] * scale * factor[k] + addend[k]. If `addend` is NULL, nothing is added. */
typedef struct tenon__cpu_scaled_row_t {
  float* out;
  const float* x;
  float scale;
  const float* factor;
  const float* addend;
  size_t count;
} tenon__cpu_scaled_row_t;

/* A row of sums, which become bytes. */
typedef struct tenon__cpu_requantized_t {
  const int32_t* x;
  const float* scale;
  size_t scale_step; /* 0: one scale for all elements; 1: one for each */
  float zero;
  size_t count;
} tenon__cpu_requantized_t;

/* Forms of a binary function: two blocks (VV), one element as the second operand (VS) or as the
 * first (SV). */
enum { TENON_CPU_VV = 0, TENON_CPU_VS = 1, TENON_CPU_SV = 2, TENON_CPU_FORM_COUNT = 3 };

/* Functions of one argument that are common after a matmul or convolution. Each needs one pass
 * only. The result of NaN is NaN. */
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
/* Works in place on rows x columns floats. The row stride is `stride` floats. a and b are the
 * parameters in the list above. */
typedef void (*tenon__cpu_activate_t)(float* x, size_t stride, size_t rows, size_t columns, float a,
                                      float b);

/* out = (values[0] - values[1]) * values[2] + values[3]. values[0] is a row, each other a row or one
 * number. values[1] may be NULL. */
typedef struct tenon__cpu_affine_row_t {
  float* out;
  const float* values[4];
  bool is_row[4];
  size_t count;
} tenon__cpu_affine_row_t;

/* The search of arg_max in a row: `taken` where x equals `wanted` or is NaN, `other` elsewhere. */
typedef struct tenon__cpu_found_row_t {
  int64_t* sums;
  const float* x;
  const float* wanted;
  const int64_t* taken;
  int64_t other;
  size_t count;
} tenon__cpu_found_row_t;
typedef void (*tenon__cpu_found_t)(const tenon__cpu_found_row_t* row);

/* y[k] = sum of weights[t * count + k] * x[index[t * count + k]] for t in [0, taps). `taps` is at
 * least 1. Without weights (NULL) taps is 1, and elements are copied. */
typedef struct tenon__cpu_sums_t {
  const int32_t* index;
  const float* weights;
  size_t taps;
  size_t count;
} tenon__cpu_sums_t;

/* The constant table of one instruction set. Arrays are indexed by TENON_OPCODE_*, then by
 * tenon__cpu_type_t. */
typedef struct tenon__cpu_elements_t {
  /* NULL if the type has no such operation or form. If only the form is missing, callers expand the
   * single element to a row. */
  tenon__cpu_unary_t unary[TENON_OPCODE_COUNT][TENON_CPU_TYPE_COUNT];
  tenon__cpu_binary_t binary[TENON_OPCODE_COUNT][TENON_CPU_TYPE_COUNT][TENON_CPU_FORM_COUNT];
  /* For SUM to MEAN. For MEAN, the function only sums and the caller divides. */
  tenon__cpu_fold_t fold[TENON_OPCODE_COUNT][TENON_CPU_TYPE_COUNT];
  /* exp_sum stores exp(x - shift) and returns the sum of these. square_sum stores x - shift and
   * returns the sum of the squares. */
  tenon__cpu_shifted_sum_t exp_sum;
  tenon__cpu_shifted_sum_t square_sum;
  void (*affine)(const tenon__cpu_affine_row_t* row);
  tenon__cpu_unary_t gelu; /* x * 0.5 * (erf(x / sqrt(2)) + 1) of f32 */
  void (*scaled)(const tenon__cpu_scaled_row_t* row);
  /* The minimum (second index 0) or maximum (1) with the sums so far. First index 0: one sum and one
   * wanted number for each column, one taken number. 1: one sum and one wanted number, one taken
   * number for each column. */
  tenon__cpu_found_t found[2][2];
  /* round(x / scale) + zero, saturated. NaN gives 0. Index 0 is for u8, 1 for i8. */
  void (*quantize[2])(void* out, const float* x, float scale, float zero, size_t count);
  /* Lowers *inout_low and raises *inout_high to the extremes of x. Returns true if there is a NaN. */
  bool (*range)(const float* x, size_t count, float* inout_low, float* inout_high);
  /* round(f32(x) * scale) + zero, saturated. */
  void (*requantize[2])(void* out, const tenon__cpu_requantized_t* row);
  /* (f32(x) - zero) * scale */
  void (*dequantize[2])(float* out, const void* x, float zero, float scale, size_t count);
  /* [from][to]. Floats to integers truncate and saturate, and NaN gives 0. Integers wrap. The
   * result of a conversion to bool is x != 0. */
  tenon__cpu_unary_t convert[TENON_CPU_TYPE_COUNT][TENON_CPU_TYPE_COUNT];
  tenon__cpu_select_t select[4]; /* elements of 1, 2, 4 and 8 bytes */
  tenon__cpu_unary_t from_f16;   /* to f32, exact */
  tenon__cpu_unary_t from_bf16;
  /* From f32, rounded to nearest even. */
  tenon__cpu_unary_t to_f16;
  tenon__cpu_unary_t to_bf16;
  tenon__cpu_activate_t activate[TENON_CPU_ACTIVATION_COUNT];
  /* One time step of a recurrent cell for `count` hidden elements. `gates` has the sums of all
   * gates, `count` floats for each gate. lstm: gates i o f c; updates c and h. gru: gates z r h
   * from the input (with biases) and from the state; updates h. gate: out = sigmoid(gates) * h.
   * blend: h = (1 - sigmoid(z)) tanh(n) + sigmoid(z) h. */
  void (*lstm_cell)(const float* gates, float* c, float* h, size_t count);
  void (*gru_cell)(const float* gates, const float* recurrent, float* h, size_t count);
  void (*gru_reset)(const float* r, const float* h, float* out, size_t count);
  void (*gru_blend)(const float* z, const float* n, float* h, size_t count);
  /* out[j * out_stride + i] = a[i * a_stride + j] for i in [0, rows) and j in [0, columns). Strides
   * and counts are in elements, of 1 byte or of 4. */
  void (*transpose_8)(void* out, size_t out_stride, const void* a, size_t a_stride, size_t rows,
                      size_t columns);
  void (*transpose_32)(void* out, size_t out_stride, const void* a, size_t a_stride, size_t rows,
                       size_t columns);
  /* offsets[k] = x[k] * stride. Returns false and changes nothing if an x[k] is not in [0, extent).
   */
  bool (*add_offsets)(int64_t* offsets, const int64_t* x, const tenon__cpu_offsets_t* shape,
                      size_t count);
  /* x has x_count elements. Elements with weight 0 do not count, so they may be infinite or NaN. */
  void (*gather_sum)(float* y, const float* x, size_t x_count, const tenon__cpu_sums_t* sums);
  /* y[k] = sum of weights[r] * rows[r][k] for r in [0, row_count). If `adds` is true, the sum is
   * added to y[k]. row_count is at least 1. */
  void (*blend)(float* y, const float* const* rows, const float* weights, size_t row_count,
                bool adds, size_t count);
  /* Maps floats to integers of the same order, then applies exclusive-or with `flip`: 0, or -1 for
   * the reverse order. 0 and -0 are equal. NaN is greater than all numbers. */
  void (*order_keys)(int32_t* out, const float* x, int32_t flip, size_t count);
  /* Writes the indices of all elements whose key is greater than `limit`, in ascending order.
   * Returns their number. out_index must have room for `count` indices. */
  size_t (*keys_above)(uint32_t* out_index, const float* x, int32_t flip, int32_t limit,
                       size_t count);
} tenon__cpu_elements_t;

extern const tenon__cpu_elements_t tenon__cpu_elements_baseline;
extern const tenon__cpu_elements_t tenon__cpu_elements_avx2;
extern const tenon__cpu_elements_t tenon__cpu_elements_avx512;

#endif
