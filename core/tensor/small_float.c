/* One description of each format serves both directions. A number is sign, exponent field, mantissa
 * field; the smallest exponent field means a subnormal. What is above the largest finite code is
 * NaN or infinity. */
#include "core/tensor/small_float.h"

#include <float.h>
#include <math.h>

typedef struct format_t {
  uint32_t mantissa_bits;
  int32_t bias;
  uint32_t sign_bit;      /* 0: unsigned */
  uint32_t max_code;      /* largest finite magnitude */
  uint32_t infinity_code; /* 0: none, saturates */
  uint32_t nan_code;      /* 0: none */
} format_t;

static const format_t* find_format(tenon_dtype_t dtype) {
  static const format_t f16 = {10, 15, 0x8000, 0x7BFF, 0x7C00, 0x7E00};
  static const format_t bf16 = {7, 127, 0x8000, 0x7F7F, 0x7F80, 0x7FC0};
  static const format_t e4m3fn = {3, 7, 0x80, 0x7E, 0, 0x7F};
  static const format_t e4m3fnuz = {3, 8, 0x80, 0x7F, 0, 0x80};
  static const format_t e5m2 = {2, 15, 0x80, 0x7B, 0, 0x7F};
  static const format_t e5m2fnuz = {2, 16, 0x80, 0x7F, 0, 0x80};
  static const format_t e8m0 = {0, 127, 0, 0xFE, 0, 0xFF};
  static const format_t e2m1 = {1, 1, 0x8, 0x7, 0, 0};
  switch (dtype) {
    case TENON_DTYPE_FLOAT16:
      return &f16;
    case TENON_DTYPE_BFLOAT16:
      return &bf16;
    case TENON_DTYPE_FLOAT8E4M3FN:
      return &e4m3fn;
    case TENON_DTYPE_FLOAT8E4M3FNUZ:
      return &e4m3fnuz;
    case TENON_DTYPE_FLOAT8E5M2:
      return &e5m2;
    case TENON_DTYPE_FLOAT8E5M2FNUZ:
      return &e5m2fnuz;
    case TENON_DTYPE_FLOAT8E8M0:
      return &e8m0;
    case TENON_DTYPE_FLOAT4E2M1:
      return &e2m1;
    default:
      return NULL;
  }
}

/* The number of a finite code without its sign. */
static double decode_magnitude(const format_t* format, uint32_t code) {
  const uint32_t mantissa = code & ((1u << format->mantissa_bits) - 1u);
  const int32_t field = (int32_t)(code >> format->mantissa_bits);
  const int32_t mantissa_bits = (int32_t)format->mantissa_bits;
  if (mantissa_bits == 0) {
    return ldexp(1.0, field - format->bias);
  }
  if (field == 0) {
    return ldexp((double)mantissa, 1 - format->bias - mantissa_bits);
  }
  return ldexp((double)(mantissa | (1u << mantissa_bits)), field - format->bias - mantissa_bits);
}

double tenon__small_float_decode(tenon_dtype_t dtype, uint32_t bits) {
  const format_t* format = find_format(dtype);
  if (format == NULL) {
    return 0.0;
  }
  const uint32_t code = format->sign_bit != 0 ? bits & (format->sign_bit - 1u) : bits & 0xFFu;
  const bool negative = (bits & format->sign_bit) != 0;
  if (format->nan_code == format->sign_bit && bits == format->nan_code) {
    return (double)NAN; /* the fnuz types: minus zero */
  }
  if (code > format->max_code) {
    /* e5m2 reads infinities although storing saturates. */
    const bool infinite = code == format->max_code + 1u && dtype != TENON_DTYPE_FLOAT8E4M3FN &&
                          dtype != TENON_DTYPE_FLOAT8E8M0;
    return infinite ? (negative ? -HUGE_VAL : HUGE_VAL) : (double)NAN;
  }
  const double magnitude = decode_magnitude(format, code);
  return negative ? -magnitude : magnitude;
}

/* The code of |value|, possibly above max_code. */
static uint32_t encode_magnitude(const format_t* format, double magnitude) {
  const int32_t mantissa_bits = (int32_t)format->mantissa_bits;
  int exponent = 0;
  (void)frexp(magnitude, &exponent);
  exponent -= 1; /* magnitude = 1.m * 2^exponent */
  if (mantissa_bits == 0) {
    const int32_t field = exponent + format->bias + (magnitude >= ldexp(1.5, exponent) ? 1 : 0);
    return field < 0 ? 0u : (uint32_t)field;
  }
  const int32_t smallest = 1 - format->bias;
  const bool subnormal = exponent < smallest;
  const int32_t scale = (subnormal ? smallest : exponent) - mantissa_bits;
  const uint32_t quotient = (uint32_t)nearbyint(ldexp(magnitude, -scale));
  if (subnormal) {
    return quotient; /* a carry makes the smallest normal number */
  }
  return ((uint32_t)(exponent + format->bias) << mantissa_bits) + quotient - (1u << mantissa_bits);
}

uint32_t tenon__small_float_encode(tenon_dtype_t dtype, double value) {
  const format_t* format = find_format(dtype);
  if (format == NULL) {
    return 0;
  }
  if (isnan(value)) {
    return format->nan_code;
  }
  const bool negative = signbit(value) != 0;
  if (negative && format->sign_bit == 0) {
    return value == 0.0 ? 0 : format->nan_code;
  }
  const double magnitude = fabs(value);
  uint32_t code = 0;
  if (magnitude >= ldexp(1.0, 200)) {
    code = UINT32_MAX;
  } else if (magnitude > 0.0) {
    code = encode_magnitude(format, magnitude);
  }
  if (code > format->max_code) {
    code = format->infinity_code != 0 ? format->infinity_code : format->max_code;
  }
  if (code == 0 && format->nan_code == format->sign_bit) {
    return 0; /* no minus zero */
  }
  return negative ? code | format->sign_bit : code;
}

double tenon__float_highest(tenon_dtype_t dtype) {
  if (dtype == TENON_DTYPE_FLOAT32) {
    return (double)FLT_MAX;
  }
  const format_t* format = find_format(dtype);
  return format == NULL ? DBL_MAX : decode_magnitude(format, format->max_code);
}
