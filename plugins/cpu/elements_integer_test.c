/* Compares conversions between floats and bytes of each instruction set with plain loops. */
#include <math.h>

#include "fake_run.h"

enum { MOST = 200, STATES = 3 };

static double byte_of(const void* bytes, size_t at, bool is_signed) {
  return is_signed ? ((const int8_t*)bytes)[at] : ((const uint8_t*)bytes)[at];
}

static double saturated(double x, bool is_signed) {
  const double low = is_signed ? -128 : 0;
  return isnan(x) ? 0 : fmin(fmax(x, low), low + 255);
}

static void check_quantize(const tenon__cpu_isa_t* isa, const float* x, float scale, size_t count,
                           bool is_signed) {
  uint8_t y[MOST];
  const float zero = is_signed ? -3.0F : 131.0F;
  isa->elements->quantize[is_signed ? 1 : 0](y, x, scale, zero, count);
  for (size_t k = 0; k < count; k++) {
    const double right = saturated((double)(nearbyintf(x[k] / scale) + zero), is_signed);
    if (byte_of(y, k, is_signed) != right) {
      EXPECT_NEAR(byte_of(y, k, is_signed), right, 0);
      (void)fprintf(stderr, "  %s: %a / %a\n", isa->name, (double)x[k], (double)scale);
      return;
    }
  }
}

/* Quotients near halves, on both sides and exactly, are rounded as a division rounds them. */
TENON_TEST(quotients_are_rounded_as_by_a_division) {
  static const float special[] = {NAN,       INFINITY, -INFINITY, 3e38F,   -3e38F,
                                  0x1p-149F, 0x1p-30F, -0.0F,     0x1p24F, -1e20F};
  static const float unusual[] = {0x1p-70F, 0x1p70F, 0x1p-149F,      3e38F,
                                  INFINITY, 0.0F,    0x1.fffffep-3F, 0x1.fffffep2F};
  tenon__cpu_state_t states[STATES];
  const uint32_t state_count = fake_states(states);
  unsigned seed = 11;
  for (uint32_t round = 0; round < 3000 && tenon__test_failures == 0; round++) {
    float x[MOST];
    const float scale = round % 50 == 0 ? unusual[round / 50 % 8]
                                        : (float)ldexp(1.0 + fabs(fake_random(&seed)),
                                                       (int)fake_choice(&seed, -12, 4));
    for (size_t k = 0; k < MOST; k++) {
      const float half = ((float)fake_choice(&seed, -300, 300) + 0.5F) * scale;
      const float next = k % 3 == 0 ? half : nextafterf(half, k % 3 == 1 ? INFINITY : -INFINITY);
      x[k] = k % 17 == 5 ? special[k / 17 % 10] : next;
    }
    for (uint32_t s = 0; s < state_count; s++) {
      check_quantize(states[s].isa, x, scale, MOST - round % 70, round % 2 == 0);
    }
  }
}

TENON_TEST(sums_are_scaled_and_rounded) {
  tenon__cpu_state_t states[STATES];
  const uint32_t state_count = fake_states(states);
  unsigned seed = 12;
  for (uint32_t round = 0; round < 400 && tenon__test_failures == 0; round++) {
    int32_t x[MOST];
    float scale[MOST];
    uint8_t y[MOST];
    const bool is_signed = round % 2 == 0;
    const size_t step = round / 2 % 2;
    for (size_t k = 0; k < MOST; k++) {
      x[k] = (int32_t)fake_choice(&seed, k % 9 == 0 ? INT32_MIN : -40000,
                                  k % 9 == 0 ? INT32_MAX : 40000);
      scale[k] = (float)fabs(fake_random(&seed)) / 100;
    }
    const tenon__cpu_requantized_t row = {x, scale, step, 7, MOST - round % 70};
    for (uint32_t s = 0; s < state_count; s++) {
      states[s].isa->elements->requantize[is_signed ? 1 : 0](y, &row);
      for (size_t k = 0; k < row.count; k++) {
        const float scaled = (float)x[k] * scale[k * step];
        EXPECT_NEAR(byte_of(y, k, is_signed), saturated((double)nearbyintf(scaled) + 7, is_signed),
                    0);
      }
    }
  }
}

TENON_TEST(bytes_become_floats) {
  tenon__cpu_state_t states[STATES];
  const uint32_t state_count = fake_states(states);
  uint8_t x[256];
  float y[256];
  for (size_t k = 0; k < 256; k++) {
    x[k] = (uint8_t)k;
  }
  for (uint32_t s = 0; s < 2 * state_count; s++) {
    const bool is_signed = s % 2 == 0;
    for (size_t count = 0; count <= 256; count += 32 + s) {
      states[s / 2].isa->elements->dequantize[is_signed ? 1 : 0](y, x, 3.0F, 0.02F, count);
      for (size_t k = 0; k < count; k++) {
        EXPECT(y[k] == ((float)byte_of(x, k, is_signed) - 3.0F) * 0.02F);
      }
    }
  }
}

TENON_TEST(ranges_hold_each_element_and_find_nan) {
  tenon__cpu_state_t states[STATES];
  const uint32_t state_count = fake_states(states);
  for (uint32_t s = 0; s < state_count; s++) {
    for (size_t count = 1; count <= MOST; count += 3) {
      float x[MOST] = {0};
      for (size_t place = 0; place < count; place++) {
        float low = -1;
        float high = 1;
        x[place] = place % 2 == 0 ? -9.0F : 9.0F;
        EXPECT(!states[s].isa->elements->range(x, count, &low, &high));
        EXPECT(low == (place % 2 == 0 ? -9.0F : -1.0F) && high == (place % 2 == 0 ? 1.0F : 9.0F));
        x[place] = NAN;
        EXPECT(states[s].isa->elements->range(x, count, &low, &high));
        x[place] = 0;
      }
    }
  }
}

enum { ROWS = 50, COLUMNS = 37, STRIDE = ROWS + 3 };

static void check_transposed(const tenon__cpu_isa_t* isa, const uint8_t* x, size_t rows) {
  uint8_t y[COLUMNS * STRIDE] = {0};
  isa->elements->transpose_8(y, STRIDE, x, COLUMNS, rows, COLUMNS);
  for (size_t k = 0; k < sizeof(y); k++) {
    const size_t i = k % STRIDE;
    EXPECT(y[k] == (i < rows ? x[i * COLUMNS + k / STRIDE] : 0));
  }
}

TENON_TEST(bytes_are_transposed) {
  tenon__cpu_state_t states[STATES];
  const uint32_t state_count = fake_states(states);
  uint8_t x[ROWS * COLUMNS];
  for (size_t k = 0; k < sizeof(x); k++) {
    x[k] = (uint8_t)(k * 7 + k / 256);
  }
  for (uint32_t s = 0; s < state_count; s++) {
    for (size_t rows = 0; rows <= ROWS; rows += 5) {
      check_transposed(states[s].isa, x, rows);
    }
  }
}
