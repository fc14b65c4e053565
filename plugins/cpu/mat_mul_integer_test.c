/* Compares products of bytes with plain loops, for all signs, zero points, broadcast batches,
 * constants and slots. */
#include "fake_integer.h"
#include "kernels.h"

typedef struct case_t {
  int64_t batch[2][2]; /* of a and b: 0 means the axis is absent */
  int64_t rows, depth, columns;
  bool a_signed, b_signed;
  int64_t a_zeros, b_zeros; /* number of zero points. 0: absent; 1; or one for each line */
  bool constant;            /* b */
  bool unbounded;           /* the extents have no limit */
  fake_integer_slot_t slot;
} case_t;

static uint32_t dims_of(const int64_t* batch, int64_t rows, int64_t columns, int64_t* out_dims) {
  uint32_t rank = 0;
  for (uint32_t k = 0; k < 2; k++) {
    if (batch[k] > 0) {
      out_dims[rank++] = batch[k];
    }
  }
  out_dims[rank++] = rows;
  out_dims[rank++] = columns;
  return rank;
}

static int64_t matrix_of(const int64_t* batch, const int64_t* at) {
  int64_t place = 0;
  for (uint32_t k = 0; k < 2; k++) {
    if (batch[k] > 0) {
      place = place * batch[k] + (batch[k] == 1 ? 0 : at[k]);
    }
  }
  return place;
}

static void check(const case_t* c, unsigned seed) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.mat_mul_integer/1", .seed = seed};
  static const int64_t unbounded[] = {-1, -1, -1, -1};
  draft_t draft = {0};
  int64_t dims[4];
  int64_t y_batch[2];
  uint32_t rank = dims_of(c->batch[0], c->rows, c->depth, dims);
  const fake_value_t* a = fake_byte_input(&fake, c->a_signed, rank, dims, false);
  rank = dims_of(c->batch[1], c->depth, c->columns, dims);
  fake_value_t* b = fake_byte_input(&fake, c->b_signed, rank, dims, c->constant);
  const fake_value_t* a_zero = fake_zero_input(&fake, c->a_signed, c->a_zeros);
  const fake_value_t* b_zero = fake_zero_input(&fake, c->b_signed, c->b_zeros);
  for (uint32_t k = 0; k < 2; k++) {
    y_batch[k] = c->batch[0][k] > c->batch[1][k] ? c->batch[0][k] : c->batch[1][k];
  }
  rank = dims_of(y_batch, c->rows, c->columns, dims);
  fake_fill_integer_slot(&fake, c->slot, rank, dims, rank - 1, &draft);
  const fake_value_t* y = fake_output(&fake, fake_integer_dtype(c->slot), rank, dims);
  fake_set_space(&fake, rank, dims);
  b->info.dims_max = c->unbounded ? unbounded : b->dims;
  tenon__cpu_state_t states[FAKE_INTEGER_STATES];
  const uint32_t count = fake_integer_states(states);
  for (uint32_t s = 0; s < count && tenon__test_failures == 0; s++) {
    tenon_refusal_t refusal;
    fake.threads = s % 3 == 2 ? 7 : 1 + s % 3;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_mat_mul_integer_kernel, &states[s], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_mat_mul_integer_kernel, &states[s]), TENON_OK);
    for (int64_t i = 0; i < fake_count(rank, dims) && tenon__test_failures == 0; i++) {
      const int64_t column = i % c->columns;
      const int64_t row = i / c->columns % c->rows;
      const int64_t matrix = i / c->columns / c->rows;
      const int64_t inner = y_batch[1] > 0 ? y_batch[1] : 1;
      const int64_t at[2] = {matrix / inner, matrix % inner};
      const double* x = a->numbers + (matrix_of(c->batch[0], at) * c->rows + row) * c->depth;
      const double* w = b->numbers + matrix_of(c->batch[1], at) * c->depth * c->columns + column;
      double sum = 0;
      for (int64_t k = 0; k < c->depth; k++) {
        sum += (x[k] - fake_zero(a_zero, row)) * (w[k * c->columns] - fake_zero(b_zero, column));
      }
      EXPECT_NEAR(y->numbers[i], fake_apply_integer_slot(&fake, c->slot, sum, i, column), 0);
    }
  }
  fake_free(&fake);
}

TENON_TEST(random_products_are_exact) {
  for (unsigned seed = 1; seed <= 200 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 71;
    case_t c = {.rows = fake_choice(&s, 1, seed % 20 == 0 ? 220 : 20),
                .depth = fake_choice(&s, 1, 40),
                .columns = fake_choice(&s, 1, seed % 25 == 0 ? 1100 : 80),
                .a_signed = fake_choice(&s, 0, 1) == 1,
                .b_signed = fake_choice(&s, 0, 1) == 1};
    const uint32_t axes = (uint32_t)fake_choice(&s, 0, 2);
    for (uint32_t k = 2 - axes; k < 2; k++) {
      const int64_t extent = fake_choice(&s, 1, 3);
      c.batch[0][k] = fake_choice(&s, 0, 2) == 0 ? 1 : extent;
      c.batch[1][k] = fake_choice(&s, 0, 2) == 0 ? 1 : extent;
    }
    if (axes > 0 && fake_choice(&s, 0, 3) == 0) {
      c.batch[1][2 - axes] = 0; /* a matrix of fewer axes */
      c.batch[1][0] = axes == 2 ? 0 : c.batch[1][0];
    }
    const int64_t zeros[2] = {fake_choice(&s, 0, 2), fake_choice(&s, 0, 2)};
    c.a_zeros = zeros[0] == 2 ? c.rows : zeros[0];
    c.b_zeros = zeros[1] == 2 ? c.columns : zeros[1];
    c.constant = fake_choice(&s, 0, 1) == 1;
    c.unbounded = !c.constant && c.b_zeros <= 1 && fake_choice(&s, 0, 1) == 0;
    c.slot = (fake_integer_slot_t)fake_choice(&s, 0, FAKE_INTEGER_SLOTS - 1);
    check(&c, seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}
