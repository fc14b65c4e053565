/* What kernels pack weights with rounds as the host does: every f16 and bf16, what lies between two
 * of them, and random numbers. */
#include "tenon/narrow.h"

#include <math.h>

#include "core/base/test.h"
#include "core/tensor/small_float.h"

static float float_of(uint32_t bits) {
  float x = 0;
  memcpy(&x, &bits, sizeof(x));
  return x;
}

static bool is_nan(tenon_dtype_t dtype, uint32_t bits) {
  return isnan(tenon__small_float_decode(dtype, bits)) != 0;
}

static void check(float x) {
  const uint32_t half = tenon_f16_of(x);
  const uint32_t brain = tenon_bf16_of(x);
  if (isnan(x)) {
    EXPECT(is_nan(TENON_DTYPE_FLOAT16, half));
    EXPECT(is_nan(TENON_DTYPE_BFLOAT16, brain));
    return;
  }
  EXPECT_INT(half, tenon__small_float_encode(TENON_DTYPE_FLOAT16, (double)x));
  EXPECT_INT(brain, tenon__small_float_encode(TENON_DTYPE_BFLOAT16, (double)x));
}

/* The number, its neighbours in f32, the middle to the next of its type, and that one's neighbours.
 */
static void check_around(tenon_dtype_t dtype, uint32_t bits) {
  const float x = (float)tenon__small_float_decode(dtype, bits);
  const float next = (float)tenon__small_float_decode(dtype, bits + 1U);
  const float middle = x + (next - x) / 2;
  const float points[] = {x, middle};
  for (size_t k = 0; k < 2; ++k) {
    check(points[k]);
    check(nextafterf(points[k], INFINITY));
    check(nextafterf(points[k], -INFINITY));
  }
}

TENON_TEST(rounds_as_the_host_does) {
  for (uint32_t bits = 0; bits < 0xFFFFU; ++bits) {
    check_around(TENON_DTYPE_FLOAT16, bits);
    check_around(TENON_DTYPE_BFLOAT16, bits);
  }
  uint32_t random = 1;
  for (int k = 0; k < 1000000; ++k) {
    random = random * 1664525U + 1013904223U;
    check(float_of(random ^ random >> 15));
  }
}

static void check_back(tenon_dtype_t dtype, uint32_t bits) {
  const float x = tenon_wide_of(dtype, (uint16_t)bits);
  if (is_nan(dtype, bits)) {
    EXPECT(isnan(x));
    return;
  }
  EXPECT_INT(tenon_bits_of(x), tenon_bits_of((float)tenon__small_float_decode(dtype, bits)));
}

TENON_TEST(goes_back_as_the_host_does) {
  for (uint32_t bits = 0; bits <= 0xFFFFU; ++bits) {
    check_back(TENON_DTYPE_FLOAT16, bits);
    check_back(TENON_DTYPE_BFLOAT16, bits);
  }
}
