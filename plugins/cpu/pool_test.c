/* Pooling against plain loops. */
#include "fake_run.h"
#include "fake_window.h"
#include "kernels.h"
#include "window.h"

typedef struct case_t {
  uint32_t rank;
  int64_t batch, channels, extent[2], kernel[2], stride[2], dilation[2], pads[4];
  bool average, counts_padding, ceil;
  bool strange; /* some elements are NaN or infinite */
} case_t;

static double pool(const fake_t* fake, const case_t* c, int64_t image, const int64_t* at) {
  const fake_window_t window = {c->rank, c->extent, c->kernel, c->stride, c->dilation, c->pads};
  const int64_t pixels = fake_count(c->rank, c->extent);
  double sum = c->average ? 0 : -INFINITY;
  int64_t count = 0;
  for (int64_t t = 0; t < fake_count(c->rank, c->kernel); t++) {
    const fake_tap_t tap = fake_window_tap(&window, at, t);
    count += tap.pixel >= 0 || (tap.is_padded && c->counts_padding) ? 1 : 0;
    if (tap.pixel >= 0) {
      const double x = fake->values[0].numbers[image * pixels + tap.pixel];
      sum = c->average ? sum + x : isnan(x) || x > sum ? x : sum; /* NaN stays */
    }
  }
  return c->average ? sum / (double)(count > 0 ? count : 1) : sum;
}

/* Tactic 0 has channels last, tactic 1 planes. */
static void check(const case_t* c, unsigned seed, uint32_t tactic) {
  const tenon_kernel_t* kernel =
      c->average ? &tenon__cpu_average_pool_kernel : &tenon__cpu_max_pool_kernel;
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = kernel->operators[0], .seed = seed};
  int64_t x_dims[4] = {c->batch, c->channels};
  int64_t y_dims[4] = {c->batch, c->channels};
  for (uint32_t k = 0; k < c->rank; k++) {
    REQUIRE(c->stride[k] > 0);
    x_dims[2 + k] = c->extent[k];
    const int64_t room =
        c->extent[k] + c->pads[k] + c->pads[c->rank + k] - (c->kernel[k] - 1) * c->dilation[k] - 1;
    if (room < 0) {
      return;
    }
    y_dims[2 + k] = (room + (c->ceil ? c->stride[k] - 1 : 0)) / c->stride[k] + 1;
    if ((y_dims[2 + k] - 1) * c->stride[k] >= c->extent[k] + c->pads[k]) {
      y_dims[2 + k]--;
    }
  }
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, c->rank + 2, x_dims, false, false);
  if (c->strange) {
    const double strange[] = {NAN, INFINITY, -INFINITY, NAN};
    const int64_t count = fake_count(c->rank + 2, x_dims);
    for (int64_t k = 0; k < 4; k++) {
      fake.values[0].numbers[(k * 37 + seed) % count] = strange[k];
    }
  }
  const fake_value_t* y = fake_output(&fake, TENON_DTYPE_FLOAT32, c->rank + 2, y_dims);
  fake_ints(&fake, "kernel_shape", c->rank, c->kernel);
  fake_ints(&fake, "strides", c->rank, c->stride);
  fake_ints(&fake, "dilations", c->rank, c->dilation);
  fake_ints(&fake, "pads", 2 * (size_t)c->rank, c->pads);
  fake_int(&fake, "count_include_pad", c->counts_padding);
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    fake.threads = 2;
    REQUIRE(fake_tactic(&fake, kernel, &states[s], tactic, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, kernel, &states[s]), TENON_OK);
    const int64_t pixels = fake_count(c->rank, y_dims + 2);
    for (int64_t i = 0; i < c->batch * c->channels * pixels; i++) {
      int64_t at[2];
      int64_t rest = i % pixels;
      for (uint32_t k = c->rank; k-- > 0;) {
        at[k] = rest % y_dims[2 + k]; /* positive. NOLINT(clang-analyzer-core.DivideZero) */
        rest /= y_dims[2 + k];
      }
      const double expected = pool(&fake, c, i / pixels, at);
      const bool same = isnan(expected)   ? isnan(y->numbers[i]) != 0
                        : isinf(expected) ? y->numbers[i] == expected
                                          : fabs(y->numbers[i] - expected) <= 2e-6;
      if (!same) { /* beyond a few roundings of numbers below 1 */
        EXPECT_NEAR(y->numbers[i], expected, 2e-6);
        break;
      }
    }
  }
  fake_free(&fake);
}

TENON_TEST(random_pools_equal_the_loops) {
  for (unsigned seed = 1; seed <= 300 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 71;
    case_t c = {.rank = (uint32_t)fake_choice(&s, 1, 2),
                .batch = fake_choice(&s, 1, 2),
                .channels = fake_choice(&s, 1, seed % 3 == 0 ? 150 : 40),
                .average = seed % 2 == 0,
                .counts_padding = fake_choice(&s, 0, 1) == 1,
                .ceil = fake_choice(&s, 0, 1) == 1,
                .strange = seed % 5 == 0};
    for (uint32_t k = 0; k < c.rank; k++) {
      c.extent[k] = fake_choice(&s, 1, 20);
      c.kernel[k] = fake_choice(&s, 1, 5);
      c.stride[k] = fake_choice(&s, 1, 3);
      c.dilation[k] = fake_choice(&s, 1, 2);
      c.pads[k] = fake_choice(&s, 0, c.kernel[k] - 1);
      c.pads[c.rank + k] = fake_choice(&s, 0, c.kernel[k] - 1);
    }
    check(&c, seed, 0);
    check(&c, seed, 1);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

TENON_TEST(taps_between_equals_the_loop) {
  for (unsigned seed = 1; seed <= 2000; seed++) {
    unsigned s = seed * 71;
    const int64_t first = fake_choice(&s, 0, 40) - 20;
    const int64_t step = fake_choice(&s, 1, 4);
    const int64_t count = fake_choice(&s, 0, 6);
    const int64_t low = fake_choice(&s, 0, 6) - 3;
    const int64_t high = fake_choice(&s, 0, 12);
    int64_t begin = -1;
    const int64_t end = tenon__cpu_taps_between(first, step, count, low, high, &begin);
    EXPECT(begin >= 0 && begin <= end && end <= count);
    for (int64_t k = 0; k < count; k++) {
      const int64_t at = first + k * step;
      EXPECT((k >= begin && k < end) == (at >= low && at < high));
    }
  }
}

/* A window as large as an attribute can be: its padding is not walked through. */
TENON_TEST(a_window_of_padding_alone_takes_no_time) {
  const int64_t window = INT64_C(1) << 30;
  int64_t begin = 0;
  EXPECT_INT(tenon__cpu_taps_between(-window + 2, 1, window, 0, 1, &begin), window - 1);
  EXPECT_INT(begin, window - 2);
}
