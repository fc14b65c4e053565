/* Order, search, scattering. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32
#define I64 TENON_DTYPE_INT64

TENON_TEST(top_k_breaks_ties_by_index) {
  fake_t f = fake_of("standard.top_k/1");
  fake_int(&f, "axis", -1);
  fake_int(&f, "largest", 1);
  fake_input(&f, F32, DIMS(1, 4), NUMBERS(2, 7, 7, 1));
  fake_input(&f, I64, DIMS(1), NUMBERS(3));
  fake_output(&f, F32, DIMS(1, 3));
  fake_output(&f, I64, DIMS(1, 3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 7, 7, 2);
  EXPECT_NUMBERS(&f, 1, 0.0, 1, 2, 0);
  fake_done(&f);
}

TENON_TEST(running_sums_go_both_ways) {
  fake_t f = fake_of("standard.cumulative_sum/1");
  fake_int(&f, "exclusive", 1);
  fake_int(&f, "reverse", 1);
  fake_input(&f, TENON_DTYPE_INT32, DIMS(2, 3), NUMBERS(1, 2, 3, 4, 5, 6));
  fake_input(&f, TENON_DTYPE_INT32, SCALAR, NUMBERS(-1));
  fake_output(&f, TENON_DTYPE_INT32, DIMS(2, 3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 5, 3, 0, 11, 6, 0);
  fake_done(&f);
}

TENON_TEST(nonzero_lists_coordinates_in_columns) {
  fake_t f = fake_of("standard.nonzero/1");
  fake_input(&f, TENON_DTYPE_BOOL, DIMS(2, 2), NUMBERS(1, 0, 1, 1));
  fake_unbounded(&f, I64);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 2, 3);
  EXPECT_NUMBERS(&f, 0, 0.0, 0, 1, 1, 0, 0, 1);
  fake_done(&f);
}

TENON_TEST(compress_keeps_slices) {
  fake_t f = fake_of("standard.compress/1");
  fake_int(&f, "axis", 1);
  fake_int(&f, "flat", 0);
  fake_input(&f, F32, DIMS(2, 3), NUMBERS(1, 2, 3, 4, 5, 6));
  fake_input(&f, TENON_DTYPE_BOOL, DIMS(3), NUMBERS(1, 0, 1));
  fake_unbounded(&f, F32);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 2, 2);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 3, 4, 6);
  fake_done(&f);
}

TENON_TEST(unique_tells_where_and_how_often) {
  fake_t f = fake_of("standard.unique/1");
  fake_int(&f, "flat", 1);
  fake_int(&f, "sorted", 1);
  fake_input(&f, F32, DIMS(6), NUMBERS(2, 1, 1, 3, 4, 3));
  fake_unbounded(&f, F32);
  fake_unbounded(&f, I64);
  fake_output(&f, I64, DIMS(6));
  fake_unbounded(&f, I64);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 2, 3, 4);
  EXPECT_NUMBERS(&f, 1, 0.0, 1, 0, 3, 4);
  EXPECT_NUMBERS(&f, 2, 0.0, 1, 0, 0, 2, 3, 2);
  EXPECT_NUMBERS(&f, 3, 0.0, 2, 1, 2, 1);
  fake_done(&f);
}

enum { MANY = 1000, FEW = 37 };

/* Compares the outputs with a search among `values`, which are the distinct ones in their order. */
static void expect_unique(const fake_t* f, const double* x, const double* values) {
  double first[FEW] = {0};
  double times[FEW] = {0};
  double which[MANY] = {0};
  for (int k = MANY - 1; k >= 0; --k) {
    int at = 0;
    while (values[at] != x[k]) {
      ++at;
    }
    first[at] = k;
    ++times[at];
    which[k] = at;
  }
  fake_expect_numbers(f, FAKE_HERE, 0, 0.0, values, FEW);
  fake_expect_numbers(f, FAKE_HERE, 1, 0.0, first, FEW);
  fake_expect_numbers(f, FAKE_HERE, 2, 0.0, which, MANY);
  fake_expect_numbers(f, FAKE_HERE, 3, 0.0, times, FEW);
}

/* In order of value, and of first occurrence: 7 k modulo 37, minus 11. */
TENON_TEST(unique_of_many_numbers) {
  double x[MANY];
  for (int k = 0; k < MANY; ++k) {
    x[k] = (7 * k + (k >= FEW ? k / 5 : 0)) % FEW - 11;
  }
  for (int sorted = 0; sorted < 2; ++sorted) {
    double values[FEW];
    for (int k = 0; k < FEW; ++k) {
      values[k] = sorted != 0 ? k - 11 : x[k];
    }
    fake_t f = fake_of("standard.unique/1");
    fake_int(&f, "flat", 1);
    fake_int(&f, "sorted", sorted);
    fake_input(&f, F32, DIMS(MANY), x);
    fake_unbounded(&f, F32);
    fake_unbounded(&f, I64);
    fake_output(&f, I64, DIMS(MANY));
    fake_unbounded(&f, I64);
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    expect_unique(&f, x, values);
    fake_done(&f);
  }
}

TENON_TEST(scatter_adds_where_indices_repeat) {
  fake_t f = fake_of("standard.scatter_elements/1");
  fake_int(&f, "axis", 1);
  fake_string(&f, "reduction", "add");
  fake_input(&f, F32, DIMS(1, 4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1, 2), NUMBERS(1, -3));
  fake_input(&f, F32, DIMS(1, 2), NUMBERS(10, 100));
  fake_output(&f, F32, DIMS(1, 4));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 112, 3, 4);
  fake_done(&f);
}

static fake_t scatter_at(double index) {
  fake_t f = fake_of("standard.scatter_nd/1");
  fake_string(&f, "reduction", "none");
  fake_input(&f, F32, DIMS(2, 2), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1, 1), &index);
  fake_input(&f, F32, DIMS(1, 2), NUMBERS(8, 9));
  fake_output(&f, F32, DIMS(2, 2));
  return f;
}

TENON_TEST(scatter_nd_replaces_slices) {
  fake_t f = scatter_at(1);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 2, 8, 9);
  fake_done(&f);
}

TENON_TEST(scatter_nd_refuses_what_is_outside) {
  fake_t f = scatter_at(2);
  EXPECT_STATUS(fake_run(&f), TENON_ERROR_INVALID_DATA);
  fake_done(&f);
}

/* The extents of the operator's check are dynamic. */
TENON_TEST(scatter_nd_refuses_too_few_updates) {
  fake_t f = fake_of("standard.scatter_nd/1");
  fake_string(&f, "reduction", "none");
  fake_input(&f, F32, DIMS(2, 2), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1, 1), NUMBERS(1));
  fake_input(&f, F32, DIMS(1), NUMBERS(8));
  fake_output(&f, F32, DIMS(2, 2));
  EXPECT_STATUS(fake_run(&f), TENON_ERROR_INVALID_DATA);
  fake_done(&f);
}

/* Coordinates of no axes stand for all of x. */
TENON_TEST(scatter_nd_without_coordinates_adds_to_all) {
  fake_t f = fake_of("standard.scatter_nd/1");
  fake_string(&f, "reduction", "add");
  fake_input(&f, F32, DIMS(2), NUMBERS(1, 2));
  fake_input(&f, I64, DIMS(3, 0), NULL);
  fake_input(&f, F32, DIMS(3, 2), NUMBERS(1, 2, 3, 4, 5, 6));
  fake_output(&f, F32, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 10, 14);
  fake_done(&f);
}

TENON_TEST(caches_are_written_around_the_end) {
  fake_t f = fake_of("standard.tensor_scatter/1");
  fake_int(&f, "axis", -2);
  fake_string(&f, "mode", "circular");
  fake_input(&f, F32, DIMS(1, 3, 1), NUMBERS(1, 2, 3));
  fake_input(&f, F32, DIMS(1, 2, 1), NUMBERS(8, 9));
  fake_input(&f, I64, DIMS(1), NUMBERS(2));
  fake_output(&f, F32, DIMS(1, 3, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 9, 2, 8);
  fake_done(&f);
}

TENON_TEST(suppression_keeps_the_best_of_overlapping_boxes) {
  fake_t f = fake_of("standard.non_max_suppression/1");
  fake_int(&f, "center_point_box", 0);
  fake_input(&f, F32, DIMS(1, 3, 4), NUMBERS(0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11));
  fake_input(&f, F32, DIMS(1, 1, 3), NUMBERS(0.8, 0.9, 0.5));
  fake_input(&f, I64, DIMS(1), NUMBERS(3));
  fake_input(&f, F32, DIMS(1), NUMBERS(0.5));
  fake_input(&f, F32, DIMS(1), NUMBERS(0.0));
  fake_unbounded(&f, I64);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_DIMS(&f, 0, 2, 3);
  EXPECT_NUMBERS(&f, 0, 0.0, 0, 0, 1, 0, 0, 2);
  fake_done(&f);
}
