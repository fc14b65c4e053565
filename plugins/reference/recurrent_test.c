/* Recurrent layers of one unit, by hand. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32

static double logistic(double x) {
  return 1.0 / (1.0 + exp(-x));
}

static fake_t layer(const char* op, const char* direction) {
  fake_t f = fake_of(op);
  fake_string(&f, "direction", direction);
  fake_float(&f, "clip", 0.0);
  fake_int(&f, "layout", 0);
  return f;
}

TENON_TEST(rnn_runs_backwards_within_each_length) {
  fake_t f = layer("standard.rnn/1", "reverse");
  fake_input(&f, F32, DIMS(3, 1, 1), NUMBERS(0.1, 0.2, 0.3));
  fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(1));
  fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(2));
  fake_absent(&f);
  fake_input(&f, TENON_DTYPE_INT32, DIMS(1), NUMBERS(2));
  fake_output(&f, F32, DIMS(3, 1, 1, 1));
  fake_output(&f, F32, DIMS(1, 1, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  double first = tanh(0.2);
  double last = tanh(0.1 + 2 * first);
  EXPECT_NUMBERS(&f, 0, 1e-6, last, first, 0);
  EXPECT_NUMBERS(&f, 1, 1e-6, last);
  fake_done(&f);
}

TENON_TEST(lstm_has_four_gates_and_peepholes) {
  fake_t f = layer("standard.lstm/1", "forward");
  fake_int(&f, "input_forget", 0);
  fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(1));
  fake_input(&f, F32, DIMS(1, 4, 1), NUMBERS(0.1, 0.2, 0.3, 0.4));
  fake_input(&f, F32, DIMS(1, 4, 1), NUMBERS(0.5, 0.6, 0.7, 0.8));
  fake_input(&f, F32, DIMS(1, 8), NUMBERS(0.01, 0, 0, 0, 0, 0, 0, 0.02));
  fake_absent(&f);
  fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(0.5));
  fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(0.25));
  fake_input(&f, F32, DIMS(1, 3), NUMBERS(1, 2, 3));
  fake_output(&f, F32, DIMS(1, 1, 1, 1));
  fake_output(&f, F32, DIMS(1, 1, 1));
  fake_output(&f, F32, DIMS(1, 1, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  double i = logistic(0.1 + 0.25 + 0.01 + 0.25);
  double forget = logistic(0.3 + 0.35 + 3 * 0.25);
  double c = forget * 0.25 + i * tanh(0.4 + 0.4 + 0.02);
  double o = logistic(0.2 + 0.3 + 2 * c);
  EXPECT_NUMBERS(&f, 1, 1e-6, o * tanh(c));
  EXPECT_NUMBERS(&f, 2, 1e-6, c);
  fake_done(&f);
}

TENON_TEST(gru_resets_before_or_after) {
  for (int after = 0; after < 2; ++after) {
    fake_t f = layer("standard.gru/1", "forward");
    fake_int(&f, "linear_before_reset", after);
    fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(1));
    fake_input(&f, F32, DIMS(1, 3, 1), NUMBERS(0.1, 0.2, 0.3));
    fake_input(&f, F32, DIMS(1, 3, 1), NUMBERS(0.4, 0.5, 0.6));
    fake_input(&f, F32, DIMS(1, 6), NUMBERS(0, 0, 0, 0, 0, 0.7));
    fake_absent(&f);
    fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(0.5));
    fake_output(&f, F32, DIMS(1, 1, 1, 1));
    fake_output(&f, F32, DIMS(1, 1, 1));
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    double z = logistic(0.1 + 0.2);
    double r = logistic(0.2 + 0.25);
    double state = after != 0 ? r * (0.6 * 0.5 + 0.7) : 0.6 * r * 0.5 + 0.7;
    EXPECT_NUMBERS(&f, 1, 1e-6, (1 - z) * tanh(0.3 + state) + z * 0.5);
    fake_done(&f);
  }
}

TENON_TEST(refuses_lengths_beyond_the_steps) {
  for (int length = -1; length <= 4; length += 5) {
    fake_t f = layer("standard.rnn/1", "reverse");
    const double lengths[1] = {length};
    fake_input(&f, F32, DIMS(3, 1, 1), NUMBERS(0.1, 0.2, 0.3));
    fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(1));
    fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(2));
    fake_absent(&f);
    fake_input(&f, TENON_DTYPE_INT32, DIMS(1), lengths);
    fake_output(&f, F32, DIMS(3, 1, 1, 1));
    fake_output(&f, F32, DIMS(1, 1, 1));
    EXPECT_STATUS(fake_run(&f), TENON_ERROR_INVALID_DATA);
    fake_done(&f);
  }
}
