/* The largest and smallest of lines against a plain selection: equal elements, zeros of both signs,
 * NaN, lines that are sorted already, every k, all types. */
#include <math.h>
#include <stdlib.h>

#include "fake_run.h"
#include "kernels.h"

typedef struct case_t {
  int64_t outer, extent, inner, count;
  bool largest;
  tenon_dtype_t dtype;
  enum { RANDOM, FEW_VALUES, RISING, FALLING, SPECIAL, KIND_COUNT } kind;
} case_t;

/* Does a come before b? The definition: by value, NaN above all numbers; equal ones by place. */
static bool precedes(const case_t* c, double a, int64_t a_at, double b, int64_t b_at) {
  if (a == b || (isnan(a) && isnan(b))) {
    return a_at < b_at;
  }
  const bool is_above = isnan(a) || a > b;
  return c->largest == (is_above && !isnan(b));
}

static double number_of(const case_t* c, int64_t at, double random) {
  static const double special[] = {NAN, -INFINITY, INFINITY, 0.0, -0.0, 1, -1, 1e-45};
  switch (c->kind) {
    case FEW_VALUES:
      return floor(random * 3);
    case RISING:
      return (double)at;
    case FALLING:
      return (double)-at;
    case SPECIAL:
      return special[(int)((random + 1) * 3.99)];
    default:
      return random;
  }
}

/* As an element of the type: integers are spread over a part of their range. */
static double stored(tenon_dtype_t dtype, double number) {
  uint64_t element = 0;
  const bool is_integer = dtype != TENON_DTYPE_FLOAT64 && dtype != TENON_DTYPE_FLOAT32 &&
                          dtype != TENON_DTYPE_FLOAT16 && dtype != TENON_DTYPE_BFLOAT16;
  const double most = dtype == TENON_DTYPE_INT64 ? 0x1p40 : fake_bytes(dtype) == 1 ? 0x1p7 : 0x1p15;
  const double whole = isfinite(number) ? fmod(floor(number * 100), most) : 0;
  const bool is_signed = dtype != TENON_DTYPE_UINT8 && dtype != TENON_DTYPE_UINT16;
  fake_put(dtype, &element, !is_integer ? number : is_signed ? whole : fabs(whole));
  return fake_get(dtype, &element);
}

static bool is_same(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

/* One line of the result. Each element that was not taken comes after the last that was. */
static void expect_line(const case_t* c, const double* x, const double* values,
                        const double* indices, int64_t line) {
  const int64_t from = line / c->inner * c->extent * c->inner + line % c->inner;
  const int64_t to = line / c->inner * c->count * c->inner + line % c->inner;
  uint8_t* taken = calloc((size_t)c->extent + 1, 1);
  REQUIRE(taken != NULL);
  for (int64_t k = 0; k < c->count; k++) {
    const int64_t at = (int64_t)indices[to + k * c->inner];
    const bool is_place = at >= 0 && at < c->extent && taken[at] == 0;
    EXPECT(is_place);
    if (!is_place) {
      break;
    }
    taken[at] = 1;
    EXPECT(is_same(values[to + k * c->inner], x[from + at * c->inner]));
    if (k > 0) {
      const int64_t before = (int64_t)indices[to + (k - 1) * c->inner];
      EXPECT(precedes(c, x[from + before * c->inner], before, x[from + at * c->inner], at));
    }
  }
  const int64_t last = c->count == 0 ? 0 : (int64_t)indices[to + (c->count - 1) * c->inner];
  for (int64_t at = 0; at < c->extent && c->count > 0; at++) {
    EXPECT(taken[at] != 0 ||
           precedes(c, x[from + last * c->inner], last, x[from + at * c->inner], at));
  }
  free(taken);
}

static void check(const case_t* c, unsigned seed) {
  const int64_t x_dims[3] = {c->outer, c->extent, c->inner};
  const int64_t y_dims[3] = {c->outer, c->count, c->inner};
  const int64_t one[1] = {1};
  fake_t fake = {.kind = TENON_REGION_OPERATOR, .op = "standard.top_k/1", .seed = seed};
  fake_value_t* x = fake_input(&fake, c->dtype, 3, x_dims, false, false);
  (void)fake_input(&fake, TENON_DTYPE_INT64, 1, one, false, false);
  const fake_value_t* values = fake_output(&fake, c->dtype, 3, y_dims);
  const fake_value_t* indices = fake_output(&fake, TENON_DTYPE_INT64, 3, y_dims);
  for (int64_t k = 0; k < fake_count(3, x_dims); k++) {
    const double number = number_of(c, k / c->inner % c->extent, x->numbers[k]);
    x->numbers[k] = stored(c->dtype, number);
  }
  fake_int(&fake, "axis", seed % 2 == 0 ? 1 : -2);
  fake_int(&fake, "largest", c->largest);
  tenon__cpu_state_t states[3];
  const uint32_t count = fake_states(states);
  for (uint32_t s = 0; s < count; s++) {
    tenon_refusal_t refusal;
    fake.threads = 1 + s % 3;
    REQUIRE(fake_tactic(&fake, &tenon__cpu_top_k_kernel, &states[s], 0, &refusal));
    EXPECT_STATUS(fake_run_tactic(&fake, &tenon__cpu_top_k_kernel, &states[s]), TENON_OK);
    for (int64_t line = 0; line < c->outer * c->inner && tenon__test_failures == 0; line++) {
      expect_line(c, x->numbers, values->numbers, indices->numbers, line);
    }
  }
  fake_free(&fake);
}

TENON_TEST(random_lines_equal_the_definition) {
  static const tenon_dtype_t dtypes[] = {
      TENON_DTYPE_FLOAT64, TENON_DTYPE_INT64,   TENON_DTYPE_INT8,
      TENON_DTYPE_INT32,   TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
      TENON_DTYPE_UINT8,   TENON_DTYPE_INT16,   TENON_DTYPE_UINT16};
  for (unsigned seed = 1; seed <= 200 && tenon__test_failures == 0; seed++) {
    unsigned s = seed * 71;
    const bool is_long = seed % 10 == 0;
    case_t c = {.outer = fake_choice(&s, 1, 3),
                .extent = fake_choice(&s, 1, is_long ? 9000 : 90),
                .inner = fake_choice(&s, 0, 1) == 0 ? 1 : fake_choice(&s, 2, 4),
                .largest = fake_choice(&s, 0, 1) == 1};
    c.dtype = seed % 2 == 0 ? TENON_DTYPE_FLOAT32 : dtypes[seed / 2 % 9];
    c.kind = fake_choice(&s, 0, KIND_COUNT - 1);
    c.count = fake_choice(&s, 0, fake_choice(&s, 0, 1) == 0 ? c.extent : 1 + c.extent / 20);
    check(&c, seed);
    if (tenon__test_failures != 0) {
      (void)fprintf(stderr, "  seed %u\n", seed);
    }
  }
}
