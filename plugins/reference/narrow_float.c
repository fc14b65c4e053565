/*
 * Floats of 4 to 16 bits. A format is a row: how many bits for exponent and mantissa, the bias, the
 * largest number, and how it writes infinity and NaN.
 */
#include <math.h>

#include "number.h"

typedef struct format_t {
  tenon_dtype_t dtype;
  uint32_t bits;
  uint32_t mantissa_bits;
  int bias;
  double largest;
  uint32_t infinity; /* 0: has none */
  uint32_t nan;      /* 0: has none */
  bool has_minus_zero;
  bool always_saturates;
  bool never_saturates;
} format_t;

static const format_t formats[] = {
    {TENON_DTYPE_FLOAT16, 16, 10, 15, 65504.0, 0x7C00, 0x7E00, true, false, true},
    {TENON_DTYPE_BFLOAT16, 16, 7, 127, 0x1.FEp127, 0x7F80, 0x7FC0, true, false, true},
    {TENON_DTYPE_FLOAT8E4M3FN, 8, 3, 7, 448.0, 0, 0x7F, true, false, false},
    {TENON_DTYPE_FLOAT8E4M3FNUZ, 8, 3, 8, 240.0, 0, 0x80, false, false, false},
    {TENON_DTYPE_FLOAT8E5M2, 8, 2, 15, 57344.0, 0x7C, 0x7E, true, false, false},
    {TENON_DTYPE_FLOAT8E5M2FNUZ, 8, 2, 16, 57344.0, 0, 0x80, false, false, false},
    {TENON_DTYPE_FLOAT4E2M1, 4, 1, 1, 6.0, 0, 0, true, true, false},
};

static const format_t* find_format(tenon_dtype_t dtype) {
  for (uint32_t index = 0; index < sizeof(formats) / sizeof(formats[0]); ++index) {
    if (formats[index].dtype == dtype) {
      return &formats[index];
    }
  }
  return NULL;
}

/* f8e8m0: a power of two, 2^(bits - 127); 255 is NaN. */
static double decode_power(uint32_t bits) {
  return bits == 255 ? NAN : ldexp(1.0, (int)bits - 127);
}

static uint32_t encode_power(double value, bool saturates) {
  if (isnan(value) || value < 0.0) {
    return 255;
  }
  if (value == 0.0) {
    return saturates ? 0 : 255;
  }
  int exponent = 0;
  double mantissa = isinf(value) ? 0.5 : frexp(value, &exponent);
  int power = isinf(value) ? 1024 : mantissa >= 0.75 ? exponent : exponent - 1;
  if (power < -127 || power > 127) {
    return !saturates ? 255 : power > 127 ? 254 : 0;
  }
  return (uint32_t)(power + 127);
}

double tenon__narrow_decode(tenon_dtype_t dtype, uint32_t bits) {
  const format_t* format = find_format(dtype);
  if (format == NULL) {
    return decode_power(bits & 0xFFu);
  }
  uint32_t sign_bit = 1u << (format->bits - 1);
  uint32_t magnitude = bits & (sign_bit - 1);
  double sign = (bits & sign_bit) != 0 ? -1.0 : 1.0;
  if (format->infinity != 0 && magnitude >= format->infinity) {
    return magnitude == format->infinity ? sign * (double)INFINITY : copysign(NAN, sign);
  }
  if (format->nan != 0 && (format->nan == sign_bit ? bits == sign_bit : magnitude == format->nan)) {
    return copysign(NAN, sign);
  }
  uint32_t exponent = magnitude >> format->mantissa_bits;
  uint32_t mantissa = magnitude & ((1u << format->mantissa_bits) - 1);
  uint32_t hidden = exponent == 0 ? 0 : 1u << format->mantissa_bits;
  int power = (int)(exponent == 0 ? 1 : exponent) - format->bias - (int)format->mantissa_bits;
  return sign * ldexp((double)(mantissa | hidden), power);
}

/* The bits of a magnitude that is too large, infinite included. */
static uint32_t encode_overflow(const format_t* format, bool saturates, uint32_t sign) {
  if (!format->never_saturates && (saturates || format->always_saturates)) {
    return sign | tenon__narrow_encode(format->dtype, format->largest, true);
  }
  if (format->infinity != 0) {
    return sign | format->infinity;
  }
  return format->has_minus_zero ? sign | format->nan : format->nan;
}

uint32_t tenon__narrow_encode(tenon_dtype_t dtype, double value, bool saturates) {
  const format_t* format = find_format(dtype);
  if (format == NULL) {
    return encode_power(value, saturates);
  }
  uint32_t sign = signbit(value) != 0 ? 1u << (format->bits - 1) : 0;
  if (isnan(value)) {
    return format->nan == 0 ? 0 : format->has_minus_zero ? sign | format->nan : format->nan;
  }
  double magnitude = fabs(value);
  if (isinf(magnitude)) {
    return encode_overflow(format, saturates, sign);
  }
  /* Round to a multiple of the distance between neighbours at this magnitude. */
  int exponent = 0;
  (void)frexp(magnitude, &exponent);
  int least = 1 - format->bias;
  int power = exponent - 1 < least || magnitude == 0.0 ? least : exponent - 1;
  double steps = nearbyint(ldexp(magnitude, (int)format->mantissa_bits - power));
  if (ldexp(steps, power - (int)format->mantissa_bits) > format->largest) {
    return encode_overflow(format, saturates, sign);
  }
  /* Steps of the next exponent begin where those of this one end, so a carry needs no care. */
  uint32_t bits = (uint32_t)steps + ((uint32_t)(power - least) << format->mantissa_bits);
  return bits == 0 && !format->has_minus_zero ? 0 : sign | bits;
}
