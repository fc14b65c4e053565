/* Compares the expression kernel with an oracle that evaluates random programs and shapes in
 * doubles over the whole space. */
#include "fake_program.h"
#include "fake_run.h"
#include "kernels.h"
#include "program.h"

/* ---- The oracle ---- */

static double apply(uint32_t opcode, double a, double b, double c) {
  switch (opcode) {
    case TENON_OPCODE_ADD:
      return a + b;
    case TENON_OPCODE_SUB:
      return a - b;
    case TENON_OPCODE_MUL:
      return a * b;
    case TENON_OPCODE_DIV:
      return a / b;
    case TENON_OPCODE_MIN:
      return a < b ? a : b;
    case TENON_OPCODE_MAX:
      return a > b ? a : b;
    case TENON_OPCODE_NEG:
      return -a;
    case TENON_OPCODE_ABS:
      return fabs(a);
    case TENON_OPCODE_EXP:
      return exp(a);
    case TENON_OPCODE_TANH:
      return tanh(a);
    case TENON_OPCODE_SIGMOID:
      return 1 / (1 + exp(-a));
    case TENON_OPCODE_ERF:
      return erf(a);
    case TENON_OPCODE_SQRT:
      return sqrt(a);
    case TENON_OPCODE_RSQRT:
      return 1 / sqrt(a);
    case TENON_OPCODE_POW:
      return pow(a, b);
    case TENON_OPCODE_LT:
      return a < b;
    case TENON_OPCODE_GT:
      return a > b;
    case TENON_OPCODE_FLOOR_DIV:
      return floor(a / b);
    case TENON_OPCODE_MOD:
      return a - floor(a / b) * b;
    case TENON_OPCODE_NOT:
      return a == 0;
    case TENON_OPCODE_SELECT:
      return a != 0 ? b : c;
    default:
      return a; /* CAST */
  }
}

typedef struct oracle_t {
  const fake_t* fake;
  const tenon_program_t* program;
  int64_t points;
  double* values[MOST];
} oracle_t;

static void coordinates_of(const oracle_t* oracle, int64_t point, int64_t* out) {
  for (uint32_t k = oracle->program->rank; k-- > 0;) {
    /* No axis is empty. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    out[k] = point % oracle->fake->space[k];
    point /= oracle->fake->space[k];
  }
}

static double read_operand(const oracle_t* oracle, uint32_t operand, int64_t point) {
  const fake_value_t* value = &oracle->fake->values[oracle->program->operands[operand].index];
  int64_t at[FAKE_RANK];
  coordinates_of(oracle, point, at);
  int64_t index = 0;
  for (uint32_t k = 0; k < value->info.rank; k++) {
    const int64_t c = at[k + oracle->program->rank - value->info.rank];
    index = index * value->dims[k] + (value->dims[k] == 1 ? 0 : c);
  }
  return value->numbers[index];
}

static double load(const oracle_t* oracle, const tenon_instruction_t* in, int64_t point) {
  const fake_value_t* value =
      &oracle->fake->values[oracle->program->operands[in->immediate.i].index];
  int64_t index = 0;
  for (uint32_t k = 0; k < in->operands[1]; k++) {
    const uint32_t c = oracle->program->coordinates[in->operands[0] + k];
    double at = oracle->values[c][point];
    at = at < 0 ? 0 : at >= (double)value->dims[k] ? (double)(value->dims[k] - 1) : at;
    index = index * value->dims[k] + (int64_t)at;
  }
  return value->numbers[index];
}

/* Returns the first point of the group that is reduced to the same element. */
static int64_t reduced_point(const oracle_t* oracle, int64_t point, int64_t mask) {
  int64_t at[FAKE_RANK];
  int64_t index = 0;
  coordinates_of(oracle, point, at);
  for (uint32_t k = 0; k < oracle->program->rank; k++) {
    index = index * oracle->fake->space[k] + ((mask >> k & 1) != 0 ? 0 : at[k]);
  }
  return index;
}

static void reduce(oracle_t* oracle, uint32_t i, const tenon_instruction_t* in) {
  const double* a = oracle->values[in->operands[0]];
  double* y = oracle->values[i];
  int64_t count = 1;
  for (uint32_t k = 0; k < oracle->program->rank; k++) {
    count *= (in->immediate.i >> k & 1) != 0 ? oracle->fake->space[k] : 1;
  }
  for (int64_t p = 0; p < oracle->points; p++) {
    y[p] = in->opcode == TENON_OPCODE_REDUCE_MAX   ? -1e300
           : in->opcode == TENON_OPCODE_REDUCE_MIN ? 1e300
           : in->opcode == TENON_OPCODE_PROD       ? 1
                                                   : 0;
  }
  for (int64_t p = 0; p < oracle->points; p++) {
    double* sum = &y[reduced_point(oracle, p, in->immediate.i)];
    *sum = in->opcode == TENON_OPCODE_REDUCE_MAX   ? fmax(*sum, a[p])
           : in->opcode == TENON_OPCODE_REDUCE_MIN ? fmin(*sum, a[p])
           : in->opcode == TENON_OPCODE_PROD       ? *sum * a[p]
           : in->opcode == TENON_OPCODE_MEAN       ? *sum + a[p] / (double)count
                                                   : *sum + a[p];
  }
  for (int64_t p = oracle->points; p-- > 0;) {
    y[p] = y[reduced_point(oracle, p, in->immediate.i)];
  }
}

static void evaluate(oracle_t* oracle) {
  const tenon_program_t* program = oracle->program;
  for (uint32_t i = 0; i < program->instruction_count; i++) {
    const tenon_instruction_t* in = &program->instructions[i];
    oracle->values[i] = calloc((size_t)oracle->points + 1, sizeof(double));
    if (tenon__cpu_opcode_reduces(in->opcode)) {
      reduce(oracle, i, in);
      continue;
    }
    for (int64_t p = 0; p < oracle->points; p++) {
      int64_t at[FAKE_RANK];
      double x[3] = {0};
      for (uint32_t k = 0; k < tenon__cpu_opcode_operands(in->opcode); k++) {
        x[k] = oracle->values[in->operands[k]][p];
      }
      coordinates_of(oracle, p, at);
      oracle->values[i][p] =
          in->opcode == TENON_OPCODE_INPUT ? read_operand(oracle, (uint32_t)in->immediate.i, p)
          : in->opcode == TENON_OPCODE_CONSTANT
              ? (in->dtype == TENON_DTYPE_FLOAT32 ? in->immediate.f : (double)in->immediate.i)
          : in->opcode == TENON_OPCODE_INDEX ? (double)at[in->immediate.i]
          : in->opcode == TENON_OPCODE_SIZE  ? (double)oracle->fake->space[in->immediate.i]
          : in->opcode == TENON_OPCODE_EXTENT
              ? (double)oracle->fake->values[in->immediate.i].dims[in->operands[0]]
          : in->opcode == TENON_OPCODE_LOAD ? load(oracle, in, p)
                                            : apply(in->opcode, x[0], x[1], x[2]);
    }
  }
}

static void check_output(const oracle_t* oracle, uint32_t o, const tenon_program_output_t* output,
                         double tolerance, const char* isa) {
  const fake_value_t* value = &oracle->fake->values[oracle->fake->input_count + o];
  const double* expected = oracle->values[output->instruction];
  int64_t k = 0;
  for (int64_t p = 0; p < oracle->points; p++) {
    if (reduced_point(oracle, p, (int64_t)output->reduced_axes) != p) {
      continue;
    }
    if (!(fabs(value->numbers[k] - expected[p]) <= tolerance * (1 + fabs(expected[p])))) {
      EXPECT_NEAR(value->numbers[k], expected[p], tolerance);
      (void)fprintf(stderr, "  isa %s, output %u, element %lld\n", isa, o, (long long)k);
      break;
    }
    k++;
  }
}

/* Checks every element of every output for each instruction set, with the tactic of the kernel and
 * random layouts. */
static void check(fake_t* fake, draft_t* draft, double tolerance) {
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  fake->kind = TENON_REGION_EXPRESSION;
  fake->program = &draft->program;
  fake->space_rank = draft->program.rank;
  oracle_t oracle = {fake, &draft->program, fake_count(fake->space_rank, fake->space), {0}};
  evaluate(&oracle);
  for (uint32_t s = 0; s < count * 2; s++) {
    tenon_refusal_t refusal;
    fake->threads = 1 + s % 2;
    /* A failed test may leak. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
    REQUIRE(fake_tactic(fake, &tenon__cpu_expression_kernel, &states[s / 2], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(fake, &tenon__cpu_expression_kernel, &states[s / 2]), TENON_OK);
    for (uint32_t o = 0; o < fake->output_count; o++) {
      check_output(&oracle, o, &draft->outputs[o], tolerance, states[s / 2].isa->name);
    }
  }
  for (uint32_t i = 0; i < draft->program.instruction_count; i++) {
    free(oracle.values[i]);
  }
  fake_free(fake);
}

/* Makes a space of random extents with at most `most` elements. */
static void random_space(fake_t* fake, uint32_t rank, int64_t most) {
  int64_t left = most;
  for (uint32_t k = 0; k < rank; k++) {
    const int64_t wide = fake_choice(&fake->seed, 0, 3) == 0 ? 200 : 9;
    const int64_t limit = left < wide ? left : wide;
    fake->space[k] = fake_choice(&fake->seed, 1, limit < 1 ? 1 : limit);
    left /= fake->space[k];
  }
}

/* Adds an input with the extents of the space. Some random extents become 1. */
static void random_input(fake_t* fake, uint32_t rank, tenon_dtype_t dtype) {
  int64_t dims[FAKE_RANK];
  for (uint32_t k = 0; k < rank; k++) {
    dims[k] = fake_choice(&fake->seed, 0, 3) == 0 ? 1 : fake->space[k];
  }
  (void)fake_input(fake, dtype, rank, dims, false, false);
}

/* Adds an output in which every axis of the mask has extent 1. */
static void reduced_output(fake_t* fake, uint32_t rank, tenon_dtype_t dtype, uint64_t reduced) {
  int64_t dims[FAKE_RANK];
  for (uint32_t k = 0; k < rank; k++) {
    dims[k] = (reduced >> k & 1) != 0 ? 1 : fake->space[k];
  }
  (void)fake_output(fake, dtype, rank, dims);
}

/* Returns a random earlier instruction of a float type. */
static uint32_t pick(fake_t* fake, const draft_t* draft) {
  uint32_t i = 0;
  do {
    i = (uint32_t)fake_choice(&fake->seed, 0, draft->program.instruction_count - 1);
  } while (draft->instructions[i].opcode == TENON_OPCODE_LT);
  return i;
}

static void random_program(unsigned seed) {
  static const uint32_t opcodes[] = {TENON_OPCODE_ADD, TENON_OPCODE_SUB,  TENON_OPCODE_MUL,
                                     TENON_OPCODE_MIN, TENON_OPCODE_MAX,  TENON_OPCODE_NEG,
                                     TENON_OPCODE_ABS, TENON_OPCODE_TANH, TENON_OPCODE_SIGMOID};
  fake_t fake = {.seed = seed};
  draft_t draft = {0};
  const uint32_t rank = (uint32_t)fake_choice(&fake.seed, 1, 4);
  const uint64_t axes = (uint64_t)fake_choice(&fake.seed, 1, (1 << rank) - 1);
  random_space(&fake, rank, 12000);
  for (uint32_t k = 0; k < 3; k++) {
    random_input(&fake, rank, TENON_DTYPE_FLOAT32);
    (void)input(&draft, k, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  }
  (void)constant(&draft, 0.5);
  bool any_reduced = false;
  for (uint32_t k = 0; k < 10; k++) {
    const uint32_t last = draft.program.instruction_count - 1;
    const uint32_t a = fake_choice(&fake.seed, 0, 1) == 0 ? last : pick(&fake, &draft);
    const uint32_t b = pick(&fake, &draft);
    const int64_t what = fake_choice(&fake.seed, 0, 13);
    if (what <= 8) {
      (void)f32(&draft, opcodes[what], a, b);
    } else if (what <= 10) {
      /* The comparison reads exact inputs only, so that no rounding error decides it. */
      const uint32_t c = add(&draft, TENON_OPCODE_LT, TENON_DTYPE_FLOAT32, a % 3, b % 3, 0);
      (void)add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_FLOAT32, c, a, 3);
      k++;
    } else if (seed % 2 == 0) {
      const uint32_t kinds[] = {TENON_OPCODE_MEAN, TENON_OPCODE_REDUCE_MAX,
                                TENON_OPCODE_REDUCE_MIN};
      (void)with_axis(&draft, kinds[what - 11], TENON_DTYPE_FLOAT32, a, (int64_t)axes);
      any_reduced = true;
    }
  }
  /* Combines the last instruction with the first input, so that the output has the full shape. */
  (void)f32(&draft, TENON_OPCODE_ADD, draft.program.instruction_count - 1, 0);
  output(&draft, draft.program.instruction_count - 1, TENON_DTYPE_FLOAT32, 0);
  reduced_output(&fake, rank, TENON_DTYPE_FLOAT32, 0);
  if (any_reduced) {
    const uint32_t i = with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32,
                                 draft.program.instruction_count - 1, (int64_t)axes);
    output(&draft, i, TENON_DTYPE_FLOAT32, axes);
    reduced_output(&fake, rank, TENON_DTYPE_FLOAT32, axes);
  }
  finish(&draft, rank);
  /* Ten instructions have an error of a few ulp of numbers below 10. Some of them subtract close
   * numbers. */
  check(&fake, &draft, 3e-5);
}

TENON_TEST(random_programs_equal_the_oracle) {
  for (unsigned seed = 1; seed <= 300 && tenon__test_failures == 0; seed++) {
    random_program(seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

static void softmax(int64_t rows, int64_t columns, int64_t inner, uint64_t axes) {
  fake_t fake = {.seed = 7, .space = {rows, columns, inner}};
  draft_t draft = {0};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, fake.space);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  const uint32_t m =
      with_axis(&draft, TENON_OPCODE_REDUCE_MAX, TENON_DTYPE_FLOAT32, x, (int64_t)axes);
  const uint32_t e = f32(&draft, TENON_OPCODE_EXP, f32(&draft, TENON_OPCODE_SUB, x, m), 0);
  const uint32_t s = with_axis(&draft, TENON_OPCODE_SUM, TENON_DTYPE_FLOAT32, e, (int64_t)axes);
  output(&draft, f32(&draft, TENON_OPCODE_DIV, e, s), TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 3);
  check(&fake, &draft, 1e-6);
}

TENON_TEST(softmax_along_any_axis_and_length) {
  softmax(3, 7, 1, 2);
  softmax(5, 128, 3, 2);
  softmax(5, 3, 128, 4);
  softmax(2, 3, 9000, 4);
  softmax(1, 20000, 1, 2);
  softmax(2, 9000, 3, 2);
  softmax(4, 33, 17, 6);
}

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
  for (unsigned seed = 1; seed <= 400 && tenon__test_failures == 0; seed++) {
    shifted_sum(seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
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
  for (unsigned seed = 1; seed <= 300 && tenon__test_failures == 0; seed++) {
    scaled(seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
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

TENON_TEST(quantised_rows_equal_the_definition) {
  for (unsigned seed = 1; seed <= 100 && tenon__test_failures == 0; seed++) {
    quantized(seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

TENON_TEST(means_over_pixels_with_channels_last) {
  fake_t fake = {.seed = 3, .space = {2, 49, 300}};
  draft_t draft = {0};
  const int64_t dims[] = {2, 1, 300};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, dims);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  output(&draft, with_axis(&draft, TENON_OPCODE_MEAN, TENON_DTYPE_FLOAT32, x, 2),
         TENON_DTYPE_FLOAT32, 2);
  finish(&draft, 3);
  check(&fake, &draft, 1e-6);
}

/* Checks y[i, j] = table[index[i], j], with and without an added offset. */
/* Each point reads the first row or the last row. */
static void row_of_two(int64_t rows, int64_t columns) {
  fake_t fake = {.seed = 11, .space = {rows, columns}};
  draft_t draft = {0};
  const int64_t table_dims[] = {rows + 3, columns};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, table_dims, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = TENON_DTYPE_FLOAT32, .indexed = 1};
  draft.program.operand_count = 1;
  const uint32_t extent = with_axis(&draft, TENON_OPCODE_EXTENT, TENON_DTYPE_INT64, 0, 0);
  const uint32_t one = with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 1);
  const uint32_t last = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, extent, one, 0);
  const uint32_t row = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 0);
  draft.coordinates[0] = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, last, row, 0);
  draft.coordinates[1] = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  draft.program.coordinate_count = 2;
  output(&draft, add(&draft, TENON_OPCODE_LOAD, TENON_DTYPE_FLOAT32, 0, 2, 0), TENON_DTYPE_FLOAT32,
         0);
  finish(&draft, 2);
  check(&fake, &draft, 0);
}

TENON_TEST(knows_the_extents_of_what_it_looks_up) {
  row_of_two(7, 300);
  row_of_two(1, 1);
}

static void lookup(int64_t rows, int64_t columns, bool plain) {
  fake_t fake = {.seed = 9, .space = {rows, columns}};
  draft_t draft = {0};
  const int64_t table_dims[] = {50, columns};
  const int64_t index_dims[] = {rows, 1};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, table_dims, false, false);
  fake_value_t* index = fake_input(&fake, TENON_DTYPE_INT64, 2, index_dims, false, false);
  for (int64_t k = 0; k < rows; k++) {
    index->numbers[k] = (double)fake_choice(&fake.seed, 0, 49);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = TENON_DTYPE_FLOAT32, .indexed = 1};
  const uint32_t i = input(&draft, 1, TENON_DTYPE_INT64, TENON_DTYPE_INT64);
  uint32_t j = with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 1);
  if (!plain) {
    const uint32_t size = with_axis(&draft, TENON_OPCODE_SIZE, TENON_DTYPE_INT64, 0, 1);
    const uint32_t one = with_axis(&draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 1);
    const uint32_t last = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, size, one, 0);
    j = add(&draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, last, j, 0);
  }
  draft.coordinates[0] = i;
  draft.coordinates[1] = j;
  draft.program.coordinate_count = 2;
  const uint32_t y = add(&draft, TENON_OPCODE_LOAD, TENON_DTYPE_FLOAT32, 0, 2, 0);
  output(&draft, f32(&draft, TENON_OPCODE_ADD, y, y), TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 2);
  check(&fake, &draft, 1e-6);
}

TENON_TEST(looks_rows_up) {
  lookup(7, 300, true);
  lookup(40, 5, true);
  lookup(7, 300, false);
  lookup(1, 1, true);
}

/* Makes a function of one coordinate. Its values are from 0 to *out_most. */
static uint32_t term(fake_t* fake, draft_t* draft, uint32_t axis, int64_t* out_most) {
  const int64_t extent = fake->space[axis];
  const int64_t factor = fake_choice(&fake->seed, 2, 4);
  const uint32_t at = with_axis(draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, axis);
  const uint32_t number = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, factor);
  *out_most = extent - 1;
  switch (fake_choice(&fake->seed, 0, 5)) {
    case 0:
      *out_most = extent > factor ? factor - 1 : extent - 1;
      return add(draft, TENON_OPCODE_MOD, TENON_DTYPE_INT64, at, number, 0);
    case 1:
      *out_most = (extent - 1) / factor;
      return add(draft, TENON_OPCODE_FLOOR_DIV, TENON_DTYPE_INT64, at, number, 0);
    case 2: {
      const uint32_t last =
          with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, extent - 1);
      return add(draft, TENON_OPCODE_SUB, TENON_DTYPE_INT64, last, at, 0);
    }
    case 3: {
      *out_most = 2 * (extent - 1);
      const uint32_t two = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 2);
      return add(draft, TENON_OPCODE_MUL, TENON_DTYPE_INT64, at, two, 0);
    }
    case 4: {
      const uint32_t is_low = add(draft, TENON_OPCODE_LT, TENON_DTYPE_INT64, at, number, 0);
      const uint32_t zero = with_axis(draft, TENON_OPCODE_CONSTANT, TENON_DTYPE_INT64, 0, 0);
      return add(draft, TENON_OPCODE_SELECT, TENON_DTYPE_INT64, is_low, zero, at);
    }
    default:
      return at;
  }
}

/* Makes two coordinates, each a sum of functions of one axis each. Some contain an operation that
 * is not linear. Some are out of range, and a SELECT guards them. */
static void random_places(unsigned seed) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_BFLOAT16,
                                         TENON_DTYPE_INT8};
  fake_t fake = {.seed = seed * 131};
  draft_t draft = {0};
  int64_t dims[2] = {1, 1};
  random_space(&fake, 3, 9000);
  const bool is_guarded = fake_choice(&fake.seed, 0, 3) == 0;
  const tenon_dtype_t dtype = dtypes[fake_choice(&fake.seed, 0, 2)];
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t sum = TENON_NONE;
    for (uint32_t axis = k; axis < 3; axis += 1 + (uint32_t)fake_choice(&fake.seed, 0, 1)) {
      int64_t most = 0;
      const uint32_t next = term(&fake, &draft, axis, &most);
      sum =
          sum == TENON_NONE ? next : add(&draft, TENON_OPCODE_ADD, TENON_DTYPE_INT64, sum, next, 0);
      dims[k] += most;
    }
    if (fake_choice(&fake.seed, 0, 5) == 0) { /* no longer a sum */
      sum = add(&draft, TENON_OPCODE_MIN, TENON_DTYPE_INT64, sum,
                with_axis(&draft, TENON_OPCODE_INDEX, TENON_DTYPE_INT64, 0, 2 - k), 0);
    }
    draft.coordinates[k] = sum;
    dims[k] = is_guarded && dims[k] > 1 ? dims[k] - 1 : dims[k];
  }
  fake_value_t* table = fake_input(&fake, dtype, 2, dims, false, false);
  for (int64_t k = 0; k < dims[0] * dims[1]; k++) {
    table->numbers[k] = (double)fake_choice(&fake.seed, -100, 100);
  }
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, fake.space);
  draft.operands[0] = (tenon_operand_t){.index = 0, .dtype = dtype, .indexed = 1};
  draft.program.operand_count = 1;
  draft.program.coordinate_count = 2;
  uint32_t y = add(&draft, TENON_OPCODE_LOAD, TENON_DTYPE_FLOAT32, 0, 2, 0);
  if (is_guarded) {
    y = add(&draft, TENON_OPCODE_SELECT, TENON_DTYPE_FLOAT32,
            add(&draft, TENON_OPCODE_LT, TENON_DTYPE_FLOAT32, y, constant(&draft, 0), 0), y,
            constant(&draft, 2));
  }
  output(&draft, fake_choice(&fake.seed, 0, 1) == 0 ? y : f32(&draft, TENON_OPCODE_ADD, y, y),
         TENON_DTYPE_FLOAT32, 0);
  finish(&draft, 3);
  check(&fake, &draft, 0);
}

TENON_TEST(looks_up_at_functions_of_coordinates) {
  for (unsigned seed = 1; seed <= 400 && tenon__test_failures == 0; seed++) {
    random_places(seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

TENON_TEST(converts_between_types) {
  static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64, TENON_DTYPE_INT64,
                                        TENON_DTYPE_INT32,   TENON_DTYPE_INT8,    TENON_DTYPE_UINT8,
                                        TENON_DTYPE_BFLOAT16};
  for (size_t from = 0; from < 7; from++) {
    for (size_t to = 0; to < 7; to++) {
      fake_t fake = {.seed = 5, .space = {3, 37}};
      draft_t draft = {0};
      fake_value_t* x = fake_input(&fake, types[from], 2, fake.space, false, false);
      for (int64_t k = 0; k < (int64_t)3 * 37; k++) {
        x->numbers[k] = (double)fake_choice(&fake.seed, 0, 100);
      }
      (void)fake_output(&fake, types[to], 2, fake.space);
      const uint32_t own = types[from] == TENON_DTYPE_BFLOAT16 ? TENON_DTYPE_FLOAT32 : types[from];
      const uint32_t i = input(&draft, 0, types[from], own);
      const uint32_t other = types[to] == TENON_DTYPE_BFLOAT16 ? TENON_DTYPE_FLOAT32 : types[to];
      output(&draft, add(&draft, TENON_OPCODE_CAST, other, i, 0, 0), types[to], 0);
      finish(&draft, 2);
      check(&fake, &draft, 0);
    }
  }
}

TENON_TEST(copies_and_transposes) {
  for (unsigned seed = 1; seed <= 60; seed++) {
    static const tenon_dtype_t types[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_INT64,
                                          TENON_DTYPE_UINT8};
    fake_t fake = {.seed = seed};
    draft_t draft = {0};
    const uint32_t rank = (uint32_t)fake_choice(&fake.seed, 1, 5);
    const tenon_dtype_t dtype = types[seed % 3];
    random_space(&fake, rank, 9000);
    fake_value_t* x = fake_input(&fake, dtype, rank, fake.space, false, false);
    for (int64_t k = 0; k < fake_count(rank, fake.space); k++) {
      x->numbers[k] = (double)(k % 251);
    }
    (void)fake_output(&fake, dtype, rank, fake.space);
    output(&draft, input(&draft, 0, dtype, dtype), dtype, 0);
    finish(&draft, rank);
    check(&fake, &draft, 0);
  }
}

TENON_TEST(sums_of_nothing_are_neutral) {
  fake_t fake = {.seed = 5, .space = {3, 0, 4}};
  draft_t draft = {0};
  const int64_t dims[] = {3, 1, 4};
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 3, fake.space, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, dims);
  const uint32_t x = input(&draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  output(&draft, with_axis(&draft, TENON_OPCODE_SUM, TENON_DTYPE_FLOAT32, x, 2),
         TENON_DTYPE_FLOAT32, 2);
  finish(&draft, 3);
  fake.values[1].numbers[5] = 1;
  check(&fake, &draft, 0);
  EXPECT_TEXT(fake.failure, "");
}
