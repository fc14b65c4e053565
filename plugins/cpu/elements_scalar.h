/* What one element of any type becomes; the compiler makes vectors of the loops. */
#ifndef TENON_CPU_ELEMENTS_SCALAR_H_
#define TENON_CPU_ELEMENTS_SCALAR_H_

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "elements.h"

#define SCALAR static inline __attribute__((always_inline, unused))

SCALAR bool is_negative(bool is_signed, int64_t a) {
  return is_signed && a < 0;
}

/* NAME, C type, wide unsigned type for arithmetic that wraps, smallest, largest, bits, signed. */
#define INTEGER_TYPES(X)                                    \
  X(i8, int8_t, uint32_t, INT8_MIN, INT8_MAX, 8, true)      \
  X(i16, int16_t, uint32_t, INT16_MIN, INT16_MAX, 16, true) \
  X(i32, int32_t, uint32_t, INT32_MIN, INT32_MAX, 32, true) \
  X(i64, int64_t, uint64_t, INT64_MIN, INT64_MAX, 64, true) \
  X(u8, uint8_t, uint32_t, 0, UINT8_MAX, 8, false)          \
  X(u16, uint16_t, uint32_t, 0, UINT16_MAX, 16, false)      \
  X(u32, uint32_t, uint32_t, 0, UINT32_MAX, 32, false)      \
  X(u64, uint64_t, uint64_t, 0, UINT64_MAX, 64, false)

/* The greatest integer type's value below which a float is in range is compared as a double: exact
 * for all but the 64-bit limits, where the double is the limit plus one. */
#define INTEGER_OPERATIONS(name, type, wide, low, high, bits, is_signed)                       \
  SCALAR type name##_add(type a, type b) {                                                     \
    return (type)((wide)a + (wide)b);                                                          \
  }                                                                                            \
  SCALAR type name##_sub(type a, type b) {                                                     \
    return (type)((wide)a - (wide)b);                                                          \
  }                                                                                            \
  SCALAR type name##_mul(type a, type b) {                                                     \
    return (type)((wide)a * (wide)b);                                                          \
  }                                                                                            \
  SCALAR type name##_neg(type a) {                                                             \
    return (type)((wide)0 - (wide)a);                                                          \
  }                                                                                            \
  SCALAR type name##_div(type a, type b) {                                                     \
    if (b == 0) {                                                                              \
      return 0;                                                                                \
    }                                                                                          \
    return (type)((is_signed) && b == (type)-1 ? name##_neg(a) : a / b);                       \
  }                                                                                            \
  SCALAR type name##_fmod(type a, type b) {                                                    \
    return (type)(b == 0 || ((is_signed) && b == (type)-1) ? 0 : a % b);                       \
  }                                                                                            \
  SCALAR type name##_floor_div(type a, type b) {                                               \
    const type q = name##_div(a, b);                                                           \
    const bool inexact = b != 0 && name##_fmod(a, b) != 0;                                     \
    return inexact && is_negative(is_signed, (int64_t)a) != is_negative(is_signed, (int64_t)b) \
               ? (type)(q - 1)                                                                 \
               : q;                                                                            \
  }                                                                                            \
  SCALAR type name##_mod(type a, type b) {                                                     \
    const type r = name##_fmod(a, b);                                                          \
    return r != 0 && is_negative(is_signed, (int64_t)r) != is_negative(is_signed, (int64_t)b)  \
               ? (type)(r + b)                                                                 \
               : r;                                                                            \
  }                                                                                            \
  SCALAR type name##_min(type a, type b) {                                                     \
    return a < b ? a : b;                                                                      \
  }                                                                                            \
  SCALAR type name##_max(type a, type b) {                                                     \
    return a > b ? a : b;                                                                      \
  }                                                                                            \
  SCALAR type name##_abs(type a) {                                                             \
    return is_negative(is_signed, (int64_t)a) ? name##_neg(a) : a;                             \
  }                                                                                            \
  SCALAR type name##_sign(type a) {                                                            \
    return (type)((a > 0) - (is_negative(is_signed, (int64_t)a)));                             \
  }                                                                                            \
  SCALAR type name##_and(type a, type b) {                                                     \
    return (type)(a & b);                                                                      \
  }                                                                                            \
  SCALAR type name##_or(type a, type b) {                                                      \
    return (type)(a | b);                                                                      \
  }                                                                                            \
  SCALAR type name##_xor(type a, type b) {                                                     \
    return (type)(a ^ b);                                                                      \
  }                                                                                            \
  SCALAR type name##_not(type a) {                                                             \
    return (type)~a;                                                                           \
  }                                                                                            \
  SCALAR type name##_shl(type a, type b) {                                                     \
    return (type)((uint64_t)b >= (bits) ? 0 : (wide)a << b);                                   \
  }                                                                                            \
  SCALAR type name##_shr(type a, type b) {                                                     \
    const type past = (type)(is_negative(is_signed, (int64_t)a) ? (type)-1 : (type)0);         \
    return (type)((uint64_t)b >= (bits) ? past : a >> b);                                      \
  }                                                                                            \
  SCALAR type name##_pow(type a, type b) {                                                     \
    if (is_negative(is_signed, (int64_t)b)) {                                                  \
      return a == 1 ? (type)1 : a == (type)-1 ? (type)((b & 1) != 0 ? a : (type)1) : (type)0;  \
    }                                                                                          \
    wide result = 1;                                                                           \
    wide base = (wide)a;                                                                       \
    for (; b != 0; b = (type)(b / 2), base *= base) {                                          \
      result *= (b & 1) != 0 ? base : 1;                                                       \
    }                                                                                          \
    return (type)result;                                                                       \
  }                                                                                            \
  SCALAR type name##_from_double(double x) {                                                   \
    if (!(x >= (double)(low))) {                                                               \
      return x != x ? (type)0 : (type)(low);                                                   \
    }                                                                                          \
    return x >= (double)(high) ? (type)(high) : (type)x;                                       \
  }
INTEGER_TYPES(INTEGER_OPERATIONS)

/* NAME, C type, suffix of the library's functions. */
#define FLOAT_TYPES(X) X(f32, float, f) X(f64, double, )
#define LIBRARY_(name, suffix) name##suffix
#define LIBRARY(name, suffix) LIBRARY_(name, suffix)

#define FLOAT_OPERATIONS(name, type, suffix)                                               \
  SCALAR type name##_add(type a, type b) {                                                 \
    return a + b;                                                                          \
  }                                                                                        \
  SCALAR type name##_sub(type a, type b) {                                                 \
    return a - b;                                                                          \
  }                                                                                        \
  SCALAR type name##_mul(type a, type b) {                                                 \
    return a * b;                                                                          \
  }                                                                                        \
  SCALAR type name##_div(type a, type b) {                                                 \
    return a / b;                                                                          \
  }                                                                                        \
  SCALAR type name##_floor_div(type a, type b) {                                           \
    return LIBRARY(floor, suffix)(a / b);                                                  \
  }                                                                                        \
  SCALAR type name##_fmod(type a, type b) {                                                \
    return LIBRARY(fmod, suffix)(a, b);                                                    \
  }                                                                                        \
  SCALAR type name##_mod(type a, type b) {                                                 \
    const type r = LIBRARY(fmod, suffix)(a, b);                                            \
    return r != 0 && ((r < 0) != (b < 0)) ? r + b : r;                                     \
  }                                                                                        \
  SCALAR type name##_pow(type a, type b) {                                                 \
    return LIBRARY(pow, suffix)(a, b);                                                     \
  }                                                                                        \
  SCALAR type name##_atan2(type a, type b) {                                               \
    return LIBRARY(atan2, suffix)(a, b);                                                   \
  }                                                                                        \
  SCALAR type name##_min(type a, type b) {                                                 \
    return a != a || a < b ? a : b;                                                        \
  }                                                                                        \
  SCALAR type name##_max(type a, type b) {                                                 \
    return a != a || a > b ? a : b;                                                        \
  }                                                                                        \
  SCALAR type name##_neg(type a) {                                                         \
    return -a;                                                                             \
  }                                                                                        \
  SCALAR type name##_sign(type a) {                                                        \
    return a != a ? a : (type)((a > 0) - (a < 0));                                         \
  }                                                                                        \
  SCALAR type name##_rsqrt(type a) {                                                       \
    return 1 / LIBRARY(sqrt, suffix)(a);                                                   \
  }                                                                                        \
  SCALAR type name##_recip(type a) {                                                       \
    return 1 / a;                                                                          \
  }                                                                                        \
  SCALAR type name##_sigmoid(type a) {                                                     \
    const type e = LIBRARY(exp, suffix)(a < 0 ? a : -a);                                   \
    return (a < 0 ? e : 1) / (1 + e);                                                      \
  }                                                                                        \
  SCALAR type name##_softplus(type a) {                                                    \
    return (a > 0 ? a : 0) + LIBRARY(log1p, suffix)(LIBRARY(exp, suffix)(a > 0 ? -a : a)); \
  }
FLOAT_TYPES(FLOAT_OPERATIONS)

/* Bits of halves, with round to nearest even. */
SCALAR float float_from_bits(uint32_t bits) {
  float x;
  __builtin_memcpy(&x, &bits, sizeof(x));
  return x;
}
SCALAR uint32_t float_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof(bits));
  return bits;
}
SCALAR float f16_to_float(uint16_t half) {
  const uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
  const uint32_t magnitude = (uint32_t)(half & 0x7FFFU);
  /* Place the fields, then let a multiplication by 2^112 rebias, denormals included. */
  const float scaled = float_from_bits(magnitude << 13) * 0x1p112F;
  const uint32_t special = magnitude >= 0x7C00U ? 0x7F800000U : 0;
  return float_from_bits(float_bits(scaled) | special | sign);
}
SCALAR uint16_t f16_from_float(float x) {
  const uint32_t bits = float_bits(x);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    return (uint16_t)(sign | 0x7E00U | ((magnitude >> 13) & 0x1FFU));
  }
  if (magnitude >= 0x47800000U) { /* 65536: infinity */
    return (uint16_t)(sign | 0x7C00U);
  }
  if (magnitude < 0x38800000U) { /* 2^-14: denormal halves, by adding half the spacing's magic */
    const float shifted = float_from_bits(magnitude) + 0.5F;
    return (uint16_t)(sign | (float_bits(shifted) - 0x3F000000U));
  }
  const uint32_t rounded = magnitude + 0xFFFU + ((magnitude >> 13) & 1U);
  return (uint16_t)(sign | ((rounded - 0x38000000U) >> 13));
}
SCALAR float bf16_to_float(uint16_t half) {
  return float_from_bits((uint32_t)half << 16);
}
SCALAR uint16_t bf16_from_float(float x) {
  const uint32_t bits = float_bits(x);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    return (uint16_t)((bits >> 16) | 0x40U);
  }
  return (uint16_t)((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

#endif
