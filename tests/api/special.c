/* Infinite numbers, and what is no number. */
#include <math.h>

#include "tests/api/figures.h"

enum { MODES = 2, ROWS = 4, COLUMNS = 5 };

static const float rows[ROWS * COLUMNS] = {INFINITY,  -INFINITY, NAN,       INFINITY,  NAN, /**/
                                           1,         3,         2,         3,         1,   /**/
                                           NAN,       NAN,       NAN,       NAN,       NAN, /**/
                                           -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};

static tenon_build_options_t options_of(int mode) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.reference_only = mode == 1;
  return options;
}

/* What is no number is found, as the largest and as the smallest. */
static void check_found(const char* op, int64_t last, const double* places) {
  for (int mode = 0; mode < 2 * MODES; ++mode) {
    scene_t scene;
    float data[ROWS * COLUMNS];
    const tenon_attribute_t attributes[] = {
        ROW_INT("axis", 1), ROW_INT("keepdims", 0), ROW_INT("select_last_index", last), {0}};
    const tenon_build_options_t options = options_of(mode % MODES);
    const bool is_constant = mode >= MODES;
    memcpy(data, rows, sizeof data);
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t x = is_constant
                                ? constant(s, TENON_DTYPE_FLOAT32, 2, DIMS(ROWS, COLUMNS), rows)
                                : input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(ROWS, COLUMNS));
    output(s, node(s, op, VALUES(x), attributes), "y");
    REQUIRE(scene_start(&scene, &options));
    if (!is_constant) {
      set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(ROWS, COLUMNS), data);
    }
    run(&scene);
    expect(&scene, 0, 1, ROWS, places);
    scene_end(&scene);
  }
}

TENON_TEST(the_place_of_what_is_no_number) {
  check_found("standard.arg_max/1", 0, NUMBERS(2, 1, 0, 0));
  check_found("standard.arg_max/1", 1, NUMBERS(4, 3, 4, 4));
  check_found("standard.arg_min/1", 0, NUMBERS(2, 0, 0, 0));
  check_found("standard.arg_min/1", 1, NUMBERS(4, 4, 4, 4));
}

TENON_TEST(the_hardmax_of_what_is_no_number) {
  for (int mode = 0; mode < MODES; ++mode) {
    scene_t scene;
    float data[ROWS * COLUMNS];
    const tenon_build_options_t options = options_of(mode);
    memcpy(data, rows, sizeof data);
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(ROWS, COLUMNS));
    output(s, node(s, "standard.hardmax/1", VALUES(x), NO_ATTRIBUTES), "y");
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(ROWS, COLUMNS), data);
    run(&scene);
    expect_tensor(&scene, 0, 2, DIMS(ROWS, COLUMNS),
                  NUMBERS(0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0));
    scene_end(&scene);
  }
}

TENON_TEST(nothing_has_no_largest_place) {
  static const int64_t least[] = {0, 1};
  static const int64_t usual[] = {2, 3};
  static const int64_t most[] = {4, 3};
  const tenon_profile_range_t range = {"x", 2, least, usual, most};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  for (int mode = 0; mode < MODES; ++mode) {
    float data[] = {1, 2, 3, 3, 2, 1};
    scene_t scene;
    tenon_build_options_t options = options_of(mode);
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(-1, -1));
    output(s, node(s, "standard.arg_max/1", VALUES(x), NO_ATTRIBUTES), "y");
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(2, 3), data);
    run(&scene);
    expect_tensor(&scene, 0, 2, DIMS(1, 3), NUMBERS(1, 0, 0));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(0, 3), data);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(s->messages.text, "x has no elements along axis 0; its inputs are [0, 3]");
    scene_end(&scene);
  }
}

/* Padding is zeros, and 0 times infinity is no number: where the infinite tap lies outside. */
static void check_convolution(int64_t channels, int64_t groups) {
  enum { SIDE = 4, MOST = 16 };
  float x[MOST * SIDE];
  float w[MOST * 3 * MOST] = {0};
  const int64_t in_group = channels / groups;
  for (int k = 0; k < MOST * SIDE; ++k) {
    x[k] = 1;
  }
  for (int64_t m = 0; m < channels; ++m) {
    w[m * in_group * 3 + 1] = 2; /* the middle tap of channel m's first input */
  }
  w[in_group * 3] = INFINITY; /* the left tap of channel 1's */
  for (int mode = 0; mode < MODES; ++mode) {
    double expected[MOST * SIDE];
    scene_t scene;
    const tenon_build_options_t options = options_of(mode);
    const tenon_attribute_t attributes[] = {ROW_INTS("pads", 1, 1), ROW_INT("groups", groups), {0}};
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t image = input(s, "x", TENON_DTYPE_FLOAT32, 3, DIMS(1, channels, SIDE));
    const tenon_value_t weights =
        constant(s, TENON_DTYPE_FLOAT32, 3, DIMS(channels, in_group, 3), w);
    output(s, node(s, "standard.convolution/1", VALUES(image, weights), attributes), "y");
    for (int64_t k = 0; k < channels * SIDE; ++k) {
      expected[k] = k / SIDE != 1 ? 2 : k % SIDE == 0 ? (double)NAN : (double)INFINITY;
    }
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 3, DIMS(1, channels, SIDE), x);
    run(&scene);
    expect_tensor(&scene, 0, 3, DIMS(1, channels, SIDE), expected);
    scene_end(&scene);
  }
}

TENON_TEST(infinite_weights_over_padding) {
  check_convolution(16, 16);
  check_convolution(16, 1);
  check_convolution(16, 4);
}
