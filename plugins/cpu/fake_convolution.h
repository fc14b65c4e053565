/* Convolutions of numbers in memory, and their sums in double precision. Tests of the kernels of
 * standard.convolution/1 include this file. */
#ifndef TENON_CPU_FAKE_CONVOLUTION_H_
#define TENON_CPU_FAKE_CONVOLUTION_H_

#include "fake_program.h"
#include "fake_run.h"
#include "fake_window.h"
#include "kernels.h"

/* The program in the fusion slot. */
typedef enum slot_kind_t {
  SLOT_EMPTY,
  SLOT_RELU,
  SLOT_RESIDUAL_RELU,
  SLOT_SWISH,
  SLOT_HARD_SWISH,
  SLOT_GELU,
  SLOT_BIAS_CLIP,
  SLOT_GATE, /* no fast path: times one number for each channel and image, tanh, plus a full operand
              */
  SLOT_COUNT
} slot_kind_t;

typedef struct case_t {
  uint32_t rank;
  slot_kind_t slot;
  int64_t batch, groups, in, out; /* channels of a group */
  int64_t extent[3], kernel[3], stride[3], dilation[3], pads[6];
  bool bias;
  bool given;    /* the weights are an input, no constant */
  bool infinite; /* the first weight is */
  bool prologue; /* of windows of one pixel: times a number for each channel and image, plus a full
                    operand, at least -0.25 */
  bool winograd; /* the kernel of tiles takes it too */
  bool strange;  /* two pixels are infinite or NaN */
} case_t;

static inline fake_window_t window_of(const case_t* c) {
  return (fake_window_t){c->rank, c->extent, c->kernel, c->stride, c->dilation, c->pads};
}

static inline uint32_t hard_swish(draft_t* draft, uint32_t v) {
  const uint32_t scaled = f32(draft, TENON_OPCODE_MUL, v, constant(draft, 1.0 / 6));
  const uint32_t shifted = f32(draft, TENON_OPCODE_ADD, scaled, constant(draft, 0.5));
  const uint32_t low = f32(draft, TENON_OPCODE_MAX, shifted, constant(draft, 0));
  return f32(draft, TENON_OPCODE_MUL, v, f32(draft, TENON_OPCODE_MIN, low, constant(draft, 1)));
}

static inline uint32_t gelu(draft_t* draft, uint32_t v) {
  const uint32_t scaled = f32(draft, TENON_OPCODE_MUL, v, constant(draft, 0.7071067811865476));
  const uint32_t e = f32(draft, TENON_OPCODE_ERF, scaled, 0);
  const uint32_t half = f32(draft, TENON_OPCODE_MUL, constant(draft, 0.5), v);
  return f32(draft, TENON_OPCODE_MUL, half, f32(draft, TENON_OPCODE_ADD, constant(draft, 1), e));
}

/* The program, and its inputs beyond the node's. */
static inline void fill_slot(fake_t* fake, const case_t* c, const int64_t* y_dims, draft_t* draft) {
  const uint32_t rank = c->rank + 2;
  const uint32_t first = fake->input_count;
  const int64_t channels[] = {1, y_dims[1], 1, 1, 1};
  const int64_t gates[] = {y_dims[0], y_dims[1], 1, 1, 1};
  uint32_t v = input(draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  draft->operands[0] =
      (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = TENON_DTYPE_FLOAT32};
  const uint64_t all = ((uint64_t)1 << rank) - 1;
  switch (c->slot) {
    case SLOT_RESIDUAL_RELU:
      (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, y_dims, false, true);
      v = f32(draft, TENON_OPCODE_ADD, input(draft, 1, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32),
              v);
      draft->operands[1].index = first;
      v = f32(draft, TENON_OPCODE_MAX, v, constant(draft, 0));
      break;
    case SLOT_RELU:
      v = f32(draft, TENON_OPCODE_MAX, v, constant(draft, 0));
      break;
    case SLOT_SWISH:
      v = f32(draft, TENON_OPCODE_MUL, f32(draft, TENON_OPCODE_SIGMOID, v, 0), v);
      break;
    case SLOT_HARD_SWISH:
      v = hard_swish(draft, v);
      break;
    case SLOT_GELU:
      v = gelu(draft, v);
      break;
    case SLOT_BIAS_CLIP: {
      (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, channels, false, true);
      v = f32(draft, TENON_OPCODE_ADD, v,
              input(draft, 1, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32));
      draft->operands[1].index = first;
      draft->operands[1].broadcast_axes = all & ~(uint64_t)2;
      v = f32(draft, TENON_OPCODE_MAX, v, constant(draft, -0.5));
      v = f32(draft, TENON_OPCODE_MIN, v, constant(draft, 0.5));
      break;
    }
    case SLOT_GATE:
      (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, gates, false, true);
      (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, y_dims, false, true);
      v = f32(draft, TENON_OPCODE_MUL, v,
              input(draft, 1, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32));
      v = f32(draft, TENON_OPCODE_TANH, v, 0);
      v = f32(draft, TENON_OPCODE_ADD, v,
              input(draft, 2, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32));
      draft->operands[1].index = first;
      draft->operands[1].broadcast_axes = all & ~(uint64_t)3;
      draft->operands[2].index = first + 1;
      break;
    default:
      break;
  }
  output(draft, v, TENON_DTYPE_FLOAT32, 0);
  finish(draft, rank);
  fake->slot = c->slot == SLOT_EMPTY ? NULL : &draft->program;
}

static inline void fill_prologue(fake_t* fake, const case_t* c, const int64_t* x_dims,
                                 draft_t* draft) {
  const uint32_t rank = c->rank + 2;
  const uint32_t first = fake->input_count;
  const int64_t gates[] = {x_dims[0], x_dims[1], 1, 1, 1};
  if (!c->prologue) {
    return;
  }
  (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, gates, false, true);
  (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, x_dims, false, true);
  uint32_t v = input(draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  v = f32(draft, TENON_OPCODE_MUL, v, input(draft, 1, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32));
  v = f32(draft, TENON_OPCODE_ADD, v, input(draft, 2, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32));
  v = f32(draft, TENON_OPCODE_MAX, v, constant(draft, -0.25));
  draft->operands[0] =
      (tenon_operand_t){.kind = TENON_OPERAND_SLOT_VALUE, .dtype = TENON_DTYPE_FLOAT32};
  draft->operands[1].index = first;
  draft->operands[1].broadcast_axes = (((uint64_t)1 << rank) - 1) & ~(uint64_t)3;
  draft->operands[2].index = first + 1;
  output(draft, v, TENON_DTYPE_FLOAT32, 0);
  finish(draft, rank);
  memcpy(fake->prologue_space, x_dims, rank * sizeof(*x_dims));
  fake->prologue = &draft->program;
}

/* Element `index` of x, whose channel and image are number `image_channel`, as it is multiplied. */
static inline double read_x(const fake_t* fake, int64_t index, int64_t image_channel) {
  const double x = fake->values[0].numbers[index];
  const fake_value_t* extra = &fake->values[fake->input_count - 2];
  if (fake->prologue == NULL) {
    return x;
  }
  const double v = x * extra[0].numbers[image_channel] + extra[1].numbers[index];
  return v > -0.25 ? v : -0.25;
}

static inline double clip(double x, double low, double high) {
  return x < low ? low : x > high ? high : x;
}

static inline double apply_slot(const fake_t* fake, const case_t* c, double v, int64_t index,
                                int64_t channel, int64_t image_channel) {
  const fake_value_t* extra = &fake->values[fake->node_input_count];
  switch (c->slot) {
    case SLOT_RELU:
      return v > 0 ? v : 0;
    case SLOT_RESIDUAL_RELU:
      v += extra->numbers[index];
      return v > 0 ? v : 0;
    case SLOT_SWISH:
      return v / (1 + exp(-v));
    case SLOT_HARD_SWISH:
      return v * clip(v / 6 + 0.5, 0, 1);
    case SLOT_GELU:
      return 0.5 * v * (1 + erf(v * 0.7071067811865476));
    case SLOT_BIAS_CLIP:
      return clip(v + extra->numbers[channel], -0.5, 0.5);
    case SLOT_GATE:
      return tanh(v * extra->numbers[image_channel]) + extra[1].numbers[index];
    default:
      return v;
  }
}

/* One output element's sum. */
static inline double convolve(const fake_t* fake, const case_t* c, int64_t n, int64_t channel,
                              const int64_t* at) {
  const fake_value_t* w = &fake->values[1];
  const fake_window_t window = window_of(c);
  const int64_t group = channel / c->out;
  const int64_t taps = fake_count(c->rank, c->kernel);
  const int64_t pixels = fake_count(c->rank, c->extent);
  double sum = c->bias ? fake->values[2].numbers[channel] : 0;
  for (int64_t i = 0; i < c->in; i++) {
    const int64_t image_channel = (n * c->groups + group) * c->in + i;
    for (int64_t t = 0; t < taps; t++) {
      const int64_t pixel = fake_window_pixel(&window, at, t);
      const double weight = w->numbers[(channel * c->in + i) * taps + t];
      /* Padding is 0. It counts if a weight is infinite. */
      const double x = pixel >= 0 ? read_x(fake, image_channel * pixels + pixel, image_channel) : 0;
      sum += x * weight;
    }
  }
  return sum;
}

static inline double* expected_of(const fake_t* fake, const case_t* c, const int64_t* y_dims) {
  double* expected = calloc((size_t)fake_count(c->rank + 2, y_dims) + 1, sizeof(double));
  const int64_t pixels = fake_count(c->rank, y_dims + 2);
  int64_t index = 0;
  for (int64_t n = 0; n < c->batch; n++) {
    for (int64_t m = 0; m < y_dims[1]; m++) {
      for (int64_t p = 0; p < pixels; p++, index++) {
        int64_t at[3];
        fake_pixel_at(c->rank, y_dims + 2, p, at);
        expected[index] =
            apply_slot(fake, c, convolve(fake, c, n, m, at), index, m, n * y_dims[1] + m);
      }
    }
  }
  return expected;
}

static inline void check_numbers(const fake_t* fake, const double* expected, double tolerance,
                                 const char* isa) {
  const fake_value_t* y = &fake->values[fake->input_count];
  for (int64_t k = 0; k < fake_count(y->info.rank, y->dims); k++) {
    const bool same = isfinite(expected[k]) ? fabs(y->numbers[k] - expected[k]) <= tolerance
                      : isnan(expected[k])  ? isnan(y->numbers[k]) != 0
                                            : y->numbers[k] == expected[k];
    if (!same) {
      EXPECT_NEAR(y->numbers[k], expected[k], tolerance);
      (void)fprintf(stderr, "  isa %s, tactic %s, element %lld\n", isa, fake->tactic.name,
                    (long long)k);
      break;
    }
  }
}

/* Returns the number of tactics. */
static inline uint32_t check_kernel(fake_t* fake, const tenon_kernel_t* kernel,
                                    const double* expected, double tolerance) {
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  uint32_t tactics = 0;
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    for (uint32_t t = 0; fake_tactic(fake, kernel, &states[s], t, &refusal); t++) {
      fake->threads = 1 + (t + s) % 3;
      EXPECT_STATUS(fake_run_tactic(fake, kernel, &states[s]), TENON_OK);
      check_numbers(fake, expected, tolerance, states[s].isa->name);
      tactics++;
    }
  }
  return tactics;
}

static inline void check_tactics(fake_t* fake, const case_t* c, const double* expected,
                                 double tolerance) {
  EXPECT(check_kernel(fake, &tenon__cpu_convolution_kernel, expected, tolerance) > 0);
  const uint32_t tactics = check_kernel(fake, &tenon__cpu_winograd_kernel, expected, tolerance);
  EXPECT(tactics > 0 || !c->winograd);
}

static inline void check(const case_t* c, unsigned seed) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.convolution/1", .seed = seed};
  draft_t draft = {0};
  draft_t before = {0};
  const uint32_t rank = c->rank + 2;
  const fake_window_t window = window_of(c);
  int64_t x_dims[5] = {c->batch, c->groups * c->in};
  int64_t w_dims[5] = {c->groups * c->out, c->in};
  int64_t y_dims[5] = {c->batch, c->groups * c->out};
  for (uint32_t k = 0; k < c->rank; k++) {
    x_dims[2 + k] = c->extent[k];
    w_dims[2 + k] = c->kernel[k];
    REQUIRE(c->stride[k] > 0);
    y_dims[2 + k] = fake_window_extent(&window, k);
    if (y_dims[2 + k] < 1) {
      return;
    }
  }
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, rank, x_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, rank, w_dims, !c->given, false);
  if (c->infinite) {
    fake.values[1].numbers[0] = INFINITY;
  }
  if (c->strange) {
    fake.values[0].numbers[0] = INFINITY;
    /* apply_slot says nothing of NaN. */
    fake.values[0].numbers[fake_count(rank, x_dims) - 3] = c->slot == SLOT_EMPTY ? NAN : -INFINITY;
  }
  if (c->bias) {
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 1, y_dims + 1, true, false);
  }
  fill_slot(&fake, c, y_dims, &draft);
  fill_prologue(&fake, c, x_dims, &before);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, rank, y_dims);
  fake_set_space(&fake, rank, y_dims);
  fake_ints(&fake, "strides", c->rank, c->stride);
  fake_ints(&fake, "dilations", c->rank, c->dilation);
  fake_ints(&fake, "pads", 2 * (size_t)c->rank, c->pads);
  fake_int(&fake, "groups", c->groups);
  fake_string(&fake, "auto_pad", "explicit");
  double* expected = expected_of(&fake, c, y_dims);
  /* A sum of n products of numbers below 1 in fp32 is off by less than n/2 ulp of its largest
   * partial sum, sqrt(n) or so. */
  double n = (double)c->in;
  for (uint32_t k = 0; k < c->rank; k++) {
    n *= (double)c->kernel[k];
  }
  check_tactics(&fake, c, expected, 1e-6 * (4 + n / 16));
  free(expected);
  fake_free(&fake);
}

#endif
