/* Pools: padding, what counts, where the maximum was. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32

TENON_TEST(finds_maxima_and_their_places) {
  fake_t f = fake_of("standard.max_pool/1");
  fake_ints(&f, "kernel_shape", INTS(2, 2));
  fake_int(&f, "storage_order", 1);
  fake_input(&f, F32, DIMS(1, 1, 2, 3), NUMBERS(1, 5, 2, 4, 3, 6));
  fake_output(&f, F32, DIMS(1, 1, 1, 2));
  fake_output(&f, TENON_DTYPE_INT64, DIMS(1, 1, 1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 5, 6);
  EXPECT_NUMBERS(&f, 1, 0.0, 2, 5);
  fake_done(&f);
}

TENON_TEST(averages_what_counts) {
  for (int with_padding = 0; with_padding < 2; ++with_padding) {
    fake_t f = fake_of("standard.average_pool/1");
    fake_ints(&f, "kernel_shape", INTS(3));
    fake_ints(&f, "strides", INTS(2));
    fake_ints(&f, "pads", INTS(1, 0));
    fake_int(&f, "ceil_mode", 1);
    fake_int(&f, "count_include_pad", with_padding);
    fake_input(&f, F32, DIMS(1, 1, 4), NUMBERS(2, 4, 6, 8));
    fake_output(&f, F32, DIMS(1, 1, 2));
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    EXPECT_NUMBERS(&f, 0, 0.0, with_padding != 0 ? 2 : 3, 6);
    fake_done(&f);
  }
}

TENON_TEST(takes_norms) {
  fake_t f = fake_of("standard.lp_pool/1");
  fake_ints(&f, "kernel_shape", INTS(2));
  fake_int(&f, "p", 2);
  fake_input(&f, F32, DIMS(1, 1, 3), NUMBERS(3, -4, 0));
  fake_output(&f, F32, DIMS(1, 1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 5, 4);
  fake_done(&f);
}

TENON_TEST(puts_values_back) {
  fake_t f = fake_of("standard.max_unpool/1");
  fake_ints(&f, "kernel_shape", INTS(2));
  fake_ints(&f, "strides", INTS(2));
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(7, 9));
  fake_input(&f, TENON_DTYPE_INT64, DIMS(1, 1, 2), NUMBERS(1, 2));
  fake_output(&f, F32, DIMS(1, 1, 4));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 0, 7, 9, 0);
  fake_done(&f);
}

TENON_TEST(refuses_places_outside) {
  fake_t f = fake_of("standard.max_unpool/1");
  fake_ints(&f, "kernel_shape", INTS(2));
  fake_input(&f, F32, DIMS(1, 1, 1), NUMBERS(7));
  fake_input(&f, TENON_DTYPE_INT64, DIMS(1, 1, 1), NUMBERS(2));
  fake_output(&f, F32, DIMS(1, 1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_ERROR_INVALID_DATA);
  EXPECT(strstr(f.failure, "2") != NULL);
  fake_done(&f);
}

TENON_TEST(normalises_across_channels) {
  fake_t f = fake_of("standard.lrn/1");
  fake_int(&f, "window", 3);
  fake_float(&f, "alpha", 3.0);
  fake_float(&f, "beta", 1.0);
  fake_float(&f, "bias", 1.0);
  fake_input(&f, F32, DIMS(1, 3), NUMBERS(1, 2, 3));
  fake_output(&f, F32, DIMS(1, 3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 1.0 / 6, 2.0 / 15, 3.0 / 14);
  fake_done(&f);
}
