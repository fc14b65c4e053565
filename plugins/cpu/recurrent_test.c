/* Compares LSTM, GRU and RNN layers with their equations in doubles. */
#include "fake_run.h"
#include "kernels.h"

typedef struct case_t {
  int64_t times, batch, input, hidden, directions;
  bool lstm, rnn, resets_after, bias, initial, reverse;
  bool given_w, given_r; /* weights that are inputs, not constants */
} case_t;

static int64_t gates_of(const case_t* c) {
  return c->lstm ? 4 : c->rnn ? 1 : 3;
}

static double sigmoid(double x) {
  return 1 / (1 + exp(-x));
}

/* Computes one gate's sums for one hidden element: the input's part and the state's part. The
 * parameters are one index for each axis. NOLINTNEXTLINE(readability-function-size) */
static void gate(const fake_t* fake, const case_t* c, int64_t d, int64_t t, int64_t b, int64_t row,
                 const double* h, double* out_input, double* out_state) {
  const int64_t rows = gates_of(c) * c->hidden;
  const double* x = fake->values[0].numbers + (t * c->batch + b) * c->input;
  const double* w = fake->values[1].numbers + (d * rows + row) * c->input;
  const double* r = fake->values[2].numbers + (d * rows + row) * c->hidden;
  const double* bias = c->bias ? fake->values[3].numbers + d * 2 * rows : NULL;
  *out_input = bias != NULL ? bias[row] : 0;
  *out_state = bias != NULL ? bias[rows + row] : 0;
  for (int64_t k = 0; k < c->input; k++) {
    *out_input += x[k] * w[k];
  }
  for (int64_t k = 0; k < c->hidden; k++) {
    *out_state += h[k] * r[k];
  }
}

static void step(const fake_t* fake, const case_t* c, int64_t d, int64_t t, int64_t b, double* h,
                 double* cell) {
  double old[64];
  double reset[64];
  double a[4];
  double s[4];
  memcpy(old, h, (size_t)c->hidden * sizeof(double));
  for (int64_t k = 0; k < c->hidden; k++) {
    if (!c->lstm && !c->rnn) {
      gate(fake, c, d, t, b, c->hidden + k, old, &a[1], &s[1]);
      reset[k] = sigmoid(a[1] + s[1]) * old[k];
    }
  }
  for (int64_t k = 0; k < c->hidden; k++) {
    for (int64_t g = 0; g < gates_of(c); g++) {
      const bool own = !c->lstm && g == 2 && !c->resets_after;
      gate(fake, c, d, t, b, g * c->hidden + k, own ? reset : old, &a[g], &s[g]);
    }
    if (c->lstm) {
      cell[k] = sigmoid(a[2] + s[2]) * cell[k] + sigmoid(a[0] + s[0]) * tanh(a[3] + s[3]);
      h[k] = sigmoid(a[1] + s[1]) * tanh(cell[k]);
    } else if (c->rnn) {
      h[k] = tanh(a[0] + s[0]);
    } else {
      const double z = sigmoid(a[0] + s[0]);
      const double n =
          c->resets_after ? tanh(a[2] + sigmoid(a[1] + s[1]) * s[2]) : tanh(a[2] + s[2]);
      h[k] = (1 - z) * n + z * old[k];
    }
  }
}

static void check_direction(const fake_t* fake, const case_t* c, int64_t d) {
  const fake_value_t* outputs = &fake->values[fake->input_count];
  /* Each step has errors of some ulp. The weights of an RNN amplify them, but gates do not. */
  const double error = c->rnn ? 5e-4 : 2e-5;
  for (int64_t b = 0; b < c->batch; b++) {
    double h[64] = {0};
    double cell[64] = {0};
    const int64_t at = (d * c->batch + b) * c->hidden;
    for (int64_t k = 0; c->initial && k < c->hidden; k++) {
      h[k] = fake->values[5].numbers[at + k];
      cell[k] = c->lstm ? fake->values[6].numbers[at + k] : 0;
    }
    for (int64_t s = 0; s < c->times; s++) {
      const int64_t t = d == 1 || c->reverse ? c->times - 1 - s : s;
      step(fake, c, d, t, b, h, cell);
      for (int64_t k = 0; k < c->hidden; k++) {
        const double y =
            outputs[0].numbers[((t * c->directions + d) * c->batch + b) * c->hidden + k];
        EXPECT_NEAR(y, h[k], error);
      }
    }
    for (int64_t k = 0; k < c->hidden; k++) {
      EXPECT_NEAR(outputs[1].numbers[at + k], h[k], error);
      if (c->lstm) {
        EXPECT_NEAR(outputs[2].numbers[at + k], cell[k], error);
      }
    }
  }
}

static void absent(fake_t* fake) {
  const int64_t nothing[FAKE_RANK] = {0};
  (void)fake_input(fake, TENON_DTYPE_FLOAT32, FAKE_RANK, nothing, true, false);
}

static void check(const case_t* c, unsigned seed) {
  const tenon_kernel_t* kernel = c->lstm  ? &tenon__cpu_lstm_kernel
                                 : c->rnn ? &tenon__cpu_rnn_kernel
                                          : &tenon__cpu_gru_kernel;
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = kernel->operators[0], .seed = seed};
  const int64_t rows = gates_of(c) * c->hidden;
  const int64_t x[] = {c->times, c->batch, c->input};
  const int64_t w[] = {c->directions, rows, c->input};
  const int64_t r[] = {c->directions, rows, c->hidden};
  const int64_t b[] = {c->directions, 2 * rows};
  const int64_t state[] = {c->directions, c->batch, c->hidden};
  const int64_t y[] = {c->times, c->directions, c->batch, c->hidden};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, x, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, w, !c->given_w, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, r, !c->given_r, false);
  if (c->bias) {
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, b, true, false);
  } else {
    absent(&fake);
  }
  absent(&fake);
  if (c->initial) {
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, state, false, false);
    if (c->lstm) {
      (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, state, false, false);
    }
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 4, y);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, state);
  if (c->lstm) {
    (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, state);
  }
  fake_string(&fake, "direction",
              c->directions == 2 ? "bidirectional"
              : c->reverse       ? "reverse"
                                 : "forward");
  fake_int(&fake, "linear_before_reset", c->resets_after);
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    fake.threads = 2;
    REQUIRE(fake_tactic(&fake, kernel, &states[s], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, kernel, &states[s]), TENON_OK);
    for (int64_t d = 0; d < c->directions && tenon__test_failures == 0; d++) {
      check_direction(&fake, c, d);
    }
  }
  fake_free(&fake);
}

TENON_TEST(random_layers_equal_the_equations) {
  for (unsigned seed = 1; seed <= 120 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 19;
    const case_t c = {.times = fake_choice(&s, 1, 9),
                      .batch = fake_choice(&s, 1, 3),
                      .input = fake_choice(&s, 1, 30),
                      .hidden = fake_choice(&s, 1, 40),
                      .directions = fake_choice(&s, 1, 2),
                      .lstm = seed % 3 == 0,
                      .rnn = seed % 3 == 1,
                      .resets_after = seed % 2 == 1,
                      .bias = fake_choice(&s, 0, 1) == 1,
                      .initial = fake_choice(&s, 0, 1) == 1,
                      .reverse = seed % 4 < 2,
                      .given_w = seed % 5 == 0,
                      .given_r = seed % 7 < 2};
    case_t fixed = c;
    fixed.reverse = c.reverse && c.directions == 1;
    check(&fixed, seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}
