/* Transposed convolution against sums of doubles. */
#include "fake_program.h"
#include "fake_run.h"
#include "kernels.h"

typedef struct case_t {
  uint32_t rank;
  int64_t batch, groups, in, out, extent[2], kernel[2], stride[2], pads[4], padding[2];
  bool bias, swish;
  bool given; /* the weights are an input, no constant */
} case_t;

/* Adds what the number x at pixel p of input channel i gives to one image. */
static void spread(const fake_t* fake, const case_t* c, int64_t i, int64_t p, double x,
                   const int64_t* y_dims, double* inout_image) {
  const int64_t taps = fake_count(c->rank, c->kernel);
  const int64_t y_pixels = fake_count(c->rank, y_dims + 2);
  for (int64_t t = 0; t < taps; t++) {
    int64_t at = 0;
    int64_t step = 1;
    int64_t rest_p = p;
    int64_t rest_t = t;
    bool inside = true;
    for (uint32_t k = c->rank; k-- > 0;) {
      const int64_t o = rest_p % c->extent[k] * c->stride[k] - c->pads[k] + rest_t % c->kernel[k];
      rest_p /= c->extent[k];
      rest_t /= c->kernel[k];
      inside = inside && o >= 0 && o < y_dims[2 + k];
      at += o * step;
      step *= y_dims[2 + k];
    }
    for (int64_t m = 0; inside && m < c->out; m++) {
      const int64_t channel = i / c->in * c->out + m;
      inout_image[channel * y_pixels + at] +=
          x * fake->values[1].numbers[(i * c->out + m) * taps + t];
    }
  }
}

static double* expected_of(const fake_t* fake, const case_t* c, const int64_t* y_dims) {
  const int64_t out = c->groups * c->out;
  const int64_t pixels = fake_count(c->rank, c->extent);
  const int64_t y_pixels = fake_count(c->rank, y_dims + 2);
  double* y = calloc((size_t)(c->batch * out * y_pixels) + 1, sizeof(double));
  for (int64_t k = 0; k < c->batch * out * y_pixels; k++) {
    y[k] = c->bias ? fake->values[2].numbers[k / y_pixels % out] : 0;
  }
  for (int64_t n = 0; n < c->batch; n++) {
    for (int64_t i = 0; i < c->groups * c->in; i++) {
      for (int64_t p = 0; p < pixels; p++) {
        const double x = fake->values[0].numbers[(n * c->groups * c->in + i) * pixels + p];
        spread(fake, c, i, p, x, y_dims, y + n * out * y_pixels);
      }
    }
  }
  for (int64_t k = 0; c->swish && k < c->batch * out * y_pixels; k++) {
    y[k] = y[k] / (1 + exp(-y[k]));
  }
  return y;
}

static void check(const case_t* c, unsigned seed) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.deconvolution/1", .seed = seed};
  draft_t draft = {0};
  const uint32_t rank = c->rank + 2;
  int64_t x_dims[4] = {c->batch, c->groups * c->in};
  int64_t w_dims[4] = {c->groups * c->in, c->out};
  int64_t y_dims[4] = {c->batch, c->groups * c->out};
  for (uint32_t k = 0; k < c->rank; k++) {
    x_dims[2 + k] = c->extent[k];
    w_dims[2 + k] = c->kernel[k];
    y_dims[2 + k] = (c->extent[k] - 1) * c->stride[k] + c->kernel[k] + c->padding[k] - c->pads[k] -
                    c->pads[c->rank + k];
    if (y_dims[2 + k] < 1) {
      return;
    }
  }
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, rank, x_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, rank, w_dims, !c->given, false);
  if (c->bias) {
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 1, y_dims + 1, true, false);
  }
  if (c->swish) {
    const uint32_t v = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
    draft.operands[0].kind = TENON_OPERAND_SLOT_VALUE;
    output(&draft, f32(&draft, TENON_OPCODE_MUL, f32(&draft, TENON_OPCODE_SIGMOID, v, 0), v),
           TENON_DTYPE_FLOAT32, 0);
    finish(&draft, rank);
    fake.slot = &draft.program;
  }
  const fake_value_t* y = fake_output(&fake, TENON_DTYPE_FLOAT32, rank, y_dims);
  fake_set_space(&fake, rank, y_dims);
  fake_ints(&fake, "strides", c->rank, c->stride);
  fake_ints(&fake, "pads", 2 * (size_t)c->rank, c->pads);
  fake_ints(&fake, "output_padding", c->rank, c->padding);
  fake_int(&fake, "groups", c->groups);
  double* expected = expected_of(&fake, c, y_dims);
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < 2 * count; s++) {
    tenon_refusal_t refusal;
    fake.threads = 1 + 2 * (s % 2);
    REQUIRE(fake_tactic(&fake, &tenon__cpu_deconvolution_kernel, &states[s / 2], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_deconvolution_kernel, &states[s / 2]),
                  TENON_OK);
    for (int64_t k = 0; k < fake_count(rank, y_dims); k++) {
      /* At most 25 taps of 40 channels, each product below 1. */
      if (!(fabs(y->numbers[k] - expected[k]) <= 3e-5)) {
        EXPECT_NEAR(y->numbers[k], expected[k], 3e-5);
        (void)fprintf(stderr, "  isa %s, element %lld\n", states[s / 2].isa->name, (long long)k);
        break;
      }
    }
  }
  free(expected);
  fake_free(&fake);
}

TENON_TEST(random_deconvolutions_equal_the_sums) {
  for (unsigned seed = 1; seed <= 300 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 13;
    case_t c = {.rank = (uint32_t)fake_choice(&s, 1, 2),
                .batch = fake_choice(&s, 1, 2),
                .groups = fake_choice(&s, 0, 2) == 0 ? 3 : 1,
                .in = fake_choice(&s, 1, 40),
                .out = fake_choice(&s, 1, 50),
                .bias = fake_choice(&s, 0, 1) == 1,
                .swish = fake_choice(&s, 0, 1) == 1,
                .given = seed % 3 == 0};
    for (uint32_t k = 0; k < c.rank; k++) {
      c.extent[k] = fake_choice(&s, 1, 12);
      c.kernel[k] = fake_choice(&s, 1, 5);
      c.stride[k] = fake_choice(&s, 1, 4);
      c.pads[k] = fake_choice(&s, 0, c.kernel[k] - 1);
      c.pads[c.rank + k] = fake_choice(&s, 0, c.kernel[k] - 1);
      c.padding[k] = fake_choice(&s, 0, c.stride[k] - 1);
    }
    check(&c, seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

TENON_TEST(doubles_the_resolution) {
  const case_t c = {.rank = 2,
                    .batch = 1,
                    .groups = 1,
                    .in = 64,
                    .out = 32,
                    .extent = {16, 16},
                    .kernel = {2, 2},
                    .stride = {2, 2},
                    .bias = true};
  check(&c, 2);
}

/* Phases without a tap are the bias alone, however long a line of the window is. */
TENON_TEST(strides_beyond_the_window) {
  const case_t c = {.rank = 2,
                    .batch = 1,
                    .groups = 1,
                    .in = 400,
                    .out = 5,
                    .extent = {3, 4},
                    .kernel = {1, 1},
                    .stride = {3, 2},
                    .bias = true,
                    .swish = true};
  check(&c, 3);
}

/* Pads beyond the window, of either sign: a band holds what its lines need, not what is skipped. */
TENON_TEST(pads_beyond_the_window) {
  const case_t cropped = {.rank = 2,
                          .batch = 1,
                          .groups = 1,
                          .in = 200,
                          .out = 3,
                          .extent = {60, 60},
                          .kernel = {3, 3},
                          .stride = {1, 1},
                          .pads = {28, 28, 28, 28}};
  const case_t widened = {.rank = 2,
                          .batch = 1,
                          .groups = 1,
                          .in = 200,
                          .out = 3,
                          .extent = {6, 6},
                          .kernel = {3, 3},
                          .stride = {2, 2},
                          .pads = {-31, -30, -30, -31}};
  check(&cropped, 4);
  check(&widened, 5);
}

TENON_TEST(refuses_an_image_without_bound) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.deconvolution/1", .seed = 1};
  const int64_t x_dims[] = {1, 2, 4, 4};
  const int64_t w_dims[] = {2, 3, 2, 2};
  const int64_t y_dims[] = {1, 3, 5, 5};
  const int64_t unbounded[] = {1, 2, 4, -1};
  tenon__cpu_state_t states[3];
  tenon_refusal_t refusal;
  fake_value_t* x = fake_input(&fake, TENON_DTYPE_FLOAT32, 4, x_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 4, w_dims, true, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 4, y_dims);
  x->info.dims_max = unbounded;
  REQUIRE(fake_states(states) > 0);
  EXPECT(!fake_tactic(&fake, &tenon__cpu_deconvolution_kernel, &states[0], 0, &refusal));
  EXPECT_INT(refusal.reason, TENON_REFUSAL_DYNAMIC_SHAPE);
  fake_free(&fake);
}
