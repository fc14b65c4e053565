/* Made-up data is what the domain asks for, and the same each time. */
#include "core/operator/made_data.h"

#include <math.h>

#include "core/base/test.h"
#include "core/tensor/dtype.h"

enum { MOST = 4096 };

typedef struct made_t {
  uint64_t count;
  double numbers[MOST];
} made_t;

static made_t make(const tenon__data_wish_t* wish) {
  static double data[MOST];
  made_t made = {.count = 1};
  const bool is_float = tenon__dtype_class(wish->dtype) == 'f';
  for (uint32_t k = 0; k < wish->rank; ++k) {
    made.count *= (uint64_t)wish->dims[k];
  }
  tenon__data_make(wish, data);
  for (uint64_t i = 0; i < made.count; ++i) {
    const tenon__scalar_t scalar = tenon__element_load(data, wish->dtype, i);
    made.numbers[i] = is_float ? scalar.f : (double)scalar.i;
  }
  return made;
}

static void expect_within(const made_t* made, double low, double high) {
  for (uint64_t i = 0; i < made->count; ++i) {
    if (!(made->numbers[i] >= low && made->numbers[i] <= high)) {
      tenon__test_fail(__FILE__, __LINE__, "number %llu is %g, not from %g to %g",
                       (unsigned long long)i, made->numbers[i], low, high);
    }
  }
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

TENON_TEST(floats_are_ordinary_numbers) {
  static const tenon_dtype_t dtypes[] = {TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64,
                                         TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16};
  for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; ++k) {
    const tenon__data_wish_t wish = {.dtype = dtypes[k], .rank = 2, .dims = DIMS(8, 100)};
    const made_t made = make(&wish);
    const made_t again = make(&wish);
    uint32_t negative = 0;
    expect_within(&made, -1, 1);
    for (uint64_t i = 0; i < made.count; ++i) {
      EXPECT(made.numbers[i] >= 0.0624 || made.numbers[i] <= -0.0624);
      EXPECT_NEAR(made.numbers[i], again.numbers[i], 0);
      negative += made.numbers[i] < 0 ? 1U : 0U;
    }
    EXPECT(negative > 200 && negative < 600);
  }
}

TENON_TEST(integers_fit_their_type_and_count_little_in_wide_ones) {
  tenon__data_wish_t wish = {.dtype = TENON_DTYPE_INT64, .rank = 1, .dims = DIMS(500)};
  made_t made = make(&wish);
  expect_within(&made, 0, 1);
  wish.dtype = TENON_DTYPE_UINT8;
  made = make(&wish);
  expect_within(&made, 0, 255);
  EXPECT(made.numbers[0] != made.numbers[1] || made.numbers[1] != made.numbers[2]);
  wish.dtype = TENON_DTYPE_INT4;
  made = make(&wish);
  expect_within(&made, -8, 7);
  wish.dtype = TENON_DTYPE_BOOL;
  made = make(&wish);
  expect_within(&made, 0, 1);
}

TENON_TEST(ranges_signs_and_order_are_kept) {
  tenon__data_wish_t wish = {
      .dtype = TENON_DTYPE_FLOAT32,
      .rank = 2,
      .dims = DIMS(5, 100),
      .domain = {.has_range = true, .min = -3, .max = -1, .is_sorted = true}};
  made_t made = make(&wish);
  expect_within(&made, -3, -1);
  for (uint64_t i = 0; i < made.count; ++i) {
    EXPECT(i % 100 == 0 || made.numbers[i] >= made.numbers[i - 1]);
  }
  wish.domain = (tenon__domain_t){.has_range = true, .min = 1, .max = HUGE_VAL};
  made = make(&wish);
  expect_within(&made, 1, 11);
  wish.domain = (tenon__domain_t){.is_positive = true};
  made = make(&wish);
  expect_within(&made, 1e-6, 2);
  wish.dtype = TENON_DTYPE_INT32;
  made = make(&wish);
  expect_within(&made, 1, 1);
  wish.domain = (tenon__domain_t){.has_range = true, .min = -2, .max = 2, .is_nonzero = true};
  made = make(&wish);
  expect_within(&made, -2, 2);
  for (uint64_t i = 0; i < made.count; ++i) {
    EXPECT(made.numbers[i] != 0);
  }
}

TENON_TEST(indices_stay_within_the_axis) {
  tenon__data_wish_t wish = {.dtype = TENON_DTYPE_INT64,
                             .rank = 2,
                             .dims = DIMS(20, 30),
                             .domain = {.places = TENON_DOMAIN_INDEX},
                             .limit_count = 1,
                             .limits = DIMS(7)};
  made_t made = make(&wish);
  expect_within(&made, 0, 6);
  wish.limits = DIMS(1);
  made = make(&wish);
  expect_within(&made, 0, 0);
  wish.dims = DIMS(20, 2);
  wish.domain.places = TENON_DOMAIN_COORDINATES;
  wish.limit_count = 2;
  wish.limits = DIMS(1, 5);
  made = make(&wish);
  for (uint64_t i = 0; i < made.count; ++i) {
    EXPECT(made.numbers[i] >= 0 && made.numbers[i] < (i % 2 == 0 ? 1 : 5));
  }
}

TENON_TEST(distinct_places_are_distinct) {
  bool seen[64] = {false};
  tenon__data_wish_t wish = {.dtype = TENON_DTYPE_INT32,
                             .rank = 2,
                             .dims = DIMS(6, 4),
                             .domain = {.places = TENON_DOMAIN_INDEX, .is_distinct = true},
                             .limit_count = 1,
                             .limits = DIMS(6)};
  made_t made = make(&wish); /* along axis 0: each column holds 0 to 5 */
  for (uint64_t column = 0; column < 4; ++column) {
    memset(seen, 0, sizeof(seen));
    for (uint64_t row = 0; row < 6; ++row) {
      const int at = (int)made.numbers[row * 4 + column];
      EXPECT(at >= 0 && at < 6 && !seen[at]);
      seen[at] = true;
    }
  }
  wish.domain.places = TENON_DOMAIN_COORDINATES;
  wish.dims = DIMS(20, 2);
  wish.limit_count = 2;
  wish.limits = DIMS(4, 8);
  made = make(&wish);
  memset(seen, 0, sizeof(seen));
  for (uint64_t tuple = 0; tuple < 20; ++tuple) {
    const int at = (int)(made.numbers[2 * tuple] * 8 + made.numbers[2 * tuple + 1]);
    EXPECT(at >= 0 && at < 32 && !seen[at]);
    seen[at] = true;
  }
}

TENON_TEST(a_range_that_no_type_holds_ends_where_the_type_does) {
  tenon__data_wish_t wish = {.dtype = TENON_DTYPE_INT64,
                             .rank = 1,
                             .dims = DIMS(500),
                             .domain = {.has_range = true, .min = 0, .max = 1e30}};
  made_t made = make(&wish);
  expect_within(&made, 0, 0x1p62);
  EXPECT(made.numbers[0] != made.numbers[1]);
  wish.dtype = TENON_DTYPE_INT8;
  made = make(&wish);
  expect_within(&made, 0, 127);
  wish.domain = (tenon__domain_t){.has_range = true, .min = -1e30, .max = 1e30};
  made = make(&wish);
  expect_within(&made, -128, 127);
}

TENON_TEST(a_wish_gives_the_range_that_the_domain_does_not) {
  tenon__data_wish_t wish = {
      .dtype = TENON_DTYPE_INT64, .rank = 1, .dims = DIMS(500), .low = -4, .high = 4};
  made_t made = make(&wish);
  bool has_less = false;
  expect_within(&made, -4, 4);
  for (uint64_t i = 0; i < made.count; ++i) {
    has_less = has_less || made.numbers[i] < -1;
  }
  EXPECT(has_less);
  wish.domain.is_nonzero = true;
  made = make(&wish);
  for (uint64_t i = 0; i < made.count; ++i) {
    EXPECT(made.numbers[i] != 0);
  }
  wish.dtype = TENON_DTYPE_UINT8;
  made = make(&wish);
  expect_within(&made, 1, 4);
  wish.dtype = TENON_DTYPE_FLOAT64;
  wish.seed = 7;
  made = make(&wish);
  wish.seed = 8;
  EXPECT(make(&wish).numbers[0] != made.numbers[0]);
  wish.domain = (tenon__domain_t){.has_range = true, .min = 3, .max = HUGE_VAL};
  made = make(&wish);
  expect_within(&made, 3, 13);
}

/* What is long repeats itself, in every type of whole bytes. */
TENON_TEST(what_is_long_repeats_itself) {
  enum { PERIOD = 1048573, COUNT = PERIOD + 1000 };
  static uint16_t halves[COUNT];
  const int64_t dims[] = {COUNT};
  const tenon__data_wish_t wish = {.dtype = TENON_DTYPE_FLOAT16, .rank = 1, .dims = dims};
  tenon__data_make(&wish, halves);
  EXPECT(memcmp(halves, halves + PERIOD, (COUNT - PERIOD) * sizeof *halves) == 0);
  EXPECT(halves[0] != halves[1] && halves[PERIOD - 1] != 0);
}
