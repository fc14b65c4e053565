/* Matrix products against sums of doubles: ranks, batches, transposes, strides, epilogues. */
#include "fake_program.h"
#include "fake_run.h"
#include "kernels.h"

typedef struct case_t {
  uint32_t a_rank, b_rank;
  int64_t a_batch[3], b_batch[3]; /* leading extents, aligned at the last */
  int64_t m, n, k;
  bool transpose_a, transpose_b, constant;
  int slot; /* 0 none, 1 bias, 2 bias and gelu, 3 residual, 4 scaled by row */
} case_t;

static int64_t batch_extent(const case_t* c, uint32_t rank, const int64_t* batch,
                            uint32_t from_inner) {
  (void)c;
  return from_inner + 2 < rank ? batch[rank - 3 - from_inner] : 1;
}

static void fill_slot(fake_t* fake, const case_t* c, uint32_t rank, const int64_t* y_dims,
                      draft_t* draft) {
  const uint32_t first = fake->input_count;
  uint32_t v = input(draft, 0, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  draft->operands[0].kind = TENON_OPERAND_SLOT_VALUE;
  const uint64_t all = ((uint64_t)1 << rank) - 1;
  if (c->slot == 0) {
    return;
  }
  const uint32_t other = input(draft, 1, TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT32);
  draft->operands[1].index = first;
  if (c->slot == 1 || c->slot == 2) {
    (void)fake_input(fake, TENON_DTYPE_FLOAT32, 1, y_dims + rank - 1, true, true);
    draft->operands[1].broadcast_axes = all >> 1;
    v = f32(draft, TENON_OPCODE_ADD, v, other);
  } else if (c->slot == 3) {
    (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, y_dims, false, true);
    v = f32(draft, TENON_OPCODE_ADD, v, other);
  } else {
    int64_t dims[8];
    memcpy(dims, y_dims, rank * sizeof(int64_t));
    dims[rank - 1] = 1;
    (void)fake_input(fake, TENON_DTYPE_FLOAT32, rank, dims, false, true);
    draft->operands[1].broadcast_axes = (uint64_t)1 << (rank - 1);
    v = f32(draft, TENON_OPCODE_MUL, v, other);
  }
  if (c->slot == 2) {
    const uint32_t e = f32(draft, TENON_OPCODE_ERF,
                           f32(draft, TENON_OPCODE_DIV, v, constant(draft, 1.4142135623730951)), 0);
    v = f32(draft, TENON_OPCODE_MUL,
            f32(draft, TENON_OPCODE_MUL, v, f32(draft, TENON_OPCODE_ADD, e, constant(draft, 1))),
            constant(draft, 0.5));
  }
  output(draft, v, TENON_DTYPE_FLOAT32, 0);
  finish(draft, rank);
  fake->slot = &draft->program;
}

static double product(const fake_t* fake, const case_t* c, int64_t a_matrix, int64_t b_matrix,
                      int64_t i, int64_t j) {
  const double* a = fake->values[0].numbers + a_matrix * c->m * c->k;
  const double* b = fake->values[1].numbers + b_matrix * c->k * c->n;
  double sum = 0;
  for (int64_t k = 0; k < c->k; k++) {
    sum += a[c->transpose_a ? k * c->m + i : i * c->k + k] *
           b[c->transpose_b ? j * c->k + k : k * c->n + j];
  }
  return sum;
}

/* `last`: the coordinate on the last axis. */
static double apply_slot(const fake_t* fake, const case_t* c, double v, int64_t row, int64_t last) {
  const double* extra = fake->values[2].numbers;
  switch (c->slot) {
    case 1:
      return v + extra[last];
    case 2:
      v += extra[last];
      return 0.5 * v * (1 + erf(v / 1.4142135623730951));
    case 3:
      return v + extra[c->b_rank == 1 ? row : row * c->n + last];
    case 4:
      return v * extra[row];
    default:
      return v;
  }
}

/* The extents of one operand: the leading ones, then its matrix's. */
static void operand_dims(uint32_t rank, const int64_t* batch, int64_t rows, int64_t columns,
                         int64_t* out_dims) {
  memcpy(out_dims, batch, 3 * sizeof(int64_t));
  out_dims[rank - 1] = columns;
  if (rank > 1) {
    out_dims[rank - 2] = rows;
  }
}

static uint32_t batch_rank_of(const case_t* c) {
  const uint32_t most = c->a_rank > c->b_rank ? c->a_rank : c->b_rank;
  return most > 2 ? most - 2 : 0;
}

/* The rank of the result. */
static uint32_t result_dims(const case_t* c, int64_t* out_dims) {
  const uint32_t batch_rank = batch_rank_of(c);
  uint32_t rank = 0;
  for (uint32_t k = 0; k < batch_rank; k++) {
    const uint32_t inner = batch_rank - 1 - k;
    const int64_t a = batch_extent(c, c->a_rank, c->a_batch, inner);
    const int64_t b = batch_extent(c, c->b_rank, c->b_batch, inner);
    out_dims[rank++] = a == 1 ? b : a;
  }
  if (c->a_rank > 1) {
    out_dims[rank++] = c->m;
  }
  if (c->b_rank > 1) {
    out_dims[rank++] = c->n;
  }
  return rank;
}

static double expected_at(const fake_t* fake, const case_t* c, const int64_t* y_dims,
                          int64_t index) {
  const uint32_t batch_rank = batch_rank_of(c);
  const int64_t j = index % c->n;
  const int64_t i = index / c->n % c->m;
  int64_t rest = index / c->n / c->m;
  int64_t a_matrix = 0;
  int64_t b_matrix = 0;
  int64_t a_step = 1;
  int64_t b_step = 1;
  for (uint32_t inner = 0; inner < batch_rank; inner++) {
    const int64_t at = rest % y_dims[batch_rank - 1 - inner];
    rest /= y_dims[batch_rank - 1 - inner];
    const int64_t a = batch_extent(c, c->a_rank, c->a_batch, inner);
    const int64_t b = batch_extent(c, c->b_rank, c->b_batch, inner);
    a_matrix += a == 1 ? 0 : at * a_step;
    b_matrix += b == 1 ? 0 : at * b_step;
    a_step *= a;
    b_step *= b;
  }
  return apply_slot(fake, c, product(fake, c, a_matrix, b_matrix, i, j), index / c->n,
                    c->b_rank == 1 ? i : j);
}

static void check_numbers(const fake_t* fake, const case_t* c, const fake_value_t* y,
                          const char* isa) {
  /* Half an ulp for each of k products below 1, and partial sums about sqrt(k). */
  const double tolerance = 1e-6 * (4 + (double)c->k / 16);
  int64_t count = c->m * c->n;
  for (uint32_t k = 0; k < batch_rank_of(c); k++) {
    count *= y->dims[k];
  }
  for (int64_t index = 0; index < count; index++) {
    const double expected = expected_at(fake, c, y->dims, index);
    if (!(fabs(y->numbers[index] - expected) <= tolerance)) {
      EXPECT_NEAR(y->numbers[index], expected, tolerance);
      (void)fprintf(stderr, "  isa %s, tactic %s, element %lld\n", isa, fake->tactic.name,
                    (long long)index);
      return;
    }
  }
}

static void check(const case_t* c, unsigned seed) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.mat_mul/1", .seed = seed};
  draft_t draft = {0};
  const bool turned_a = c->transpose_a && c->a_rank > 1;
  const bool turned_b = c->b_rank == 1 || c->transpose_b;
  int64_t a_dims[5];
  int64_t b_dims[5];
  int64_t y_dims[5];
  operand_dims(c->a_rank, c->a_batch, turned_a ? c->k : c->m, turned_a ? c->m : c->k, a_dims);
  operand_dims(c->b_rank, c->b_batch, turned_b ? c->n : c->k, turned_b ? c->k : c->n, b_dims);
  const uint32_t y_rank = result_dims(c, y_dims);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, c->a_rank, a_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, c->b_rank, b_dims, c->constant, false);
  fill_slot(&fake, c, y_rank, y_dims, &draft);
  const fake_value_t* y = fake_output(&fake, TENON_DTYPE_FLOAT32, y_rank, y_dims);
  fake_set_space(&fake, y_rank, y_dims);
  fake_int(&fake, "transpose_a", c->transpose_a);
  fake_int(&fake, "transpose_b", c->transpose_b);
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < 2 * count; s++) {
    tenon_refusal_t refusal;
    for (uint32_t t = 0;
         fake_tactic(&fake, &tenon__cpu_mat_mul_kernel, &states[s / 2], t, &refusal); t++) {
      fake.threads = 1 + s % 2;
      EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_mat_mul_kernel, &states[s / 2]), TENON_OK);
      check_numbers(&fake, c, y, states[s / 2].isa->name);
    }
    EXPECT(fake.tactic_count > 0);
  }
  fake_free(&fake);
}

TENON_TEST(random_products_equal_the_sums) {
  for (unsigned seed = 1; seed <= 500 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 331;
    case_t c = {
        .a_rank = (uint32_t)fake_choice(&s, 1, 4),
        .b_rank = (uint32_t)fake_choice(&s, 1, 4),
        .m = fake_choice(&s, 0, 2) == 0 ? 1 : fake_choice(&s, 1, 40),
        .n = fake_choice(&s, 1, 70),
        .k = fake_choice(&s, 0, 5) == 0 ? fake_choice(&s, 300, 700) : fake_choice(&s, 1, 60),
        .constant = fake_choice(&s, 0, 1) == 1};
    c.transpose_a = c.a_rank > 1 && fake_choice(&s, 0, 2) == 0;
    c.transpose_b = c.b_rank > 1 && fake_choice(&s, 0, 2) == 0;
    c.m = c.a_rank == 1 ? 1 : c.m;
    c.n = c.b_rank == 1 ? 1 : c.n;
    const int slots = c.b_rank > 1 ? 4 : c.a_rank > 1 ? 3 : 0; /* a scalar has no axis */
    c.slot = (int)fake_choice(&s, 0, slots);
    const int64_t full[] = {fake_choice(&s, 1, 3), fake_choice(&s, 1, 4)};
    for (uint32_t inner = 0; inner < 2; inner++) {
      const int64_t a = fake_choice(&s, 0, 2) == 0 ? 1 : full[inner];
      const int64_t b = fake_choice(&s, 0, 2) == 0 ? 1 : full[inner];
      if (inner + 2 < c.a_rank) {
        c.a_batch[c.a_rank - 3 - inner] = a;
      }
      if (inner + 2 < c.b_rank) {
        c.b_batch[c.b_rank - 3 - inner] = b;
      }
    }
    check(&c, seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}

TENON_TEST(blocks_of_depth_add_up) {
  for (int slot = 0; slot < 5; slot++) {
    const case_t c = {
        .a_rank = 2, .b_rank = 2, .m = 200, .n = 50, .k = 1300, .constant = true, .slot = slot};
    check(&c, 3);
  }
}

TENON_TEST(no_depth_gives_the_bias) {
  const case_t c = {.a_rank = 2, .b_rank = 2, .m = 5, .n = 20, .k = 0, .slot = 1};
  check(&c, 4);
}

/* The scratch is planned for the largest extents that the host gives. Larger ones are refused. */
TENON_TEST(more_of_b_than_was_planned_for_is_not_bound) {
  static const int64_t a_dims[] = {3, 64};
  static const int64_t b_dims[] = {2, 64, 350};
  static const int64_t y_dims[] = {2, 3, 350};
  static const int64_t planned[][3] = {{2, 64, 350}, {2, 64, 0}, {1, 64, 350}, {2, 16, 350}};
  for (size_t k = 0; k < sizeof planned / sizeof *planned; k++) {
    fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.mat_mul/1", .seed = 1};
    tenon__cpu_state_t states[3];
    tenon_refusal_t refusal;
    const uint32_t last = fake_states(states) - 1;
    (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, a_dims, false, false);
    fake_value_t* b = fake_input(&fake, TENON_DTYPE_FLOAT32, 3, b_dims, false, false);
    (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 3, y_dims);
    fake_int(&fake, "transpose_a", 0);
    fake_int(&fake, "transpose_b", 0);
    b->info.dims_max = planned[k];
    fake.threads = 1;
    EXPECT(fake_tactic(&fake, &tenon__cpu_mat_mul_kernel, &states[last], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_mat_mul_kernel, &states[last]),
                  k == 0 ? TENON_OK : TENON_ERROR_INVALID_ARGUMENT);
    fake_free(&fake);
  }
}
