/* Convolutions against sums done by hand. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32
#define NINE NUMBERS(1, 2, 3, 4, 5, 6, 7, 8, 9)

TENON_TEST(sums_windows_and_adds_the_bias) {
  fake_t f = fake_of("standard.convolution/1");
  fake_int(&f, "groups", 1);
  fake_input(&f, F32, DIMS(1, 1, 3, 3), NINE);
  fake_input(&f, F32, DIMS(1, 1, 2, 2), NUMBERS(1, 0, 0, 10));
  fake_input(&f, F32, DIMS(1), NUMBERS(0.5));
  fake_output(&f, F32, DIMS(1, 1, 2, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 51.5, 62.5, 84.5, 95.5);
  fake_done(&f);
}

TENON_TEST(pads_strides_dilates_in_one_dimension) {
  fake_t f = fake_of("standard.convolution/1");
  fake_int(&f, "groups", 1);
  fake_ints(&f, "pads", INTS(1, 2));
  fake_ints(&f, "strides", INTS(2));
  fake_ints(&f, "dilations", INTS(2));
  fake_input(&f, F32, DIMS(1, 1, 5), NUMBERS(1, 2, 3, 4, 5));
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(1, 100));
  fake_output(&f, F32, DIMS(1, 1, 3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 200, 402, 4);
  fake_done(&f);
}

TENON_TEST(keeps_groups_apart) {
  fake_t f = fake_of("standard.convolution/1");
  fake_int(&f, "groups", 2);
  fake_input(&f, F32, DIMS(1, 2, 2), NUMBERS(1, 2, 3, 4));
  fake_input(&f, F32, DIMS(2, 1, 1), NUMBERS(10, 100));
  fake_output(&f, F32, DIMS(1, 2, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 10, 20, 300, 400);
  fake_done(&f);
}

TENON_TEST(same_padding_leans_to_the_named_side) {
  for (int lower = 0; lower < 2; ++lower) {
    fake_t f = fake_of("standard.convolution/1");
    fake_int(&f, "groups", 1);
    fake_string(&f, "auto_pad", lower != 0 ? "same_lower" : "same_upper");
    fake_input(&f, F32, DIMS(1, 1, 3), NUMBERS(1, 2, 3));
    fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(1, 1));
    fake_output(&f, F32, DIMS(1, 1, 3));
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    EXPECT_NUMBERS(&f, 0, 0.0, lower != 0 ? 1 : 3, lower != 0 ? 3 : 5, lower != 0 ? 5 : 3);
    fake_done(&f);
  }
}

TENON_TEST(integers_lose_their_zero_points) {
  fake_t f = fake_of("standard.convolution_integer/1");
  fake_int(&f, "groups", 1);
  fake_ints(&f, "pads", INTS(1, 0));
  fake_input(&f, TENON_DTYPE_UINT8, DIMS(1, 1, 2), NUMBERS(10, 20));
  fake_input(&f, TENON_DTYPE_INT8, DIMS(1, 1, 2), NUMBERS(1, -2));
  fake_input(&f, TENON_DTYPE_UINT8, SCALAR, NUMBERS(5));
  fake_input(&f, TENON_DTYPE_INT8, DIMS(1), NUMBERS(-1));
  fake_output(&f, TENON_DTYPE_INT32, DIMS(1, 1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, -5, -5);
  fake_done(&f);
}

TENON_TEST(deconvolution_spreads_each_element) {
  fake_t f = fake_of("standard.deconvolution/1");
  fake_int(&f, "groups", 1);
  fake_ints(&f, "strides", INTS(2));
  fake_ints(&f, "pads", INTS(1, 0));
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(1, 2));
  fake_input(&f, F32, DIMS(1, 1, 3), NUMBERS(1, 10, 100));
  fake_output(&f, F32, DIMS(1, 1, 4));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 10, 102, 20, 200);
  fake_done(&f);
}

TENON_TEST(deformable_reads_between_pixels) {
  fake_t f = fake_of("standard.deformable_convolution/1");
  fake_int(&f, "groups", 1);
  fake_int(&f, "offset_groups", 1);
  fake_input(&f, F32, DIMS(1, 1, 2, 2), NUMBERS(1, 2, 3, 4));
  fake_input(&f, F32, DIMS(1, 1, 1, 1), NUMBERS(2));
  fake_input(&f, F32, DIMS(1, 2, 2, 2), NUMBERS(0.5, 0, 0, 0, 0.5, 0, 0, 0.25));
  fake_output(&f, F32, DIMS(1, 1, 2, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 5, 4, 6, 6);
  fake_done(&f);
}

TENON_TEST(causal_convolution_carries_its_past) {
  fake_t f = fake_of("standard.causal_convolution/1");
  fake_string(&f, "activation", "none");
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(1, 2));
  fake_input(&f, F32, DIMS(1, 1, 3), NUMBERS(100, 10, 1));
  fake_absent(&f);
  fake_input(&f, F32, DIMS(1, 1, 2), NUMBERS(8, 9));
  fake_output(&f, F32, DIMS(1, 1, 2));
  fake_output(&f, F32, DIMS(1, 1, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 891, 912);
  EXPECT_NUMBERS(&f, 1, 0.0, 1, 2);
  fake_done(&f);
}
