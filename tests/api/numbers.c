/* Numbers on their way to extents: what folding, casts and choices make of them sizes what follows,
 * whoever computes it. */
#include "tests/api/figures.h"

#define TO(type) ATTRIBUTES({.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = (type)})

static const char* const modes[] = {"all plugins", "the reference", "one node a step"};
enum { MODES = sizeof modes / sizeof modes[0] };

static tenon_build_options_t options_of(int mode) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.reference_only = mode == 1;
  options.no_fusion = mode == 2;
  return options;
}

/* The extents of x times the factors, cut to integers: no quotient of small numbers. */
static tenon_value_t scaled_extents(session_t* s, tenon_value_t x, tenon_value_t factors) {
  const tenon_value_t extents = node(s, "standard.shape_of/1", VALUES(x), NO_ATTRIBUTES);
  const tenon_value_t floats = node(s, "standard.cast/1", VALUES(extents), TO(TENON_DTYPE_FLOAT32));
  const tenon_value_t product = node(s, "standard.mul/1", VALUES(floats, factors), NO_ATTRIBUTES);
  return node(s, "standard.cast/1", VALUES(product), TO(TENON_DTYPE_INT64));
}

/* What of x [3, 2] has the extents [4, 5]. */
static tenon_value_t resized(session_t* s, tenon_value_t x, tenon_value_t dims) {
  return node(s, "standard.resize/1", VALUES(x, dims), ATTRIBUTES(ROW_TEXT("mode", "nearest")));
}
static tenon_value_t filled(session_t* s, tenon_value_t x, tenon_value_t dims) {
  const tenon_value_t number = constant(s, TENON_DTYPE_FLOAT32, 0, NULL, &(float){7});
  (void)x;
  return node(s, "standard.filled/1", VALUES(number, dims), NO_ATTRIBUTES);
}
static tenon_value_t spread(session_t* s, tenon_value_t x, tenon_value_t dims) {
  const tenon_value_t number = constant(s, TENON_DTYPE_FLOAT32, 2, DIMS(1, 1), &(float){7});
  (void)x;
  return node(s, "standard.broadcast_to/1", VALUES(number, dims), NO_ATTRIBUTES);
}
static tenon_value_t cut(session_t* s, tenon_value_t x, tenon_value_t dims) {
  static const float table[6 * 5] = {[7] = 1};
  const tenon_value_t whole = constant(s, TENON_DTYPE_FLOAT32, 2, DIMS(6, 5), table);
  (void)x;
  return node(s, "standard.strided_slice/1", VALUES(whole, INTEGER_VECTOR(s, 0, 0), dims),
              NO_ATTRIBUTES);
}
static tenon_value_t reshaped(session_t* s, tenon_value_t x, tenon_value_t dims) {
  const float table[20] = {1, 2, 3};
  const tenon_value_t flat = constant(s, TENON_DTYPE_FLOAT32, 1, DIMS(20), table);
  (void)x;
  return node(s, "standard.reshape/1", VALUES(flat, dims), NO_ATTRIBUTES);
}

typedef struct sizing_t {
  const char* name;
  tenon_value_t (*make)(session_t* s, tenon_value_t x, tenon_value_t dims);
  double numbers[20];
} sizing_t;

static const sizing_t sizings[] = {
    {"resize", resized, {0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 2, 2, 2, 3, 3, 4, 4, 4, 5, 5}},
    {"filled", filled, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
    {"broadcast_to", spread, {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}},
    {"strided_slice", cut, {[7] = 1}},
    {"reshape", reshaped, {1, 2, 3}},
};

static void check_sizing(const sizing_t* sizing, int mode, bool is_open) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  float data[6] = {0, 1, 2, 3, 4, 5};
  tenon_build_options_t options = options_of(mode);
  const tenon_value_t x =
      input(s, "x", TENON_DTYPE_FLOAT32, 2, is_open ? DIMS(-1, -1) : DIMS(3, 2));
  const tenon_value_t dims = scaled_extents(s, x, FLOAT_VECTOR(s, 1.5F, 2.5F));
  output(s, sizing->make(s, x, dims), "y");
  const tenon_profile_range_t range = {"x", 2, DIMS(3, 2), DIMS(3, 2), DIMS(3, 2)};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  if (is_open) {
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  }
  REQUIRE(scene_start(&scene, &options));
  set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(3, 2), data);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  if (s->messages.count > 0) {
    tenon__test_fail(__FILE__, __LINE__, "%s, %s: %s", sizing->name, modes[mode], s->messages.text);
  } else {
    expect_tensor(&scene, 0, 2, DIMS(4, 5), sizing->numbers);
  }
  scene_end(&scene);
}

TENON_TEST(numbers_that_only_folding_knows_size_what_follows) {
  for (size_t k = 0; k < sizeof sizings / sizeof sizings[0]; ++k) {
    for (int mode = 0; mode < MODES; ++mode) {
      check_sizing(&sizings[k], mode, false);
      check_sizing(&sizings[k], mode, true);
    }
  }
}

/* Extents that stay open: repeated as often as the input's own extents, scaled, say. */
TENON_TEST(repeats_of_open_extents_may_be_computed) {
  for (int mode = 0; mode < MODES; ++mode) {
    scene_t scene;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    tenon_build_options_t options = options_of(mode);
    const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(-1));
    const tenon_value_t repeats = scaled_extents(s, x, FLOAT_VECTOR(s, 0.6F));
    output(s, node(s, "standard.tile/1", VALUES(x, repeats), NO_ATTRIBUTES), "y");
    const tenon_profile_range_t range = {"x", 1, DIMS(1), DIMS(3), DIMS(8)};
    const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
    REQUIRE(scene_start(&scene, &options));
    float data[4] = {1, 2, 3, 4};
    set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(4), data);
    run(&scene);
    expect(&scene, 0, 1, 8, NUMBERS(1, 2, 3, 4, 1, 2, 3, 4));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(2), data);
    run(&scene);
    expect(&scene, 0, 1, 2, NUMBERS(1, 2));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(1), data);
    run(&scene);
    expect(&scene, 0, 1, 0, NULL);
    scene_end(&scene);
  }
}

/* Of 0 to 4 from `begin` to `end`; one element is left, and none where `end` comes first. */
typedef struct stride_t {
  int64_t begin;
  int64_t end;
  int64_t step;
  int64_t count;
  double first;
} stride_t;

static const stride_t strides[] = {
    {0, INT64_MAX, INT64_MAX, 1, 0},
    {-1, INT64_MIN, INT64_MIN, 1, 4},
    {1, 4, INT64_MAX / 2, 1, 1},
    {-1, INT64_MIN, INT64_MIN / 2, 1, 4},
    {4, 0, INT64_MAX, 0, 0},
    {0, INT64_MAX, INT64_MIN, 0, 0},
    {0, INT64_MAX, INT64_MIN / 2, 0, 0},
    {3, INT64_MIN, INT64_MIN + 1, 1, 3},
};

static void check_stride(const stride_t* stride, int mode, bool is_read) {
  scene_t scene;
  float data[] = {0, 1, 2, 3, 4};
  int64_t step = stride->step;
  const tenon_build_options_t options = options_of(mode);
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(5));
  const tenon_value_t by =
      is_read ? input(s, "step", TENON_DTYPE_INT64, 1, DIMS(1)) : INTEGER_VECTOR(s, step);
  output(
      s,
      node(s, "standard.strided_slice/1",
           VALUES(x, INTEGER_VECTOR(s, stride->begin), INTEGER_VECTOR(s, stride->end), ABSENT, by),
           NO_ATTRIBUTES),
      "y");
  REQUIRE(scene_start(&scene, &options));
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(5), data);
  if (is_read) {
    set(&scene, 1, TENON_DTYPE_INT64, 1, DIMS(1), &step);
  }
  run(&scene);
  expect(&scene, 0, 1, stride->count, &stride->first);
  scene_end(&scene);
}

TENON_TEST(steps_that_no_axis_reaches_leave_one_element) {
  for (size_t k = 0; k < sizeof strides / sizeof strides[0]; ++k) {
    for (int mode = 0; mode < MODES; ++mode) {
      check_stride(&strides[k], mode, false);
      check_stride(&strides[k], mode, true);
    }
  }
}
