/*
 * The table of block functions for one instruction set. Included by elements_baseline.c and its
 * siblings. Floats go by vectors (elements_float.h); the other types by loops over what one element
 * becomes (elements_scalar.h), of which the compiler makes vectors.
 */
#ifndef TENON_CPU_ELEMENTS_KERNELS_H_
#define TENON_CPU_ELEMENTS_KERNELS_H_

#include "elements_float.h"
#include "elements_recurrent.h"
#include "elements_scalar.h"

/* Arguments are types. NOLINTBEGIN(bugprone-macro-parentheses) */
#define UNARY_LOOP(name, type, result, expression)           \
  static void name(void* out, const void* a, size_t count) { \
    result* o = out;                                         \
    const type* p = a;                                       \
    for (size_t i = 0; i < count; i++) {                     \
      const type x = p[i];                                   \
      o[i] = (result)(expression);                           \
    }                                                        \
  }
#define BINARY_LOOP(name, type, result, expression)                              \
  static void name##_vv(void* out, const void* a, const void* b, size_t count) { \
    result* o = out;                                                             \
    const type* p = a;                                                           \
    const type* q = b;                                                           \
    for (size_t i = 0; i < count; i++) {                                         \
      const type x = p[i];                                                       \
      const type y = q[i];                                                       \
      o[i] = (result)(expression);                                               \
    }                                                                            \
  }                                                                              \
  static void name##_vs(void* out, const void* a, const void* b, size_t count) { \
    result* o = out;                                                             \
    const type* p = a;                                                           \
    const type y = *(const type*)b;                                              \
    for (size_t i = 0; i < count; i++) {                                         \
      const type x = p[i];                                                       \
      o[i] = (result)(expression);                                               \
    }                                                                            \
  }
#define FOLD_LOOP(name, type, combine)                             \
  static void name(void* inout_sum, const void* a, size_t count) { \
    const type* p = a;                                             \
    type sum = *(const type*)inout_sum;                            \
    for (size_t i = 0; i < count; i++) {                           \
      sum = combine(sum, p[i]);                                    \
    }                                                              \
    *(type*)inout_sum = sum;                                       \
  }
/* NOLINTEND(bugprone-macro-parentheses) */

#define COMPARISONS(t, type)                       \
  BINARY_LOOP(t##_block_eq, type, uint8_t, x == y) \
  BINARY_LOOP(t##_block_ne, type, uint8_t, x != y) \
  BINARY_LOOP(t##_block_lt, type, uint8_t, x < y)  \
  BINARY_LOOP(t##_block_le, type, uint8_t, x <= y) \
  BINARY_LOOP(t##_block_gt, type, uint8_t, x > y)  \
  BINARY_LOOP(t##_block_ge, type, uint8_t, x >= y)

#define INTEGER_BLOCKS(t, type, wide, low, high, bits, is_signed)   \
  BINARY_LOOP(t##_block_add, type, type, t##_add(x, y))             \
  BINARY_LOOP(t##_block_sub, type, type, t##_sub(x, y))             \
  BINARY_LOOP(t##_block_mul, type, type, t##_mul(x, y))             \
  BINARY_LOOP(t##_block_div, type, type, t##_div(x, y))             \
  BINARY_LOOP(t##_block_floor_div, type, type, t##_floor_div(x, y)) \
  BINARY_LOOP(t##_block_mod, type, type, t##_mod(x, y))             \
  BINARY_LOOP(t##_block_fmod, type, type, t##_fmod(x, y))           \
  BINARY_LOOP(t##_block_pow, type, type, t##_pow(x, y))             \
  BINARY_LOOP(t##_block_min, type, type, t##_min(x, y))             \
  BINARY_LOOP(t##_block_max, type, type, t##_max(x, y))             \
  BINARY_LOOP(t##_block_and, type, type, t##_and(x, y))             \
  BINARY_LOOP(t##_block_or, type, type, t##_or(x, y))               \
  BINARY_LOOP(t##_block_xor, type, type, t##_xor(x, y))             \
  BINARY_LOOP(t##_block_shl, type, type, t##_shl(x, y))             \
  BINARY_LOOP(t##_block_shr, type, type, t##_shr(x, y))             \
  UNARY_LOOP(t##_block_neg, type, type, t##_neg(x))                 \
  UNARY_LOOP(t##_block_abs, type, type, t##_abs(x))                 \
  UNARY_LOOP(t##_block_sign, type, type, t##_sign(x))               \
  UNARY_LOOP(t##_block_not, type, type, t##_not(x))                 \
  FOLD_LOOP(t##_fold_sum, type, t##_add)                            \
  FOLD_LOOP(t##_fold_prod, type, t##_mul)                           \
  FOLD_LOOP(t##_fold_min, type, t##_min)                            \
  FOLD_LOOP(t##_fold_max, type, t##_max)                            \
  COMPARISONS(t, type)
INTEGER_TYPES(INTEGER_BLOCKS)
COMPARISONS(f32, float)
COMPARISONS(f64, double)

/* Functions of floats that go through the library. */
#define LIBRARY_BLOCKS(t, type, suffix)                              \
  BINARY_LOOP(t##_block_floor_div, type, type, t##_floor_div(x, y))  \
  BINARY_LOOP(t##_block_mod, type, type, t##_mod(x, y))              \
  BINARY_LOOP(t##_block_fmod, type, type, t##_fmod(x, y))            \
  BINARY_LOOP(t##_block_pow, type, type, t##_pow(x, y))              \
  BINARY_LOOP(t##_block_atan2, type, type, t##_atan2(x, y))          \
  UNARY_LOOP(t##_block_expm1, type, type, LIBRARY(expm1, suffix)(x)) \
  UNARY_LOOP(t##_block_log1p, type, type, LIBRARY(log1p, suffix)(x)) \
  UNARY_LOOP(t##_block_tan, type, type, LIBRARY(tan, suffix)(x))     \
  UNARY_LOOP(t##_block_asin, type, type, LIBRARY(asin, suffix)(x))   \
  UNARY_LOOP(t##_block_acos, type, type, LIBRARY(acos, suffix)(x))   \
  UNARY_LOOP(t##_block_atan, type, type, LIBRARY(atan, suffix)(x))   \
  UNARY_LOOP(t##_block_sinh, type, type, LIBRARY(sinh, suffix)(x))   \
  UNARY_LOOP(t##_block_cosh, type, type, LIBRARY(cosh, suffix)(x))   \
  UNARY_LOOP(t##_block_asinh, type, type, LIBRARY(asinh, suffix)(x)) \
  UNARY_LOOP(t##_block_acosh, type, type, LIBRARY(acosh, suffix)(x)) \
  UNARY_LOOP(t##_block_atanh, type, type, LIBRARY(atanh, suffix)(x)) \
  UNARY_LOOP(t##_block_is_nan, type, uint8_t, x != x)                \
  UNARY_LOOP(t##_block_is_inf, type, uint8_t, isinf(x) != 0)
FLOAT_TYPES(LIBRARY_BLOCKS)

#define F64_BINARY(name, operation) BINARY_LOOP(f64_block_##name, double, double, operation)
F64_BINARY(add, x + y)
F64_BINARY(sub, x - y)
F64_BINARY(mul, x* y)
F64_BINARY(div, x / y)
F64_BINARY(min, f64_min(x, y))
F64_BINARY(max, f64_max(x, y))
#define F64_UNARY(name, operation) UNARY_LOOP(f64_block_##name, double, double, operation)
F64_UNARY(neg, -x)
F64_UNARY(abs, fabs(x))
F64_UNARY(sign, f64_sign(x))
F64_UNARY(floor, floor(x))
F64_UNARY(ceil, ceil(x))
F64_UNARY(round, nearbyint(x))
F64_UNARY(trunc, trunc(x))
F64_UNARY(sqrt, sqrt(x))
F64_UNARY(rsqrt, f64_rsqrt(x))
F64_UNARY(recip, f64_recip(x))
F64_UNARY(exp, exp(x))
F64_UNARY(log, log(x))
F64_UNARY(erf, erf(x))
F64_UNARY(sin, sin(x))
F64_UNARY(cos, cos(x))
F64_UNARY(tanh, tanh(x))
F64_UNARY(sigmoid, f64_sigmoid(x))
F64_UNARY(softplus, f64_softplus(x))
FOLD_LOOP(f64_fold_sum, double, f64_add)
FOLD_LOOP(f64_fold_prod, double, f64_mul)
FOLD_LOOP(f64_fold_min, double, f64_min)
FOLD_LOOP(f64_fold_max, double, f64_max)

UNARY_LOOP(bool_block_not, uint8_t, uint8_t, x == 0)

UNARY_LOOP(block_from_f16, uint16_t, float, f16_to_float(x))
UNARY_LOOP(block_from_bf16, uint16_t, float, bf16_to_float(x))
UNARY_LOOP(block_to_f16, float, uint16_t, f16_from_float(x))
UNARY_LOOP(block_to_bf16, float, uint16_t, bf16_from_float(x))

/* Arguments are types. NOLINTBEGIN(bugprone-macro-parentheses) */
#define SELECT_STEPS(type, a_step, b_step) \
  for (size_t i = 0; i < count; i++) {     \
    const type x = p[i * (a_step)];        \
    const type y = q[i * (b_step)];        \
    o[i] = c[i] != 0 ? x : y;              \
  }
#define SELECT_LOOP(bytes, type)                                                             \
  static void select_##bytes(void* out, const void* condition, const void* a, size_t a_step, \
                             const void* b, size_t b_step, size_t count) {                   \
    type* o = out;                                                                           \
    const uint8_t* c = condition;                                                            \
    const type* p = a;                                                                       \
    const type* q = b;                                                                       \
    if (a_step != 0 && b_step != 0) {                                                        \
      SELECT_STEPS(type, 1, 1)                                                               \
    } else if (a_step != 0) {                                                                \
      SELECT_STEPS(type, 1, 0)                                                               \
    } else {                                                                                 \
      SELECT_STEPS(type, 0, b_step)                                                          \
    }                                                                                        \
  }
/* NOLINTEND(bugprone-macro-parentheses) */
SELECT_LOOP(1, uint8_t)
SELECT_LOOP(2, uint16_t)
SELECT_LOOP(4, uint32_t)
SELECT_LOOP(8, uint64_t)

/* Conversions. From every type to integers, floats and bool. */
#define CONVERT_FROM_INTEGER(t, type, wide, low, high, bits, is_signed) \
  UNARY_LOOP(t##_to_bool, type, uint8_t, x != 0)                        \
  UNARY_LOOP(t##_to_i8, type, int8_t, x)                                \
  UNARY_LOOP(t##_to_i16, type, int16_t, x)                              \
  UNARY_LOOP(t##_to_i32, type, int32_t, x)                              \
  UNARY_LOOP(t##_to_i64, type, int64_t, x)                              \
  UNARY_LOOP(t##_to_u8, type, uint8_t, x)                               \
  UNARY_LOOP(t##_to_u16, type, uint16_t, x)                             \
  UNARY_LOOP(t##_to_u32, type, uint32_t, x)                             \
  UNARY_LOOP(t##_to_u64, type, uint64_t, x)                             \
  UNARY_LOOP(t##_to_f32, type, float, x)                                \
  UNARY_LOOP(t##_to_f64, type, double, x)
INTEGER_TYPES(CONVERT_FROM_INTEGER)
#define CONVERT_FROM_FLOAT(t, type, suffix)                          \
  UNARY_LOOP(t##_to_bool, type, uint8_t, x != 0)                     \
  UNARY_LOOP(t##_to_i8, type, int8_t, i8_from_double((double)x))     \
  UNARY_LOOP(t##_to_i16, type, int16_t, i16_from_double((double)x))  \
  UNARY_LOOP(t##_to_i32, type, int32_t, i32_from_double((double)x))  \
  UNARY_LOOP(t##_to_i64, type, int64_t, i64_from_double((double)x))  \
  UNARY_LOOP(t##_to_u8, type, uint8_t, u8_from_double((double)x))    \
  UNARY_LOOP(t##_to_u16, type, uint16_t, u16_from_double((double)x)) \
  UNARY_LOOP(t##_to_u32, type, uint32_t, u32_from_double((double)x)) \
  UNARY_LOOP(t##_to_u64, type, uint64_t, u64_from_double((double)x)) \
  UNARY_LOOP(t##_to_f32, type, float, x)                             \
  UNARY_LOOP(t##_to_f64, type, double, x)
FLOAT_TYPES(CONVERT_FROM_FLOAT)
#define CONVERSIONS(t)                                                                             \
  {                                                                                                \
    t##_to_bool, t##_to_i8, t##_to_i16, t##_to_i32, t##_to_i64, t##_to_u8, t##_to_u16, t##_to_u32, \
        t##_to_u64, t##_to_f32, t##_to_f64                                                         \
  }

/* Blocks of 8 x 8 through registers where there are so many, else element by element. */
static void transpose_32(void* out, size_t out_stride, const void* a, size_t a_stride, size_t rows,
                         size_t columns) {
  uint32_t* o = out;
  const uint32_t* p = a;
  size_t i = 0;
#if defined(__AVX__)
  for (; i + 8 <= rows; i += 8) {
    size_t j = 0;
    for (; j + 8 <= columns; j += 8) {
      __m256 r[8];
      UNROLL for (size_t k = 0; k < 8; k++) {
        r[k] = _mm256_loadu_ps((const float*)(p + (i + k) * a_stride + j));
      }
      __m256 s[8];
      UNROLL for (size_t k = 0; k < 4; k++) {
        s[2 * k] = _mm256_unpacklo_ps(r[2 * k], r[2 * k + 1]);
        s[2 * k + 1] = _mm256_unpackhi_ps(r[2 * k], r[2 * k + 1]);
      }
      UNROLL for (size_t k = 0; k < 2; k++) {
        r[4 * k] = _mm256_shuffle_ps(s[4 * k], s[4 * k + 2], 0x44);
        r[4 * k + 1] = _mm256_shuffle_ps(s[4 * k], s[4 * k + 2], 0xEE);
        r[4 * k + 2] = _mm256_shuffle_ps(s[4 * k + 1], s[4 * k + 3], 0x44);
        r[4 * k + 3] = _mm256_shuffle_ps(s[4 * k + 1], s[4 * k + 3], 0xEE);
      }
      UNROLL for (size_t k = 0; k < 4; k++) {
        _mm256_storeu_ps((float*)(o + (j + k) * out_stride + i),
                         _mm256_permute2f128_ps(r[k], r[k + 4], 0x20));
        _mm256_storeu_ps((float*)(o + (j + k + 4) * out_stride + i),
                         _mm256_permute2f128_ps(r[k], r[k + 4], 0x31));
      }
    }
    for (; j < columns; j++) {
      for (size_t k = 0; k < 8; k++) {
        o[j * out_stride + i + k] = p[(i + k) * a_stride + j];
      }
    }
  }
#endif
  for (; i < rows; i++) {
    for (size_t j = 0; j < columns; j++) {
      o[j * out_stride + i] = p[i * a_stride + j];
    }
  }
}

#endif
