/* Conversion of lines of floats between f32 and narrow types, with the rounding of
 * tenon__element_store. */
#include "core/tensor/line_convert.h"

#include <string.h>

#include "tenon/narrow.h"

static float float_of(uint32_t bits) {
  float x = 0;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The exponent counts from elsewhere, which a product with a power of 2 sets right, below the
 * normal numbers too. */
static float wide_of_f16(uint16_t half) {
  const uint32_t size = (uint32_t)(half & 0x7FFFU) << 13;
  const uint32_t sign = (uint32_t)(half & 0x8000U) << 16;
  const uint32_t finite = tenon_bits_of(float_of(size) * 0x1p112F);
  const uint32_t special = size | 0x7F800000U; /* infinities and NaN */
  return float_of(sign | (size >= 0x0F800000U ? special : finite));
}

static float wide_of_bf16(uint16_t brain) {
  return float_of((uint32_t)brain << 16);
}

static float load_float(tenon__line_t line, int64_t k) {
  float x = 0;
  memcpy(&x, (const char*)line.data + k * line.step, sizeof x);
  return x;
}
static void store_float(tenon__line_t line, int64_t k, float x) {
  memcpy((char*)line.data + k * line.step, &x, sizeof x);
}
static uint16_t load_half(tenon__line_t line, int64_t k) {
  uint16_t x = 0;
  memcpy(&x, (const char*)line.data + k * line.step, sizeof x);
  return x;
}
static void store_half(tenon__line_t line, int64_t k, uint16_t x) {
  memcpy((char*)line.data + k * line.step, &x, sizeof x);
}

/* The type is asked outside of the loops. */
static void narrow(tenon__line_t from, tenon__line_t to, int64_t count) {
  if (to.dtype == TENON_DTYPE_FLOAT16) {
    for (int64_t k = 0; k < count; ++k) {
      store_half(to, k, tenon_f16_of(load_float(from, k)));
    }
  } else {
    for (int64_t k = 0; k < count; ++k) {
      store_half(to, k, tenon_bf16_of(load_float(from, k)));
    }
  }
}

static void widen(tenon__line_t from, tenon__line_t to, int64_t count) {
  if (from.dtype == TENON_DTYPE_FLOAT16) {
    for (int64_t k = 0; k < count; ++k) {
      store_float(to, k, wide_of_f16(load_half(from, k)));
    }
  } else {
    for (int64_t k = 0; k < count; ++k) {
      store_float(to, k, wide_of_bf16(load_half(from, k)));
    }
  }
}

static bool is_half(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_FLOAT16 || dtype == TENON_DTYPE_BFLOAT16;
}

bool tenon__line_convert(tenon__line_t from, tenon__line_t to, int64_t count) {
  if (from.dtype == TENON_DTYPE_FLOAT32 && is_half(to.dtype)) {
    narrow(from, to, count);
    return true;
  }
  if (is_half(from.dtype) && to.dtype == TENON_DTYPE_FLOAT32) {
    widen(from, to, count);
    return true;
  }
  return false;
}

bool tenon__line_round(float* data, tenon_dtype_t through, uint64_t count) {
  const uint64_t rounded = is_half(through) ? count : 0;
  for (uint64_t k = 0; k < rounded; ++k) {
    data[k] = through == TENON_DTYPE_FLOAT16 ? wide_of_f16(tenon_f16_of(data[k]))
                                             : wide_of_bf16(tenon_bf16_of(data[k]));
  }
  return is_half(through);
}
