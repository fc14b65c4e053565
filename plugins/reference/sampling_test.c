/* Resizing, grids and regions. */
#include "fake_host.h"

#define F32 TENON_DTYPE_FLOAT32
#define I64 TENON_DTYPE_INT64

static fake_t resize(const char* mode, const char* coordinates) {
  fake_t f = fake_of("standard.resize/1");
  fake_string(&f, "mode", mode);
  fake_string(&f, "coordinate_mode", coordinates);
  fake_string(&f, "nearest_mode", "round_prefer_floor");
  fake_float(&f, "cubic_coeff_a", -0.75);
  return f;
}

TENON_TEST(resize_picks_the_nearest) {
  fake_t f = resize("nearest", "half_pixel");
  fake_input(&f, F32, DIMS(1, 4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(2), NUMBERS(2, 6));
  fake_output(&f, F32, DIMS(2, 6));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 1, 2, 3, 3, 4, 1, 1, 2, 3, 3, 4);
  fake_done(&f);
}

TENON_TEST(resize_interpolates) {
  fake_t f = resize("linear", "align_corners");
  fake_input(&f, F32, DIMS(2), NUMBERS(0, 4));
  fake_input(&f, I64, DIMS(1), NUMBERS(5));
  fake_output(&f, F32, DIMS(5));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 0, 1, 2, 3, 4);
  fake_done(&f);
}

TENON_TEST(resize_antialiases_when_it_shrinks) {
  fake_t f = resize("linear", "half_pixel");
  fake_int(&f, "antialias", 1);
  fake_input(&f, F32, DIMS(4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1), NUMBERS(2));
  fake_output(&f, F32, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  /* Weights 0.25 (the edge, twice over), 0.75, 0.75, 0.25 of 2. */
  EXPECT_NUMBERS(&f, 0, 1e-6, (0.25 + 0.75 + 0.75 * 2 + 0.25 * 3) / 2,
                 (0.25 * 2 + 0.75 * 3 + 0.75 * 4 + 0.25 * 4) / 2);
  fake_done(&f);
}

/* round(9 * 0.28) is 3, and by 0.28 a filter has two taps more than by 3 / 9. */
TENON_TEST(resize_antialiases_by_a_scale_that_was_rounded_up) {
  fake_t f = resize("linear", "half_pixel");
  fake_int(&f, "antialias", 1);
  fake_input(&f, F32, DIMS(9), NUMBERS(1, 1, 1, 1, 1, 1, 1, 1, 1));
  fake_input(&f, I64, DIMS(1), NUMBERS(3));
  fake_input(&f, F32, DIMS(1), NUMBERS(0.28));
  fake_output(&f, F32, DIMS(3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 1, 1, 1);
  fake_done(&f);
}

/* Weights may be refitted, and scales are data: none makes of 4 elements 2 with more taps than
 * there is room for, nor asks for an element that no number counts. */
TENON_TEST(resize_refuses_scales_that_are_none) {
  const double scales[] = {0.0, -1.0, NAN, INFINITY, 0.25};
  for (size_t k = 0; k < sizeof scales / sizeof *scales; ++k) {
    fake_t f = resize("linear", "half_pixel");
    fake_int(&f, "antialias", 1);
    fake_input(&f, F32, DIMS(4), NUMBERS(1, 2, 3, 4));
    fake_input(&f, I64, DIMS(1), NUMBERS(2));
    fake_input(&f, F32, DIMS(1), NUMBERS(scales[k]));
    fake_output(&f, F32, DIMS(2));
    EXPECT_STATUS(fake_run(&f), TENON_ERROR_INVALID_DATA);
    fake_done(&f);
  }
}

TENON_TEST(resize_takes_the_last_element_however_far_a_place_is) {
  fake_t f = resize("linear", "asymmetric");
  fake_input(&f, F32, DIMS(4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1), NUMBERS(3));
  fake_input(&f, F32, DIMS(1), NUMBERS(1e-30));
  fake_output(&f, F32, DIMS(3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 0.0, 1, 4, 4);
  fake_done(&f);
}

TENON_TEST(resize_takes_the_pixel_at_the_center) {
  fake_t f = resize("linear", "pixel_center");
  fake_input(&f, F32, DIMS(4), NUMBERS(1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1), NUMBERS(2));
  fake_output(&f, F32, DIMS(2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 2, 4); /* (i + 0.5) * 2: places 1 and 3 */
  fake_done(&f);
}

TENON_TEST(resize_extrapolates_outside_of_the_crop) {
  fake_t f = resize("linear", "tf_crop_and_resize");
  fake_float(&f, "extrapolation_value", 10.0);
  fake_input(&f, F32, DIMS(3), NUMBERS(1, 2, 3));
  fake_input(&f, I64, DIMS(1), NUMBERS(3));
  fake_absent(&f);
  fake_input(&f, F32, DIMS(2), NUMBERS(0.5, 1.5));
  fake_output(&f, F32, DIMS(3));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 2, 3, 10);
  fake_done(&f);
}

/* A scale tells how far pixels are apart before they are cropped; the crop is as long as y. */
TENON_TEST(resize_spreads_the_crop_over_its_own_length) {
  fake_t f = resize("linear", "tf_crop_and_resize");
  fake_input(&f, F32, DIMS(5), NUMBERS(0, 1, 2, 3, 4));
  fake_input(&f, I64, DIMS(1), NUMBERS(5));
  fake_input(&f, F32, DIMS(1), NUMBERS(2));
  fake_input(&f, F32, DIMS(2), NUMBERS(0.25, 0.75));
  fake_output(&f, F32, DIMS(5));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 1, 1.5, 2, 2.5, 3);
  fake_done(&f);
}

/* Only a filter that is wider than a pixel sees that the place is the first pixel's own. */
TENON_TEST(resize_to_one_takes_the_first_as_pytorch_does) {
  fake_t f = resize("cubic", "pytorch_half_pixel");
  fake_input(&f, F32, DIMS(4), NUMBERS(7, 2, 3, 4));
  fake_input(&f, I64, DIMS(1), NUMBERS(1));
  fake_output(&f, F32, DIMS(1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 7);
  fake_done(&f);
}

TENON_TEST(grids_read_between_pixels_and_pad) {
  static const char* const paddings[] = {"zeros", "border", "reflection"};
  static const double expected[] = {2.0, 4.0, 4.0};
  for (int which = 0; which < 3; ++which) {
    fake_t f = fake_of("standard.grid_sample/1");
    fake_string(&f, "mode", "linear");
    fake_string(&f, "padding_mode", paddings[which]);
    fake_int(&f, "align_corners", 0);
    fake_input(&f, F32, DIMS(1, 1, 1, 2), NUMBERS(2, 4));
    fake_input(&f, F32, DIMS(1, 1, 2, 2), NUMBERS(0, 0, 1, 0));
    fake_output(&f, F32, DIMS(1, 1, 1, 2));
    EXPECT_STATUS(fake_run(&f), TENON_OK);
    EXPECT_NUMBERS(&f, 0, 1e-6, 3, expected[which]);
    fake_done(&f);
  }
}

TENON_TEST(affine_grids_name_the_innermost_axis_first) {
  fake_t f = fake_of("standard.affine_grid/1");
  fake_int(&f, "align_corners", 1);
  fake_input(&f, F32, DIMS(1, 2, 3), NUMBERS(1, 0, 0, 0, 1, 0.5));
  fake_input(&f, I64, DIMS(4), NUMBERS(1, 1, 1, 2));
  fake_output(&f, F32, DIMS(1, 1, 2, 2));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, -1, -0.5, 1, -0.5);
  fake_done(&f);
}

TENON_TEST(regions_are_averaged) {
  fake_t f = fake_of("standard.roi_align/1");
  fake_string(&f, "mode", "avg");
  fake_string(&f, "coordinate_mode", "output_half_pixel");
  fake_int(&f, "sampling_ratio", 1);
  fake_float(&f, "spatial_scale", 1.0);
  fake_input(&f, F32, DIMS(1, 1, 2, 2), NUMBERS(0, 1, 2, 3));
  fake_input(&f, F32, DIMS(1, 4), NUMBERS(0, 0, 1, 1));
  fake_input(&f, I64, DIMS(1), NUMBERS(0));
  fake_output(&f, F32, DIMS(1, 1, 1, 1));
  EXPECT_STATUS(fake_run(&f), TENON_OK);
  EXPECT_NUMBERS(&f, 0, 1e-6, 1.5);
  fake_done(&f);
}
