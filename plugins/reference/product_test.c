/* Products: batches that broadcast, vectors, integers that wrap, equations. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32

TENON_TEST(multiplies_over_broadcast_batches) {
  fake_t f = fake_of("standard.mat_mul/1");
  fake_input(&f, F32, DIMS(2, 1, 2), NUMBERS(1, 2, 3, 4));
  fake_input(&f, F32, DIMS(2, 2), NUMBERS(1, 10, 100, 1000));
  fake_output(&f, F32, DIMS(2, 1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 201, 2010, 403, 4030);
  fake_done(&f);
}

TENON_TEST(multiplies_vectors) {
  fake_t f = fake_of("standard.mat_mul/1");
  fake_input(&f, TENON_DTYPE_INT64, DIMS(2), NUMBERS(3, 4));
  fake_input(&f, TENON_DTYPE_INT64, DIMS(2), NUMBERS(5, 6));
  fake_output(&f, TENON_DTYPE_INT64, SCALAR);
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 39);
  fake_done(&f);
}

TENON_TEST(integers_have_zero_points_by_row_and_column) {
  fake_t f = fake_of("standard.mat_mul_integer/1");
  fake_input(&f, TENON_DTYPE_UINT8, DIMS(2, 2), NUMBERS(1, 2, 3, 4));
  fake_input(&f, TENON_DTYPE_INT8, DIMS(2, 1), NUMBERS(10, 20));
  fake_input(&f, TENON_DTYPE_UINT8, DIMS(2), NUMBERS(1, 3));
  fake_input(&f, TENON_DTYPE_INT8, SCALAR, NUMBERS(10));
  fake_output(&f, TENON_DTYPE_INT32, DIMS(2, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 10, 10);
  fake_done(&f);
}

TENON_TEST(equations_sum_diagonals_and_broadcast) {
  fake_t f = fake_of("standard.einsum/1");
  fake_string(&f, "equation", "...ii -> ...i");
  fake_input(&f, F32, DIMS(2, 2, 2), NUMBERS(1, 2, 3, 4, 5, 6, 7, 8));
  fake_output(&f, F32, DIMS(2, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 4, 5, 8);
  fake_done(&f);
  fake_t g = fake_of("standard.einsum/1");
  fake_string(&g, "equation", "ba,ca");
  fake_input(&g, F32, DIMS(1, 2), NUMBERS(1, 2));
  fake_input(&g, F32, DIMS(2, 2), NUMBERS(1, 0, 0, 1));
  fake_output(&g, F32, DIMS(1, 2));
  EXPECT_STATUS(fake_run(&g), TENON_OK);
  EXPECT_NUMBERS(&g, 0, 0.0, 1, 2);
  fake_done(&g);
}

TENON_TEST(determinants_swap_rows) {
  fake_t f = fake_of("standard.det/1");
  fake_input(&f, F32, DIMS(2, 2, 2), NUMBERS(0, 2, 3, 4, 1, 2, 2, 4));
  fake_output(&f, F32, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, -6, 0);
  fake_done(&f);
}
