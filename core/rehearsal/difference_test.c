/* Two tensors agree within the tolerance alone: what is no number agrees only with its like. */
#include "core/rehearsal/difference.h"

#include <math.h>

#include "core/base/allocator.h"
#include "core/base/test.h"
#include "core/tensor/dtype.h"

enum { MOST = 16 };

static const int64_t vector_strides[] = {1};

static const tenon_dtype_t float_types[] = {TENON_DTYPE_FLOAT16, TENON_DTYPE_BFLOAT16,
                                            TENON_DTYPE_FLOAT32, TENON_DTYPE_FLOAT64};
enum { FLOAT_TYPE_COUNT = sizeof float_types / sizeof *float_types };

static tenon_tensor_view_t view_of(const void* data, tenon_dtype_t dtype, uint32_t rank,
                                   const int64_t* dims, const int64_t* strides) {
  return (tenon_tensor_view_t){.data = tenon__drop_const(data),
                               .dims = dims,
                               .strides = strides,
                               .rank = rank,
                               .dtype = dtype,
                               .layout = TENON_NONE};
}

/* How many of the numbers differ, kept in this type. */
static uint64_t differ(tenon_dtype_t dtype, int64_t count, const double* a, const double* b,
                       const tenon__tolerance_t* tolerance, tenon__difference_t* out_difference) {
  double first[MOST];
  double second[MOST];
  for (int64_t k = 0; k < count; ++k) {
    tenon__element_store(first, dtype, (uint64_t)k, (tenon__scalar_t){.f = a[k]},
                         TENON_DTYPE_FLOAT64);
    tenon__element_store(second, dtype, (uint64_t)k, (tenon__scalar_t){.f = b[k]},
                         TENON_DTYPE_FLOAT64);
  }
  const tenon_tensor_view_t x = view_of(first, dtype, 1, &count, vector_strides);
  const tenon_tensor_view_t y = view_of(second, dtype, 1, &count, vector_strides);
  const bool are_other = tenon__tensors_differ(&x, &y, tolerance, out_difference);
  EXPECT_INT(are_other, out_difference->count > 0);
  return out_difference->count;
}

static uint64_t pair_differs(tenon_dtype_t dtype, double a, double b,
                             const tenon__tolerance_t* tolerance) {
  tenon__difference_t difference;
  return differ(dtype, 1, &a, &b, tolerance, &difference);
}

TENON_TEST(an_infinity_agrees_with_itself_alone) {
  static const tenon__tolerance_t tolerances[] = {
      {0, 0, 0}, {1e-3, 0, 0}, {1e-3, 1e-3, 0}, {0, 1e300, 0}};
  for (size_t t = 0; t < sizeof tolerances / sizeof *tolerances; ++t) {
    for (size_t k = 0; k < FLOAT_TYPE_COUNT; ++k) {
      const tenon_dtype_t dtype = float_types[k];
      EXPECT_INT(pair_differs(dtype, HUGE_VAL, HUGE_VAL, &tolerances[t]), 0);
      EXPECT_INT(pair_differs(dtype, -HUGE_VAL, -HUGE_VAL, &tolerances[t]), 0);
      EXPECT_INT(pair_differs(dtype, HUGE_VAL, 5, &tolerances[t]), 1);
      EXPECT_INT(pair_differs(dtype, 5, -HUGE_VAL, &tolerances[t]), 1);
      EXPECT_INT(pair_differs(dtype, HUGE_VAL, -HUGE_VAL, &tolerances[t]), 1);
    }
  }
}

TENON_TEST(not_a_number_agrees_with_not_a_number_alone) {
  const tenon__tolerance_t tolerance = {1e-3, 1e300, 0};
  for (size_t k = 0; k < FLOAT_TYPE_COUNT; ++k) {
    const tenon_dtype_t dtype = float_types[k];
    EXPECT_INT(pair_differs(dtype, NAN, NAN, &tolerance), 0);
    EXPECT_INT(pair_differs(dtype, NAN, 1, &tolerance), 1);
    EXPECT_INT(pair_differs(dtype, 1, NAN, &tolerance), 1);
    EXPECT_INT(pair_differs(dtype, NAN, HUGE_VAL, &tolerance), 1);
  }
}

TENON_TEST(both_parts_of_a_complex_number_are_compared) {
  const tenon__tolerance_t tolerance = {1e-3, 1e-3, 0};
  const float finite[] = {1, 2};
  const float infinite[] = {1, HUGE_VALF};
  const int64_t one = 1;
  const tenon_dtype_t dtype = TENON_DTYPE_COMPLEX64;
  const tenon_tensor_view_t x = view_of(finite, dtype, 1, &one, vector_strides);
  const tenon_tensor_view_t y = view_of(infinite, dtype, 1, &one, vector_strides);
  tenon__difference_t difference;
  EXPECT(tenon__tensors_differ(&x, &y, &tolerance, &difference));
  EXPECT(!tenon__tensors_differ(&y, &y, &tolerance, &difference));
}

TENON_TEST(finite_numbers_agree_within_the_tolerance) {
  const tenon__tolerance_t relative = {0.125, 0, 0};
  const tenon__tolerance_t absolute = {0, 0.25, 0};
  for (size_t k = 0; k < FLOAT_TYPE_COUNT; ++k) {
    const tenon_dtype_t dtype = float_types[k];
    EXPECT_INT(pair_differs(dtype, 16, 14, &relative), 0); /* an eighth of the larger, just */
    EXPECT_INT(pair_differs(dtype, 16, 13, &relative), 1);
    EXPECT_INT(pair_differs(dtype, -16, 16, &relative), 1);
    EXPECT_INT(pair_differs(dtype, 0, 0.25, &absolute), 0);
    EXPECT_INT(pair_differs(dtype, 0, 0.5, &absolute), 1);
  }
}

/* The largest floats: their difference, or the tolerance, is none any more. */
TENON_TEST(the_largest_floats_are_numbers_like_others) {
  const tenon__tolerance_t narrow = {1e-3, 0, 0};
  const tenon__tolerance_t wide = {1e-3, 1e39, 0};
  EXPECT_INT(pair_differs(TENON_DTYPE_FLOAT32, 3e38, -3e38, &narrow), 1);
  EXPECT_INT(pair_differs(TENON_DTYPE_FLOAT32, 3e38, -3e38, &wide), 0);
  EXPECT_INT(pair_differs(TENON_DTYPE_FLOAT32, HUGE_VAL, 3e38, &wide), 1);
}

TENON_TEST(a_share_of_the_elements_may_differ) {
  const double a[] = {1, 2, 3, 4, 5, 6, 7, 8};
  double b[] = {1, 2, 30, 4, 5, 6, 7, 8};
  const tenon__tolerance_t tolerance = {0, 0, 0.125};
  const int64_t count = 8;
  const tenon_tensor_view_t x = view_of(a, TENON_DTYPE_FLOAT64, 1, &count, vector_strides);
  const tenon_tensor_view_t y = view_of(b, TENON_DTYPE_FLOAT64, 1, &count, vector_strides);
  tenon__difference_t difference;
  EXPECT(!tenon__tensors_differ(&x, &y, &tolerance, &difference));
  EXPECT_INT(difference.count, 1);
  b[5] = 7;
  EXPECT(tenon__tensors_differ(&x, &y, &tolerance, &difference));
  EXPECT_INT(difference.count, 2);
  EXPECT_INT(difference.at, 2);
  EXPECT_NEAR(difference.first, 3, 0);
  EXPECT_NEAR(difference.second, 30, 0);
}

TENON_TEST(the_place_is_counted_in_rows_whatever_the_order) {
  double rows[] = {0, 1, 2, 3, 4, 5};
  double columns[] = {0, 3, 1, 9, 2, 5}; /* 9 for 4: row 1, column 1 */
  const int64_t dims[] = {2, 3};
  const int64_t row_strides[] = {3, 1};
  const int64_t column_strides[] = {1, 2};
  const tenon__tolerance_t tolerance = {0};
  const tenon_tensor_view_t x = view_of(rows, TENON_DTYPE_FLOAT64, 2, dims, row_strides);
  tenon_tensor_view_t y = view_of(columns, TENON_DTYPE_FLOAT64, 2, dims, column_strides);
  tenon__difference_t difference;
  EXPECT(tenon__tensors_differ(&x, &y, &tolerance, &difference));
  EXPECT_INT(difference.at, 4);
  EXPECT_INT(difference.count, 1);
  EXPECT(tenon__tensors_differ(&y, &x, &tolerance, &difference));
  EXPECT_INT(difference.at, 4);
  y.dims = (const int64_t[]){3, 2};
  EXPECT(tenon__tensors_differ(&x, &y, &tolerance, &difference));
  EXPECT(difference.is_shape);
}

TENON_TEST(the_magnitude_is_the_largest_finite_one) {
  double numbers[] = {1, -7, HUGE_VAL, NAN, 3};
  const int64_t count = 5;
  const tenon_tensor_view_t view = view_of(numbers, TENON_DTYPE_FLOAT64, 1, &count, vector_strides);
  EXPECT_NEAR(tenon__tensor_magnitude(&view), 7, 0);
}

/* Sums of f32 in f16 may differ by more than sums in f32; whole numbers not at all. */
TENON_TEST(the_tolerance_follows_the_arithmetic) {
  const int64_t dims[] = {64, 64};
  tenon_value_info_t values[3] = {0};
  const uint32_t inputs[] = {0, 1};
  const uint32_t outputs[] = {2};
  for (uint32_t k = 0; k < 3; ++k) {
    values[k].dtype = TENON_DTYPE_FLOAT32;
    values[k].rank = 2;
    values[k].dims_opt = dims;
  }
  const struct tenon_region_t region = {.input_count = 2,
                                        .output_count = 1,
                                        .value_count = 3,
                                        .values = values,
                                        .input_values = inputs,
                                        .output_values = outputs};
  const tenon_numerics_t usual = {0};
  const tenon_numerics_t half = {.accumulator_dtype = TENON_DTYPE_FLOAT16};
  const tenon__making_t usually = {.numerics = &usual};
  const tenon__making_t kept = {.numerics = &usual, .stored = TENON_DTYPE_BFLOAT16};
  const tenon__tolerance_t stored = tenon__tolerance_of(&region, 0, 1, usually, kept);
  const tenon__tolerance_t narrow = tenon__tolerance_of(&region, 0, 1, usually, usually);
  const tenon__tolerance_t wide =
      tenon__tolerance_of(&region, 0, 1, usually, (tenon__making_t){&half, 0});
  EXPECT(narrow.relative > 0 && narrow.relative < 1e-4);
  EXPECT(stored.relative > 1000 * narrow.relative && stored.relative < 0.1);
  EXPECT(wide.relative > 1000 * narrow.relative && wide.absolute > 1000 * narrow.absolute);
  values[2].dtype = TENON_DTYPE_INT32;
  values[0].dtype = values[1].dtype = TENON_DTYPE_INT32;
  const tenon__tolerance_t whole = tenon__tolerance_of(&region, 0, 1, usually, usually);
  EXPECT_NEAR(whole.relative + whole.absolute + whole.share, 0, 0);
}
