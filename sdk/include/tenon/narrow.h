/*
 * f32 to f16 and bf16, for kernels that pack weights in a type that their tactic asks for, and
 * back. Rounded to nearest, halves to even; beyond the range infinite; NaN stays NaN, and quiet. As
 * the host rounds.
 *
 *   const uint16_t half = tenon_f16_of(0.1F);
 *
 * C11, and C++11 to 20.
 */
#ifndef TENON_NARROW_H_
#define TENON_NARROW_H_

#include <stdint.h>
#include <string.h>

#include "tenon/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

static inline uint32_t tenon_bits_of(float x) {
  uint32_t bits = 0;
  memcpy(&bits, &x, sizeof(bits));
  return bits;
}

/* `bits` without the lowest `count` (1 to 31), rounded. */
static inline uint32_t tenon_rounded_away(uint32_t bits, uint32_t count) {
  const uint32_t half = 1U << (count - 1);
  return (bits + (half - 1) + (bits >> count & 1U)) >> count;
}

static inline uint16_t tenon_bf16_of(float x) {
  const uint32_t bits = tenon_bits_of(x);
  return (bits & 0x7FFFFFFFU) > 0x7F800000U ? (uint16_t)(bits >> 16 | 0x40U)
                                            : (uint16_t)tenon_rounded_away(bits, 16);
}

static inline uint16_t tenon_f16_of(float x) {
  const uint32_t bits = tenon_bits_of(x);
  const uint32_t sign = bits >> 16 & 0x8000U;
  const uint32_t size = bits & 0x7FFFFFFFU;
  if (size > 0x7F800000U) {
    return (uint16_t)(sign | 0x7E00U | (size >> 13 & 0x1FFU));
  }
  if (size >= 0x47800000U) { /* 65536 */
    return (uint16_t)(sign | 0x7C00U);
  }
  if (size >=
      0x38800000U) { /* the least normal number, 2^-14: the exponent counts from elsewhere */
    return (uint16_t)(sign | tenon_rounded_away(size - 0x38000000U, 13));
  }
  if (size < 0x33000000U) { /* 2^-25, half of the least number */
    return (uint16_t)sign;
  }
  const uint32_t exponent = size >> 23;
  const uint32_t mantissa = (size & 0x7FFFFFU) | 0x800000U;
  return (uint16_t)(sign | tenon_rounded_away(mantissa, 126U - exponent));
}

/* To the type, which is FLOAT16 or, else, BFLOAT16. */
static inline uint16_t tenon_narrow_of(tenon_dtype_t dtype, float x) {
  return dtype == TENON_DTYPE_FLOAT16 ? tenon_f16_of(x) : tenon_bf16_of(x);
}

/* From it, exactly. The factor is 2^-24. */
static inline float tenon_wide_of(tenon_dtype_t dtype, uint16_t narrow) {
  const uint32_t sign = (narrow & 0x8000U) << 16;
  const uint32_t exponent = narrow >> 10 & 31U;
  const uint32_t fraction = narrow & 1023U;
  uint32_t bits = (uint32_t)narrow << 16;
  float x = 0;
  if (dtype == TENON_DTYPE_FLOAT16) {
    bits = sign | (exponent == 31  ? 0x7F800000U | fraction << 13
                   : exponent == 0 ? tenon_bits_of((float)fraction * 5.9604644775390625e-8F)
                                   : (exponent + 112) << 23 | fraction << 13);
  }
  memcpy(&x, &bits, sizeof(x));
  return x;
}

#ifdef __cplusplus
}
#endif

#endif
