/* Compares dynamic quantisation with the operator's definition. */
#include "fake_run.h"
#include "kernels.h"

static void check(int64_t count, double low, double high, double extra, unsigned seed) {
  fake_t fake = {
      .kind = TENON_REGION_OPERATOR, .op = "standard.dynamic_quantize_linear/1", .seed = seed};
  const int64_t dims[] = {count};
  float least = 0;
  float most = 0;
  bool has_nan = false;
  fake_value_t* x = fake_input(&fake, TENON_DTYPE_FLOAT32, 1, dims, false, false);
  x->info.kind = TENON_ARGUMENT_TENSOR;
  for (int64_t k = 0; k < count; k++) {
    const double part = (fake_random(&fake.seed) + 1) / 2;
    x->numbers[k] = k == count / 3 ? extra : (double)(float)(low + (high - low) * part);
    least = fminf(least, (float)x->numbers[k]);
    most = fmaxf(most, (float)x->numbers[k]);
    has_nan = has_nan || isnan(x->numbers[k]);
  }
  const double* y = fake_output(&fake, TENON_DTYPE_UINT8, 1, dims)->numbers;
  const double* scale = fake_output(&fake, TENON_DTYPE_FLOAT32, 0, dims)->numbers;
  const double* zero = fake_output(&fake, TENON_DTYPE_UINT8, 0, dims)->numbers;
  fake_int(&fake, "keepdims", 0);
  const float s = has_nan ? NAN : (most == least ? 1.0F : most - least) / 255.0F;
  const float z = nearbyintf(fminf(fmaxf(-least / s, 0.0F), 255.0F));
  tenon__cpu_state_t states[3];
  const uint32_t state_count = fake_states(states);
  for (uint32_t k = 0; k < state_count; k++) {
    tenon_refusal_t refusal;
    fake.threads = k == 0 ? 1 : 7;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_dynamic_quantize_kernel, &states[k], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_dynamic_quantize_kernel, &states[k]),
                  TENON_OK);
    EXPECT(*scale == (double)s || (has_nan && isnan(*scale)));
    EXPECT_NEAR(*zero, has_nan ? 0 : (double)z, 0);
    for (int64_t i = 0; i < count && tenon__test_failures == 0; i++) {
      const double number = (double)(nearbyintf((float)x->numbers[i] / s) + z);
      EXPECT_NEAR(y[i], has_nan || isnan(number) ? 0 : fmin(fmax(number, 0), 255), 0);
    }
  }
  fake_free(&fake);
}

TENON_TEST(tensors_of_all_ranges_and_sizes) {
  static const int64_t counts[] = {1, 5, 100, 4097, 300000};
  for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
    check(counts[k], -3, 5, 5.5, 1);
    check(counts[k], 2, 5, 3, 2);
    check(counts[k], -5, -2, -3, 3);
    check(counts[k], 0, 0, 0, 4);
    check(counts[k], -1, 1, NAN, 5);
  }
}
