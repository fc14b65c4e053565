/* Compares fused steps of rows with the oracle: softmax, normalisation and quantisation. */
#include "expression_oracle.h"

/* Makes f(x - m) and its sum. m is an input or computed. Later instructions read all of them or
 * only some. */
static void shifted_sum(unsigned seed) {
  static const int64_t lengths[] = {1, 5, 16, 31, 33, 100, 700, 5000, 9000};
  fake_t fake = {.seed = seed * 977};
  draft_t draft = {0};
  unsigned* s = &fake.seed;
  fake.space[0] = fake_choice(s, 1, 9);
  fake.space[1] = lengths[fake_choice(s, 0, 8)];
  const int64_t rows[2] = {fake.space[0], 1};
  const uint64_t axes = fake_choice(s, 0, 3) == 0 ? 3 : 2;
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, fake.space, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, rows, false, false);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const uint32_t given = input(&draft, 1, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const int64_t shifts = fake_choice(s, 0, 3);
  const uint32_t m =
      shifts == 0 ? given
                  : with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32, x, (int64_t)axes);
  const uint32_t d = shifts == 3 ? x : f32(&draft, TENON_OPCODE_SUB, x, m);
  uint32_t term = fake_choice(s, 0, 1) == 0 ? f32(&draft, TENON_OPCODE_EXP, d, 0)
                                            : f32(&draft, TENON_OPCODE_MUL, d, d);
  const uint32_t low =
      with_axis(&draft, TENON_OPCODE_REDUCE_MIN, TENON_DTYPE_FLOAT32, x, (int64_t)axes);
  if (fake_choice(s, 0, 1) == 0) { /* some rows become one number */
    const uint32_t is_low =
        add(&draft, TENON_OPCODE_LT, TENON_DTYPE_FLOAT32, low, constant(&draft, -0.95), 0);
    term =
        add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_FLOAT32, is_low, constant(&draft, 0.25), term);
  }
  const uint32_t opcode = fake_choice(s, 0, 1) == 0 ? TENON_OPCODE_SUM : TENON_OPCODE_MEAN;
  const uint32_t sum = with_axis(&draft, opcode, TENON_DTYPE_FLOAT32, term, (int64_t)axes);
  const uint32_t read[] = {x, d, term, f32(&draft, TENON_OPCODE_ADD, d, term)};
  const uint32_t y = read[fake_choice(s, 0, 3)];
  const uint32_t last = fake_choice(s, 0, 1) == 0 ? TENON_OPCODE_DIV : TENON_OPCODE_ADD;
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  output(&draft, f32(&draft, last, y, f32(&draft, TENON_OPCODE_ADD, sum, constant(&draft, 1))),
         TENON_DTYPE_FLOAT32, 0);
  if (fake_choice(s, 0, 1) == 0) {
    output(&draft, sum, TENON_DTYPE_FLOAT32, axes);
    reduced_output(&fake, 2, TENON_DTYPE_FLOAT32, axes);
  }
  if (fake_choice(s, 0, 2) == 0) {
    output(&draft, read[fake_choice(s, 1, 2)], TENON_DTYPE_FLOAT32, 0);
    (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  }
  finish(&draft, 2);
  check(&fake, &draft, 1e-5); /* sequential sums of 9,000 numbers in the worst layout */
}

TENON_TEST(sums_of_shifted_rows_equal_the_oracle) {
  fake_each_seed(400, shifted_sum);
}

/* Makes (row - mean) * number * row, with or without an added row. The operands have a random
 * order, and later instructions read some values again. */
static void scaled(unsigned seed) {
  static const int64_t lengths[] = {1, 15, 16, 33, 700, 9000};
  fake_t fake = {.seed = seed * 577};
  draft_t draft = {0};
  unsigned* s = &fake.seed;
  fake.space[0] = fake_choice(s, 1, 9);
  fake.space[1] = lengths[fake_choice(s, 0, 5)];
  const int64_t one_row[2] = {1, fake.space[1]};
  for (uint32_t k = 0; k < 3; k++) {
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2,
                     k == 0 || fake_choice(s, 0, 2) == 0 ? fake.space : one_row, false, false);
    (void)input(&draft, k, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  }
  const uint32_t mean = with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32, 0, 2);
  const uint32_t d = f32(&draft, TENON_OPCODE_SUB, 0, mean);
  const uint32_t square = f32(&draft, TENON_OPCODE_MUL, d, d);
  const uint32_t sum = with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32, square, 2);
  const uint32_t scale = f32(&draft, TENON_OPCODE_ADD, sum, constant(&draft, 0.5));
  const bool swaps = fake_choice(s, 0, 1) == 0;
  const uint32_t product = f32(&draft, TENON_OPCODE_MUL, swaps ? scale : d, swaps ? d : scale);
  const uint32_t factor = fake_choice(s, 0, 4) == 0 ? product : 1;
  uint32_t y = fake_choice(s, 0, 1) == 0 ? f32(&draft, TENON_OPCODE_MUL, product, factor)
                                         : f32(&draft, TENON_OPCODE_MUL, factor, product);
  const uint32_t kept = fake_choice(s, 0, 3) == 0 ? product : y;
  if (fake_choice(s, 0, 2) > 0) {
    y = fake_choice(s, 0, 1) == 0 ? f32(&draft, TENON_OPCODE_ADD, y, 2)
                                  : f32(&draft, TENON_OPCODE_ADD, 2, y);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  output(&draft, y, TENON_DTYPE_FLOAT32, 0);
  if (fake_choice(s, 0, 2) == 0) {
    output(&draft, kept, TENON_DTYPE_FLOAT32, 0);
    (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  }
  finish(&draft, 2);
  check(&fake, &draft, 1e-5);
}

TENON_TEST(scaled_rows_equal_the_oracle) {
  fake_each_seed(300, scaled);
}

/* Checks rows with one strange element, at the end or inside. NaN gives NaN, and minus infinity
 * gives 0. */
static void softmax_of(double strange, int64_t columns, int64_t at) {
  fake_t fake = {.seed = 7, .space = {3, columns}, .space_rank = 2, .threads = 1};
  draft_t draft = {0};
  double* x = fake_input(&fake, TENON_DTYPE_FLOAT32, 2, fake.space, false, false)->numbers;
  const double* y = fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space)->numbers;
  x[columns + at] = strange;
  const uint32_t in = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const uint32_t m = with_axis(&draft, TENON_OPCODE_REDUCE_MAX, TENON_DTYPE_FLOAT32, in, 2);
  const uint32_t e = f32(&draft, TENON_OPCODE_EXP, f32(&draft, TENON_OPCODE_SUB, in, m), 0);
  const uint32_t sum = with_axis(&draft, TENON_OPCODE_SUM, TENON_DTYPE_FLOAT32, e, 2);
  output(&draft, f32(&draft, TENON_OPCODE_DIV, e, sum), TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 2);
  fake.kind = TENON_REGION_EXPRESSION;
  fake.program = &draft.program;
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_expression_kernel, &states[s], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_expression_kernel, &states[s]), TENON_OK);
    for (int64_t k = 0; k < columns; k++) {
      EXPECT(strange < 0 ? (y[columns + k] == 0) == (k == at) : isnan(y[columns + k]));
      EXPECT(y[k] > 0 && y[2 * columns + k] > 0);
    }
  }
  fake_free(&fake);
}

TENON_TEST(softmax_keeps_what_is_no_number) {
  for (int64_t at = 0; at < 37; at += 18) {
    softmax_of(NAN, 37, at);
    softmax_of(INFINITY, 37, at);
    softmax_of(-INFINITY, 37, at);
  }
}

/* Makes round(x / s) + z as a byte. There is one scale for all rows or one for each row. A later
 * instruction may also read the quotient. */
static void quantized(unsigned seed) {
  fake_t fake = {.seed = seed * 313, .kind = TENON_REGION_EXPRESSION, .space_rank = 2};
  draft_t draft = {0};
  unsigned* s = &fake.seed;
  const bool is_signed = fake_choice(s, 0, 1) == 0;
  fake.space[0] = fake_choice(s, 1, 5);
  fake.space[1] = fake_choice(s, 1, 3) * fake_choice(s, 1, 400);
  const int64_t numbers[2] = {fake_choice(s, 0, 1) == 0 ? 1 : fake.space[0], 1};
  double* x = fake_input(&fake, TENON_DTYPE_FLOAT32, 2, fake.space, false, false)->numbers;
  double* scale = fake_input(&fake, TENON_DTYPE_FLOAT32, 2, numbers, false, false)->numbers;
  double* zero = fake_input(&fake, TENON_DTYPE_FLOAT32, 2, numbers, false, false)->numbers;
  for (int64_t k = 0; k < fake_count(2, fake.space); k++) {
    x[k] = k % 17 == 3 ? NAN : k % 19 == 4 ? -INFINITY : k % 23 == 5 ? INFINITY : x[k] * 30;
  }
  for (int64_t k = 0; k < numbers[0]; k++) {
    scale[k] = (double)(float)(fabs(scale[k]) / 3 + 0.05);
    zero[k] = floor(zero[k] * 20);
  }
  for (uint32_t k = 0; k < 3; k++) {
    (void)input(&draft, k, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  }
  const tenon_dtype_t to = is_signed ? TENON_DTYPE_INT8 : TENON_DTYPE_UINT8;
  const uint32_t whole = f32(&draft, TENON_OPCODE_ROUND, f32(&draft, TENON_OPCODE_DIV, 0, 1), 0);
  const uint32_t sum = f32(&draft, TENON_OPCODE_ADD, whole, 2);
  output(&draft, add(&draft, TENON_OPCODE_CAST, to, sum, 0, 0), to, 0);
  const double* y = fake_output(&fake, to, 2, fake.space)->numbers;
  if (fake_choice(s, 0, 2) == 0) {
    output(&draft, fake_choice(s, 0, 1) == 0 ? whole : sum, TENON_DTYPE_FLOAT32, 0);
    (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  }
  finish(&draft, 2);
  fake.program = &draft.program;
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t state = 0; state < 2 * count; state++) {
    tenon_refusal_t refusal;
    fake.threads = 1 + state % 2;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_expression_kernel, &states[state / 2], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_expression_kernel, &states[state / 2]),
                  TENON_OK);
    for (int64_t k = 0; k < fake_count(2, fake.space); k++) {
      const int64_t at = numbers[0] == 1 ? 0 : k / fake.space[1];
      const double number = (double)nearbyintf((float)x[k] / (float)scale[at]) + zero[at];
      const double low = is_signed ? -128 : 0;
      EXPECT_NEAR(y[k], isnan(number) ? 0 : fmin(fmax(number, low), low + 255), 0);
    }
  }
  fake_free(&fake);
}

/* round(f32(x) * s) + z of sums as bytes, or (f32(x) - z) * s of bytes. */
typedef struct scaling_t {
  bool to_bytes;
  bool is_signed;
  bool swaps;     /* the factors */
  bool subtracts; /* z */
  int64_t kind;   /* one scale: 0; one for each row: 1; one for each column: 2 */
  double* x;
  double* scale;
  double* zero;
} scaling_t;

/* All numbers have few bits. */
static void add_scaled_inputs(fake_t* fake, scaling_t* c) {
  unsigned* s = &fake->seed;
  const int64_t scales[2] = {c->kind == 1 ? fake->space[0] : 1, c->kind == 2 ? fake->space[1] : 1};
  const int64_t zeros[2] = {scales[0], 1};
  const tenon_dtype_t from = c->to_bytes    ? TENON_DTYPE_INT32
                             : c->is_signed ? TENON_DTYPE_INT8
                                            : TENON_DTYPE_UINT8;
  c->x = fake_input(fake, from, 2, fake->space, false, false)->numbers;
  c->scale = fake_input(fake, TENON_DTYPE_FLOAT32, 2, scales, false, false)->numbers;
  c->zero = fake_input(fake, TENON_DTYPE_FLOAT32, 2, zeros, false, false)->numbers;
  for (int64_t k = 0; k < fake_count(2, fake->space); k++) {
    c->x[k] = (double)(c->to_bytes    ? fake_choice(s, -30000, 30000)
                       : c->is_signed ? fake_choice(s, -128, 127)
                                      : fake_choice(s, 0, 255));
  }
  for (int64_t k = 0; k < fake_count(2, scales); k++) {
    c->scale[k] = ldexp(1, -(int)fake_choice(s, 4, 9));
  }
  for (int64_t k = 0; k < zeros[0]; k++) {
    c->zero[k] = (double)fake_choice(s, 0, 100);
  }
}

static tenon_dtype_t draw_scaled(const fake_t* fake, const scaling_t* c, draft_t* draft) {
  const tenon_dtype_t bytes = c->is_signed ? TENON_DTYPE_INT8 : TENON_DTYPE_UINT8;
  for (uint32_t k = 0; k < 3; k++) {
    const tenon_dtype_t type = fake->values[k].info.dtype;
    (void)input(draft, k, type, type);
  }
  uint32_t v = f32(draft, TENON_OPCODE_CAST, 0, 0);
  v = c->subtracts ? f32(draft, TENON_OPCODE_SUB, v, 2) : v;
  v = f32(draft, TENON_OPCODE_MUL, c->swaps ? 1 : v, c->swaps ? v : 1);
  if (c->to_bytes) {
    v = f32(draft, TENON_OPCODE_ADD, f32(draft, TENON_OPCODE_ROUND, v, 0), 2);
    v = add(draft, TENON_OPCODE_CAST, bytes, v, 0, 0);
  }
  const tenon_dtype_t to = c->to_bytes ? bytes : TENON_DTYPE_FLOAT32;
  output(draft, v, to, 0);
  finish(draft, 2);
  return to;
}

static double scaled_value(const fake_t* fake, const scaling_t* c, int64_t index) {
  const int64_t row = index / fake->space[1];
  const double scale = c->scale[c->kind == 1 ? row : c->kind == 2 ? index % fake->space[1] : 0];
  const double zero = c->zero[c->kind == 1 ? row : 0];
  const double low = c->is_signed ? -128 : 0;
  return c->to_bytes ? fmin(fmax(nearbyint(c->x[index] * scale) + zero, low), low + 255)
                     : (c->x[index] - (c->subtracts ? zero : 0)) * scale;
}

static void scaled_integers(unsigned seed) {
  const bool to_bytes = seed % 2 == 0;
  fake_t fake = {.seed = seed * 517, .kind = TENON_REGION_EXPRESSION, .space_rank = 2};
  draft_t draft = {0};
  unsigned* s = &fake.seed;
  scaling_t c = {.to_bytes = to_bytes,
                 .is_signed = fake_choice(s, 0, 1) == 0,
                 .swaps = fake_choice(s, 0, 1) == 0,
                 .subtracts = !to_bytes && fake_choice(s, 0, 3) > 0,
                 .kind = fake_choice(s, 0, 2)};
  fake.space[0] = fake_choice(s, 1, 5);
  fake.space[1] = fake_choice(s, 1, 3) * fake_choice(s, 1, 400);
  add_scaled_inputs(&fake, &c);
  const tenon_dtype_t to = draw_scaled(&fake, &c, &draft);
  const double* y = fake_output(&fake, to, 2, fake.space)->numbers;
  fake.program = &draft.program;
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t state = 0; state < count; state++) {
    tenon_refusal_t refusal;
    fake.threads = 1 + state % 2;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_expression_kernel, &states[state], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_expression_kernel, &states[state]), TENON_OK);
    for (int64_t k = 0; k < fake_count(2, fake.space) && tenon__test_failures == 0; k++) {
      EXPECT_NEAR(y[k], scaled_value(&fake, &c, k), 0);
    }
  }
  fake_free(&fake);
}

TENON_TEST(scaled_integers_equal_the_definition) {
  fake_each_seed(200, scaled_integers);
}

TENON_TEST(quantised_rows_equal_the_definition) {
  fake_each_seed(100, quantized);
}

/* Makes a product or sum with its operands in either order. */
static uint32_t either_way(draft_t* draft, unsigned* s, uint32_t opcode, uint32_t a, uint32_t b) {
  return fake_choice(s, 0, 1) == 0 ? f32(draft, opcode, a, b) : f32(draft, opcode, b, a);
}

/* Makes x * 0.5 * (erf(x / sqrt(2)) + 1) with its factors in any order. Some programs have another
 * number or read a part of it again, so that it must not be fused. */
static void gelu(unsigned seed) {
  static const int64_t lengths[] = {1, 15, 16, 33, 700};
  fake_t fake = {.seed = seed * 331};
  draft_t draft = {0};
  unsigned* s = &fake.seed;
  fake.space[0] = fake_choice(s, 1, 9);
  fake.space[1] = lengths[fake_choice(s, 0, 4)];
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, fake.space, false, false);
  const uint32_t in = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const uint32_t x = f32(&draft, TENON_OPCODE_MUL, in, constant(&draft, 3));
  const uint32_t half = constant(&draft, fake_choice(s, 0, 5) == 0 ? 0.25 : 0.5);
  const uint32_t scaled =
      fake_choice(s, 0, 1) == 0
          ? f32(&draft, TENON_OPCODE_DIV, x, constant(&draft, 1.41421356237))
          : either_way(&draft, s, TENON_OPCODE_MUL, x,
                       constant(&draft, fake_choice(s, 0, 5) == 0 ? 0.7 : 0.70710678119));
  const uint32_t erf = f32(&draft, TENON_OPCODE_ERF, scaled, 0);
  const uint32_t gate = either_way(&draft, s, TENON_OPCODE_ADD, erf, constant(&draft, 1));
  const uint32_t factors[] = {x, half, gate};
  const uint32_t last = (uint32_t)fake_choice(s, 0, 2);
  const uint32_t pair =
      either_way(&draft, s, TENON_OPCODE_MUL, factors[(last + 1) % 3], factors[(last + 2) % 3]);
  uint32_t y = either_way(&draft, s, TENON_OPCODE_MUL, pair, factors[last]);
  const uint32_t read[] = {scaled, erf, gate, pair};
  if (fake_choice(s, 0, 2) == 0) {
    y = f32(&draft, TENON_OPCODE_ADD, y, read[fake_choice(s, 0, 3)]);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  output(&draft, y, TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 2);
  check(&fake, &draft, 3e-6); /* a few ulp of numbers below 4 */
}

TENON_TEST(gelu_in_any_order_equals_the_oracle) {
  fake_each_seed(300, gelu);
}

/* Makes (x - a) * b + c of rows, columns, numbers and full operands, with or without x - a, in any
 * order. Some programs multiply or add a part by itself, or read it again. */
static void affine(unsigned seed) {
  static const int64_t lengths[] = {1, 15, 16, 33, 700};
  fake_t fake = {.seed = seed * 733};
  draft_t draft = {0};
  unsigned* s = &fake.seed;
  fake.space[0] = fake_choice(s, 1, 9);
  fake.space[1] = lengths[fake_choice(s, 0, 4)];
  uint32_t operands[4];
  for (uint32_t k = 0; k < 4; k++) {
    const bool full = k == 0 || fake_choice(s, 0, 3) == 0;
    const bool by_row = fake_choice(s, 0, 1) == 0;
    const int64_t dims[2] = {full || by_row ? fake.space[0] : 1,
                             full || !by_row ? fake.space[1] : 1};
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, dims, false, false);
    operands[k] = input(&draft, k, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  }
  const bool shifts = fake_choice(s, 0, 2) > 0;
  const uint32_t d = shifts ? f32(&draft, TENON_OPCODE_SUB, operands[0], operands[1]) : operands[0];
  const uint32_t b = fake_choice(s, 0, 5) == 0 ? d : operands[2];
  const uint32_t product = either_way(&draft, s, TENON_OPCODE_MUL, d, b);
  const uint32_t c = fake_choice(s, 0, 5) == 0   ? product
                     : fake_choice(s, 0, 5) == 0 ? d
                                                 : operands[3];
  uint32_t y = either_way(&draft, s, TENON_OPCODE_ADD, product, c);
  if (fake_choice(s, 0, 2) == 0) {
    y = f32(&draft, TENON_OPCODE_ADD, y, fake_choice(s, 0, 1) == 0 ? d : product);
  }
  if (fake_choice(s, 0, 2) == 0) {
    y = f32(&draft, TENON_OPCODE_SUB, y,
            with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32, y, 2));
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  output(&draft, y, TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 2);
  check(&fake, &draft, 3e-6); /* a few roundings of numbers below 10 */
}

TENON_TEST(affine_in_any_order_equals_the_oracle) {
  fake_each_seed(500, affine);
}

/* The position of the first largest or last smallest element along axis 1, as arg_max and arg_min
 * define it. NaN counts as found. */
static int64_t position_of(const double* x, int64_t length, int64_t step, bool last) {
  double best = x[0];
  for (int64_t k = 0; k < length; k++) {
    const double v = x[k * step];
    best = isnan(best) || isnan(v) ? NAN : (last ? v < best : v > best) ? v : best;
  }
  int64_t found = last ? 0 : length - 1;
  for (int64_t k = 0; k < length; k++) {
    const int64_t at = last ? k : length - 1 - k;
    const double v = x[at * step];
    found = isnan(v) || v == best ? at : found;
  }
  return found;
}

static void found(int64_t outer, int64_t length, int64_t inner, bool last) {
  fake_t fake = {.seed = 11, .space = {outer, length, inner}, .space_rank = 3};
  draft_t draft = {0};
  const int64_t dims[] = {outer, 1, inner};
  double* x = fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false)->numbers;
  const double* y = fake_output(&fake, TENON_DTYPE_INT64, 3, dims)->numbers;
  for (int64_t k = 0; k < outer * length * inner; k++) {
    x[k] = (double)fake_choice(&fake.seed, -3, length / 2); /* ties */
    x[k] = fake_choice(&fake.seed, 0, 40 * length) == 0 ? NAN : x[k];
  }
  const uint32_t in = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const uint32_t extreme = last ? TENON_OPCODE_REDUCE_MIN : TENON_OPCODE_REDUCE_MAX;
  const uint32_t e = with_axis(&draft, extreme, TENON_DTYPE_FLOAT32, in, 2);
  const uint32_t equal = add(&draft, TENON_OPCODE_EQ, TENON_DTYPE_FLOAT32, in, e, 0);
  const uint32_t nan = add(&draft, TENON_OPCODE_NE, TENON_DTYPE_FLOAT32, in, in, 0);
  const uint32_t either = last ? add(&draft, TENON_OPCODE_OR, TENON_DTYPE_BOOL, equal, nan, 0)
                               : add(&draft, TENON_OPCODE_OR, TENON_DTYPE_BOOL, nan, equal, 0);
  const uint32_t index = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  const uint32_t other =
      with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, last ? 0 : length - 1);
  const uint32_t place = add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, either, index, other);
  const uint32_t first = last ? TENON_OPCODE_REDUCE_MAX : TENON_OPCODE_REDUCE_MIN;
  output(&draft, with_axis(&draft, first, TENON_DTYPE_INT64, place, 2), TENON_DTYPE_INT64, 2);
  finish(&draft, 3);
  fake.kind = TENON_REGION_EXPRESSION;
  fake.program = &draft.program;
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    fake.threads = 1 + s;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_expression_kernel, &states[s], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_expression_kernel, &states[s]), TENON_OK);
    for (int64_t k = 0; k < outer * inner && tenon__test_failures == 0; k++) {
      const double* line = x + k / inner * length * inner + k % inner;
      EXPECT_INT((int64_t)y[k], position_of(line, length, inner, last));
    }
  }
  fake_free(&fake);
}

TENON_TEST(positions_of_extremes_equal_the_definition) {
  for (uint32_t last = 0; last < 2; last++) {
    found(3, 5, 37, last != 0);
    found(2, 21, 1000, last != 0);
    found(1, 700, 40, last != 0);
    found(7, 33, 1, last != 0);
    found(2, 20000, 1, last != 0);
    found(4, 1, 16, last != 0);
  }
}
