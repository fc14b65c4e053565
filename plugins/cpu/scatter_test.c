/* Scattering against plain loops: slices and elements, repeated places, reductions. */
#include "fake_run.h"
#include "kernels.h"

typedef struct case_t {
  const char* op;
  uint32_t rank;
  int64_t dims[4];
  uint32_t index_rank;
  int64_t index_dims[4];
  const char* reduction;
  int64_t axis;
  tenon_dtype_t dtype;
} case_t;

static double combined(const char* reduction, double old, double update) {
  if (strcmp(reduction, "add") == 0) {
    return old + update;
  }
  if (strcmp(reduction, "mul") == 0) {
    return old * update;
  }
  if (strcmp(reduction, "max") == 0) {
    return update > old ? update : old;
  }
  if (strcmp(reduction, "min") == 0) {
    return update < old ? update : old;
  }
  return update;
}

static int64_t elements(uint32_t rank, const int64_t* dims) {
  int64_t count = 1;
  for (uint32_t k = 0; k < rank; k++) {
    count *= dims[k];
  }
  return count;
}

static void expect_slices(const case_t* c, const double* indices, const double* updates,
                          double* y) {
  const int64_t depth = c->index_dims[c->index_rank - 1];
  const int64_t length = elements(c->rank - (uint32_t)depth, c->dims + depth);
  const int64_t slices = elements(c->index_rank - 1, c->index_dims);
  for (int64_t s = 0; s < slices; s++) {
    int64_t target = 0;
    for (int64_t k = 0; k < depth; k++) {
      const int64_t at = (int64_t)indices[s * depth + k];
      target = target * c->dims[k] + (at < 0 ? at + c->dims[k] : at);
    }
    for (int64_t i = 0; i < length; i++) {
      double* to = &y[target * length + i];
      *to = combined(c->reduction, *to, updates[s * length + i]);
    }
  }
}

static void expect_elements(const case_t* c, const double* indices, const double* updates,
                            double* y) {
  const int64_t count = elements(c->index_rank, c->index_dims);
  for (int64_t i = 0; i < count; i++) {
    int64_t rest = i;
    int64_t step = 1;
    int64_t target = 0;
    for (uint32_t k = c->rank; k-- > 0;) {
      const int64_t own = rest % c->index_dims[k];
      const int64_t given = (int64_t)indices[i];
      rest /= c->index_dims[k];
      target += step * (k != c->axis ? own : given < 0 ? given + c->dims[k] : given);
      step *= c->dims[k];
    }
    y[target] = combined(c->reduction, y[target], updates[i]);
  }
}

/* Numbers that every type has. */
static void make_whole(const fake_value_t* value, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    value->numbers[k] = floor(100 * fabs(value->numbers[k]));
  }
}

static void check(const case_t* c, unsigned seed) {
  const bool by_element = strstr(c->op, "elements") != NULL;
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = c->op, .seed = seed};
  const fake_value_t* x = fake_input(&fake, c->dtype, c->rank, c->dims, false, false);
  const fake_value_t* indices =
      fake_input(&fake, TENON_DTYPE_INT64, c->index_rank, c->index_dims, false, false);
  int64_t update_dims[8];
  uint32_t update_rank = 0;
  for (uint32_t k = 0; k + (by_element ? 0u : 1u) < c->index_rank; k++) {
    update_dims[update_rank++] = c->index_dims[k];
  }
  for (uint32_t k = by_element ? c->rank : (uint32_t)c->index_dims[c->index_rank - 1]; k < c->rank;
       k++) {
    update_dims[update_rank++] = c->dims[k];
  }
  const fake_value_t* updates = fake_input(&fake, c->dtype, update_rank, update_dims, false, false);
  const fake_value_t* y = fake_output(&fake, c->dtype, c->rank, c->dims);
  if (c->dtype != TENON_DTYPE_FLOAT32) {
    make_whole(x, elements(c->rank, c->dims));
    make_whole(updates, elements(update_rank, update_dims));
  }
  fake_string(&fake, "reduction", c->reduction);
  if (by_element) {
    fake_int(&fake, "axis", c->axis);
  }
  const int64_t index_count = elements(c->index_rank, c->index_dims);
  for (int64_t i = 0; i < index_count; i++) {
    const int64_t depth = c->index_dims[c->index_rank - 1];
    /* No axis is empty. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    const int64_t extent = c->dims[by_element ? c->axis : i % depth];
    /* Likewise. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
    const int64_t at = (i * 7 + (int64_t)seed) % extent;
    indices->numbers[i] = (double)(i % 3 == 0 ? at - extent : at);
  }
  const int64_t count = elements(c->rank, c->dims);
  double* expected = calloc((size_t)count + 1, sizeof(*expected));
  REQUIRE(expected != NULL);
  memcpy(expected, x->numbers, (size_t)count * sizeof(*expected));
  if (by_element) {
    expect_elements(c, indices->numbers, updates->numbers, expected);
  } else {
    expect_slices(c, indices->numbers, updates->numbers, expected);
  }
  tenon__cpu_state_t states[3];
  tenon_refusal_t refusal;
  /* A test that fails may leak. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
  REQUIRE(fake_states(states) > 0);
  REQUIRE(fake_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0], 0, &refusal));
  for (int in_place = 0; in_place < 2; in_place++) {
    fake.in_place = in_place != 0;
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0]), TENON_OK);
    for (int64_t i = 0; i < count; i++) {
      /* Each update is one operation in float; places are hit a few times. */
      EXPECT_NEAR(y->numbers[i], expected[i], 2e-6 * (1 + fabs(expected[i])));
    }
  }
  free(expected);
  fake_free(&fake);
}

static const char* const reductions[] = {"none", "add", "mul", "max", "min"};
/* Those without a reduction; with one, f32 alone. */
static tenon_dtype_t dtype_of(unsigned seed) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_UINT8, TENON_DTYPE_INT16,
                                         TENON_DTYPE_INT64};
  return seed % 5 == 0 ? dtypes[seed / 5 % 4] : TENON_DTYPE_FLOAT32;
}

TENON_TEST(slices_equal_the_loops) {
  for (unsigned seed = 1; seed <= 100 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 71;
    case_t c = {.op = "standard.scatter_nd/1",
                .rank = (uint32_t)fake_choice(&s, 1, 4),
                .index_rank = (uint32_t)fake_choice(&s, 1, 3),
                .reduction = reductions[seed % 5],
                .dtype = dtype_of(seed)};
    for (uint32_t k = 0; k < 4; k++) {
      c.dims[k] = fake_choice(&s, 1, 5);
      c.index_dims[k] = fake_choice(&s, 1, 4);
    }
    c.index_dims[c.index_rank - 1] = fake_choice(&s, 1, c.rank);
    check(&c, seed);
  }
}

TENON_TEST(elements_equal_the_loops) {
  for (unsigned seed = 1; seed <= 100 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 71;
    case_t c = {.op = "standard.scatter_elements/1",
                .rank = (uint32_t)fake_choice(&s, 1, 4),
                .reduction = reductions[seed % 5],
                .dtype = dtype_of(seed)};
    c.index_rank = c.rank;
    c.axis = fake_choice(&s, 0, c.rank - 1);
    for (uint32_t k = 0; k < c.rank; k++) {
      c.dims[k] = fake_choice(&s, 1, 5);
      c.index_dims[k] = fake_choice(&s, 1, k == c.axis ? 7 : c.dims[k]);
    }
    check(&c, seed);
  }
}

/* Extents that only the run knows may not fit. */
static void expect_misfit(const char* op, const int64_t* dims, const int64_t* index_dims,
                          uint32_t update_rank, const int64_t* update_dims) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = op, .seed = 1};
  tenon__cpu_state_t states[3];
  tenon_refusal_t refusal;
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 2, dims, false, false);
  const fake_value_t* indices = fake_input(&fake, TENON_DTYPE_INT64, 2, index_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, update_rank, update_dims, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 2, dims);
  fake_string(&fake, "reduction", "none");
  fake_int(&fake, "axis", 0);
  memset(indices->numbers, 0, (size_t)elements(2, index_dims) * sizeof(double));
  REQUIRE(fake_states(states) > 0);
  REQUIRE(fake_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0], 0, &refusal));
  EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0]),
                TENON_ERROR_INVALID_DATA);
  fake_free(&fake);
}

TENON_TEST(refuses_updates_that_do_not_fit) {
  const int64_t dims[] = {2, 3};
  const int64_t two_slices[] = {2, 1};
  const int64_t one_slice[] = {1, 3};
  const int64_t wide[] = {2, 4};
  const int64_t many_axes[] = {1, 3};
  const int64_t none[] = {1};
  expect_misfit("standard.scatter_nd/1", dims, two_slices, 2, one_slice);
  expect_misfit("standard.scatter_nd/1", dims, many_axes, 1, none);
  expect_misfit("standard.scatter_elements/1", dims, wide, 2, wide);
  expect_misfit("standard.scatter_elements/1", dims, two_slices, 2, one_slice);
}

TENON_TEST(refuses_places_outside) {
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.scatter_nd/1", .seed = 1};
  const int64_t dims[] = {3};
  const int64_t index_dims[] = {1, 1};
  const int64_t update_dims[] = {1};
  tenon__cpu_state_t states[3];
  tenon_refusal_t refusal;
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 1, dims, false, false);
  const fake_value_t* indices = fake_input(&fake, TENON_DTYPE_INT64, 2, index_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_FLOAT32, 1, update_dims, false, false);
  (void)fake_output(&fake, TENON_DTYPE_FLOAT32, 1, dims);
  fake_string(&fake, "reduction", "none");
  REQUIRE(fake_states(states) > 0);
  REQUIRE(fake_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0], 0, &refusal));
  indices->numbers[0] = 3;
  EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0]),
                TENON_ERROR_INVALID_DATA);
  indices->numbers[0] = -4;
  EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_scatter_kernel, &states[0]),
                TENON_ERROR_INVALID_DATA);
  fake_free(&fake);
}
