/* Compares convolutions of bytes with plain loops, for all signs, zero points, windows, groups and
 * slots. */
#include "fake_integer.h"
#include "fake_window.h"
#include "kernels.h"

typedef struct case_t {
  uint32_t rank;                  /* spatial */
  int64_t batch, groups, in, out; /* channels of a group */
  int64_t extent[3], kernel[3], stride[3], dilation[3], pads[6];
  bool x_signed, w_signed;
  bool x_zero;
  int64_t w_zeros; /* 0: absent; 1; or one for each channel */
  bool constant;
  fake_integer_slot_t slot;
} case_t;

static fake_window_t window_of(const case_t* c) {
  return (fake_window_t){c->rank, c->extent, c->kernel, c->stride, c->dilation, c->pads};
}

static double convolve(const fake_t* fake, const case_t* c, int64_t n, int64_t channel,
                       const int64_t* at) {
  const int64_t taps = fake_count(c->rank, c->kernel);
  const int64_t pixels = fake_count(c->rank, c->extent);
  const int64_t group = channel / c->out;
  const fake_window_t window = window_of(c);
  double sum = 0;
  for (int64_t i = 0; i < c->in; i++) {
    for (int64_t t = 0; t < taps; t++) {
      const int64_t pixel = fake_window_pixel(&window, at, t);
      if (pixel >= 0) {
        const int64_t image_channel = (n * c->groups + group) * c->in + i;
        sum += (fake->values[0].numbers[image_channel * pixels + pixel] -
                fake_zero(&fake->values[2], 0)) *
               (fake->values[1].numbers[(channel * c->in + i) * taps + t] -
                fake_zero(&fake->values[3], channel));
      }
    }
  }
  return sum;
}

static void expect_sums(const fake_t* fake, const case_t* c, const char* isa) {
  const fake_value_t* y = &fake->values[fake->input_count];
  const int64_t pixels = fake_count(c->rank, y->dims + 2);
  for (int64_t index = 0; index < fake_count(c->rank + 2, y->dims); index++) {
    const int64_t channel = index / pixels % y->dims[1];
    int64_t at[3];
    fake_pixel_at(c->rank, y->dims + 2, index % pixels, at);
    const double sum = convolve(fake, c, index / pixels / y->dims[1], channel, at);
    const double expected = fake_apply_integer_slot(fake, c->slot, sum, index, channel);
    if (y->numbers[index] != expected) {
      EXPECT_NEAR(y->numbers[index], expected, 0);
      (void)fprintf(stderr, "  isa %s, element %lld\n", isa, (long long)index);
      return;
    }
  }
}

/* Runs all instruction sets. If `out_packing` is not NULL, it receives the packing of the last. */
static void check(const case_t* c, unsigned seed, char (*out_packing)[160]) {
  fake_t fake = {
      .kind = TENON_REGION_OPERATOR, .op = "standard.convolution_integer/1", .seed = seed};
  draft_t draft = {0};
  const fake_window_t window = window_of(c);
  int64_t x[5] = {c->batch, c->groups * c->in};
  int64_t w[5] = {c->groups * c->out, c->in};
  int64_t y[5] = {c->batch, c->groups * c->out};
  for (uint32_t k = 0; k < c->rank; k++) {
    x[2 + k] = c->extent[k];
    w[2 + k] = c->kernel[k];
    y[2 + k] = fake_window_extent(&window, k);
  }
  (void)fake_byte_input(&fake, c->x_signed, c->rank + 2, x, false);
  (void)fake_byte_input(&fake, c->w_signed, c->rank + 2, w, c->constant);
  (void)fake_zero_input(&fake, c->x_signed, c->x_zero ? 1 : 0);
  (void)fake_zero_input(&fake, c->w_signed, c->w_zeros);
  fake_fill_integer_slot(&fake, c->slot, c->rank + 2, y, 1, &draft);
  (void)fake_output(&fake, fake_integer_dtype(c->slot), c->rank + 2, y);
  fake_set_space(&fake, c->rank + 2, y);
  fake_ints(&fake, "strides", c->rank, c->stride);
  fake_ints(&fake, "dilations", c->rank, c->dilation);
  fake_ints(&fake, "pads", (size_t)c->rank * 2, c->pads);
  fake_string(&fake, "auto_pad", "explicit");
  fake_int(&fake, "groups", c->groups);
  tenon__cpu_state_t states[FAKE_INTEGER_STATES];
  const uint32_t count = fake_integer_states(states);
  for (uint32_t s = 0; s < count && tenon__test_failures == 0; s++) {
    tenon_refusal_t refusal;
    fake.threads = s % 3 == 2 ? 7 : 1 + s % 3;
    uint32_t t = 0;
    for (; fake_tactic(&fake, &tenon__cpu_convolution_integer_kernel, &states[s], t, &refusal);
         t++) {
      EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_convolution_integer_kernel, &states[s]),
                    TENON_OK);
      expect_sums(&fake, c, states[s].isa->name);
    }
    EXPECT(t > 0);
  }
  if (out_packing != NULL) {
    memcpy(*out_packing, fake.packing, sizeof(*out_packing));
  }
  fake_free(&fake);
}

TENON_TEST(random_windows_are_exact) {
  for (unsigned seed = 1; seed <= 300 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 911;
    const int kind = (int)fake_choice(&s, 0, 3); /* 0: depthwise; 1: groups; else one group */
    case_t c = {.rank = (uint32_t)fake_choice(&s, 1, 3),
                .batch = fake_choice(&s, 1, 2),
                .groups = kind == 0   ? fake_choice(&s, 2, seed % 10 == 0 ? 600 : 70)
                          : kind == 1 ? fake_choice(&s, 2, 4)
                                      : 1,
                .in = kind == 0 ? 1 : fake_choice(&s, 1, seed % 7 == 0 ? 64 : 20),
                .out = kind == 0 ? 1 : fake_choice(&s, 1, 40),
                .x_signed = fake_choice(&s, 0, 1) == 1,
                .w_signed = fake_choice(&s, 0, 1) == 1,
                .x_zero = fake_choice(&s, 0, 3) > 0,
                .constant = fake_choice(&s, 0, 1) == 1,
                .slot = (fake_integer_slot_t)fake_choice(&s, 0, FAKE_INTEGER_SLOTS - 1)};
    const int64_t zeros = fake_choice(&s, 0, 2);
    c.w_zeros = zeros == 2 ? c.groups * c.out : zeros;
    for (uint32_t k = 0; k < c.rank; k++) {
      c.kernel[k] = fake_choice(&s, 1, 3);
      c.stride[k] = fake_choice(&s, 1, 2);
      c.dilation[k] = fake_choice(&s, 1, 2);
      c.pads[k] = fake_choice(&s, 0, 2);
      c.pads[c.rank + k] = fake_choice(&s, 0, 2);
      const int64_t reach = (c.kernel[k] - 1) * c.dilation[k] + 1 - c.pads[k] - c.pads[c.rank + k];
      c.extent[k] = fake_choice(&s, reach > 1 ? reach : 1, c.rank == 1 ? 60 : 8);
    }
    check(&c, seed, NULL);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

TENON_TEST(windows_of_one_pixel_are_exact) {
  for (unsigned seed = 1; seed <= 16; seed++) {
    const case_t c = {.rank = 2,
                      .batch = 2,
                      .groups = 1,
                      .in = seed % 2 == 0 ? 64 : 60,
                      .out = 33,
                      .extent = {7, 9},
                      .kernel = {1, 1},
                      .stride = {1, 1},
                      .dilation = {1, 1},
                      .x_signed = seed % 4 > 1,
                      .w_signed = seed % 8 > 3,
                      .x_zero = true,
                      .w_zeros = seed % 2,
                      .constant = true,
                      .slot = (fake_integer_slot_t)(seed % FAKE_INTEGER_SLOTS)};
    check(&c, seed, NULL);
  }
}

/* Weights of 32 outputs with 16 channels each: one group, and two. The host would share one packing
 * between them. */
TENON_TEST(packings_of_different_groups_differ) {
  case_t c = {.rank = 1,
              .batch = 1,
              .groups = 1,
              .in = 16,
              .out = 32,
              .extent = {5},
              .kernel = {1},
              .stride = {1},
              .dilation = {1},
              .constant = true};
  char packings[2][160];
  check(&c, 1, &packings[0]);
  c.groups = 2;
  c.out = 16;
  check(&c, 1, &packings[1]);
  EXPECT(packings[0][0] != '\0');
  EXPECT(strcmp(packings[0], packings[1]) != 0);
}
