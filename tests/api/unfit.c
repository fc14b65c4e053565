/* Extents that are numbers of an input: those that do not fit are refused in words that name the
 * node and the numbers, and what fits runs in the same context before and afterwards. */
#include "tests/api/figures.h"

typedef struct case_t {
  const char* op;
  bool has_x; /* a 4 x 3 in front of the numbers */
  uint32_t count;
  int64_t good[4];
  int64_t bad[4];
  const char* message;
  uint32_t output_count;
  tenon_attribute_t attribute;
} case_t;

static const case_t cases[] = {
    {"standard.reshape/1",
     true,
     2,
     {2, 6},
     {5, 3},
     "another number of elements than x has; its inputs are [4, 3], [2] (5, 3)",
     1,
     {0}},
    {"standard.reshape/1",
     true,
     2,
     {-1, 6},
     {-1, 5},
     "another number of elements than x has; its inputs are [4, 3], [2] (-1, 5)",
     1,
     {0}},
    {"standard.broadcast_to/1",
     true,
     2,
     {1, 3},
     {3, 3},
     "the shapes do not broadcast; its inputs are [4, 3], [2] (3, 3)",
     1,
     {0}},
    {"standard.split/1",
     true,
     1,
     {4},
     {3},
     "x has 4 along the axis; its inputs are [4, 3], [1] (3)",
     1,
     {0}},
    {"standard.split/1", true, 1, {4}, {-1}, "its inputs are [4, 3], [1] (-1)", 1, {0}},
    {"standard.tile/1", true, 2, {0, 2}, {-1, 2}, "would be negative: ", 1, {0}},
    {"standard.pad/1",
     true,
     4,
     {-2, 0, -2, 0},
     {-2, 0, -3, 0},
     "its inputs are [4, 3], [4] (-2, 0, -3, 0)",
     1,
     {0}},
    {"standard.top_k/1",
     true,
     1,
     {3},
     {4},
     "the axis has 3 elements; its inputs are [4, 3], [1] (4)",
     2,
     {0}},
    {"standard.top_k/1", true, 1, {0}, {-1}, "(-1)", 2, {0}},
    {"standard.top_k/1", true, 1, {1}, {INT64_C(1) << 62}, "(4611686018427387904)", 2, {0}},
    {"standard.resize/1", true, 2, {8, 6}, {8, -6}, "its inputs are [4, 3], [2] (8, -6)", 1, {0}},
    {"standard.filled/1", false, 2, {0, 2}, {2, -1}, "would be negative: ", 1, {0}},
};

static bool begin(scene_t* scene, const case_t* c, bool reference_only) {
  tenon_value_t values[2] = {ABSENT, ABSENT};
  tenon_value_t outputs[2] = {ABSENT, ABSENT};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  const tenon_attribute_t attributes[2] = {c->attribute, {0}};
  const float one = 1;
  options.no_measuring = 1;
  options.reference_only = reference_only;
  if (!scene_begin(scene)) {
    return false;
  }
  session_t* s = &scene->session;
  values[0] = c->has_x ? input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(4, 3))
                       : constant(s, TENON_DTYPE_FLOAT32, 0, NULL, &one);
  values[1] = input(s, "numbers", TENON_DTYPE_INT64, 1, DIMS(c->count));
  session_add(s, c->op, values, 2, attributes, outputs, c->output_count);
  output(s, outputs[0], "y");
  if (c->output_count > 1) {
    output(s, outputs[1], "z");
  }
  return scene_start(scene, &options);
}

static tenon_status_t try_with(const scene_t* scene, const case_t* c, const int64_t* numbers) {
  float x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  int64_t copy[4];
  memcpy(copy, numbers, sizeof copy);
  if (c->has_x) {
    set(scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(4, 3), x);
  }
  set(scene, c->has_x ? 1 : 0, TENON_DTYPE_INT64, 1, DIMS(c->count), copy);
  return tenon_context_run(scene->context);
}

TENON_TEST(numbers_that_do_not_fit_are_refused) {
  for (size_t k = 0; k < 2 * sizeof cases / sizeof cases[0]; ++k) {
    const case_t* c = &cases[k / 2];
    scene_t scene;
    REQUIRE(begin(&scene, c, k % 2 == 1));
    EXPECT_STATUS(try_with(&scene, c, c->good), TENON_OK);
    EXPECT_STATUS(try_with(&scene, c, c->bad), TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(scene.session.messages.text, c->message);
    EXPECT_STATUS(try_with(&scene, c, c->good), TENON_OK);
    scene_end(&scene);
  }
}

#define F32 TENON_DTYPE_FLOAT32
#define I64 TENON_DTYPE_INT64

typedef struct undefined_t {
  const char* op;
  uint32_t rank;
  uint32_t count; /* of further inputs, constants */
  int64_t dims[3];
  struct {
    tenon_dtype_t dtype;
    uint32_t rank;
    int64_t extent;
  } inputs[3];
  const char* message; /* NULL: it is defined */
} undefined_t;

/* Nodes whose inputs contradict one another. Integers are 4, scales and regions 1. */
TENON_TEST(nodes_without_a_result_are_refused) {
  static const undefined_t rows[] = {
      {"standard.resize/1", 2, 2, {4, 4}, {{I64, 1, 2}, {F32, 1, 2}}, NULL},
      {"standard.resize/1", 2, 2, {4, 4}, {{I64, 1, 2}, {F32, 1, 0}}, NULL},
      {"standard.resize/1", 2, 2, {4, 4}, {{I64, 1, 2}, {F32, 1, 3}}, "3 scales for rank 2"},
      {"standard.resize/1", 2, 3, {4, 4}, {{I64, 1, 2}, {F32, 1, 2}, {F32, 1, 4}}, NULL},
      {"standard.resize/1", 2, 3, {4, 4}, {{I64, 1, 2}, {F32, 1, 2}, {F32, 1, 2}}, "2 numbers"},
      {"standard.dft/1", 3, 0, {1, 4, 1}, {{0}}, NULL},
      {"standard.dft/1", 3, 0, {1, 0, 1}, {{0}}, "a transform of no samples"},
      {"standard.dft/1", 3, 1, {1, 0, 1}, {{I64, 0, 1}}, NULL},
      {"standard.stft/1", 2, 2, {1, 9}, {{I64, 0, 1}, {F32, 1, 4}}, NULL},
      {"standard.stft/1", 2, 2, {1, 9}, {{I64, 0, 1}, {F32, 1, 0}}, "frames have no samples"}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
    static const int64_t integers[] = {4, 4};
    static const float numbers[] = {1, 1, 1, 1};
    const undefined_t* row = &rows[k];
    const tenon_list_t none = {0};
    tenon_value_t values[4] = {ABSENT, ABSENT, ABSENT, ABSENT};
    tenon_value_t y = ABSENT;
    session_t s;
    REQUIRE(session_begin(&s, NULL));
    values[0] = input(&s, "x", TENON_DTYPE_FLOAT32, row->rank, row->dims);
    for (uint32_t i = 0; i < row->count; ++i) {
      const bool whole = row->inputs[i].dtype == I64;
      values[1 + i] = constant(&s, row->inputs[i].dtype, row->inputs[i].rank,
                               &row->inputs[i].extent, whole ? (const void*)integers : numbers);
    }
    EXPECT_STATUS(tenon_network_add(s.network, row->op, NULL, values, 1 + row->count, &none, &y, 1),
                  row->message == NULL ? TENON_OK : TENON_ERROR_INVALID_DATA);
    if (row->message != NULL) {
      EXPECT_CONTAINS(tenon_last_message(), row->message);
    }
    session_end(&s);
  }
}

TENON_TEST(a_range_by_no_step_is_refused) {
  for (int mode = 0; mode < 2; ++mode) {
    static const int64_t three = 3;
    static const int64_t steps[] = {1, 0, -1, 2};
    scene_t scene;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = 1;
    options.reference_only = mode == 1;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t delta = input(s, "delta", TENON_DTYPE_INT64, 0, NULL);
    const tenon_value_t zero = node(s, "standard.sub/1", VALUES(delta, delta), NO_ATTRIBUTES);
    const tenon_value_t limit = constant(s, TENON_DTYPE_INT64, 0, NULL, &three);
    output(s, node(s, "standard.arange/1", VALUES(zero, limit, delta), NO_ATTRIBUTES), "y");
    REQUIRE(scene_start(&scene, &options));
    for (size_t k = 0; k < sizeof steps / sizeof steps[0]; ++k) {
      int64_t step = steps[k];
      set(&scene, 0, TENON_DTYPE_INT64, 0, NULL, &step);
      EXPECT_STATUS(tenon_context_run(scene.context),
                    step == 0 ? TENON_ERROR_INVALID_ARGUMENT : TENON_OK);
    }
    EXPECT_CONTAINS(s->messages.text, "delta is 0");
    expect(&scene, 0, 1, 2, NUMBERS(0, 2));
    scene_end(&scene);
  }
}

/* The lengths of sequences are numbers that no shape depends on: what they reach is checked. */
TENON_TEST(lengths_beyond_the_sequences_are_refused) {
  static const struct {
    int64_t length;
    const char* message;
  } rows[] = {
      {0, NULL}, {4, NULL}, {5, "element 4 of axis 0"}, {99, "element 98"}, {-1, "element -"}};
  for (size_t k = 0; k < 2 * sizeof rows / sizeof rows[0]; ++k) {
    float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    int64_t lengths[2] = {2, rows[k / 2].length};
    scene_t scene;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = 1;
    options.reference_only = k % 2 == 1;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t items = input(s, "x", TENON_DTYPE_FLOAT32, 2, DIMS(4, 2));
    const tenon_value_t count = input(s, "lengths", TENON_DTYPE_INT64, 1, DIMS(2));
    output(s,
           node(s, "standard.reverse_sequence/1", VALUES(items, count),
                ATTRIBUTES(ROW_INT("time_axis", 0), ROW_INT("batch_axis", 1))),
           "y");
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 2, DIMS(4, 2), x);
    set(&scene, 1, TENON_DTYPE_INT64, 1, DIMS(2), lengths);
    EXPECT_STATUS(tenon_context_run(scene.context),
                  rows[k / 2].message == NULL ? TENON_OK : TENON_ERROR_INVALID_DATA);
    if (rows[k / 2].message != NULL) {
      EXPECT_CONTAINS(s->messages.text, rows[k / 2].message);
    } else if (rows[k / 2].length == 4) {
      expect_tensor(&scene, 0, 2, DIMS(4, 2), NUMBERS(3, 8, 1, 6, 5, 4, 7, 2));
    } else {
      expect_tensor(&scene, 0, 2, DIMS(4, 2), NUMBERS(3, 2, 1, 4, 5, 6, 7, 8));
    }
    scene_end(&scene);
  }
}

typedef struct folded_t {
  float size;
  const char* message; /* NULL: it fits */
} folded_t;

static void check_folded(const folded_t* c) {
  static const tenon_attribute_t to[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_INT64}, {0}};
  const float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  scene_t scene;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t size = constant(s, TENON_DTYPE_FLOAT32, 1, DIMS(1), &c->size);
  const tenon_value_t extents = node(s, "standard.cast/1", VALUES(size), to);
  const tenon_value_t held = constant(s, TENON_DTYPE_FLOAT32, 1, DIMS(8), x);
  output(s, node(s, "standard.reshape/1", VALUES(held, extents), NO_ATTRIBUTES), "y");
  if (c->message == NULL) {
    REQUIRE(scene_start(&scene, &options));
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    expect(&scene, 0, 1, 8, NUMBERS(1, 2, 3, 4, 5, 6, 7, 8));
  } else {
    EXPECT_STATUS(tenon_build(s->network, &options, &scene.plan), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(s->messages.text, c->message);
  }
  scene_end(&scene);
}

/* What folding alone tells: a number that is no dimension before it is rounded, or that is none
 * afterwards. */
TENON_TEST(a_constant_is_not_folded_into_another_number_of_elements) {
  check_folded(&(folded_t){8.3F, NULL});
  check_folded(&(folded_t){1.9F, "x has 8 elements, the new extents hold 1"});
  check_folded(&(folded_t){9.2F, "x has 8 elements, the new extents hold 9"});
  check_folded(&(folded_t){-8.3F, "dim 0 is -8"});
}

/* Extents that a run finds may come to more than is allowed: the run says so, wherever the value
 * lies, and though it may lie nowhere. */
TENON_TEST(a_run_beyond_counting_is_refused) {
  for (int mode = 0; mode < 3; ++mode) {
    int64_t good[2] = {2, 3};
    int64_t bad[2] = {INT64_C(1) << 30, INT64_C(1) << 30};
    float x[1] = {7};
    scene_t scene;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = 1;
    options.reference_only = mode == 1;
    options.no_fusion = mode == 2;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t item = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(1));
    const tenon_value_t dims = input(s, "dims", TENON_DTYPE_INT64, 1, DIMS(2));
    const tenon_value_t all = node(s, "standard.broadcast_to/1", VALUES(item, dims), NO_ATTRIBUTES);
    output(s,
           node(s, "standard.reduce_max/1", VALUES(all), ATTRIBUTES(ROW_INTS("fixed_axes", 0, 1))),
           "y");
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(1), x);
    set(&scene, 1, TENON_DTYPE_INT64, 1, DIMS(2), bad);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(s->messages.text, "more than 2^48 elements");
    set(&scene, 1, TENON_DTYPE_INT64, 1, DIMS(2), good);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    scene_end(&scene);
  }
}

/* What is derived from a profile's maximum may: it is no more than a bound. */
TENON_TEST(a_maximum_that_no_run_comes_to_is_built) {
  static const int64_t few[] = {3};
  static const int64_t most[] = {INT64_C(1) << 25};
  static const tenon_profile_range_t range = {"x", 1, few, few, most};
  static const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  for (int mode = 0; mode < 2; ++mode) {
    float x[3] = {1, 2, 3};
    scene_t scene;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = 1;
    options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
    options.reference_only = mode == 1;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    const tenon_value_t row = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(-1));
    const tenon_value_t rows =
        node(s, "standard.reshape/1", VALUES(row), ATTRIBUTES(ROW_INTS("fixed_dims", -1, 1)));
    const tenon_value_t all = node(s, "standard.mul/1", VALUES(rows, row), NO_ATTRIBUTES);
    output(s,
           node(s, "standard.reduce_sum/1", VALUES(all), ATTRIBUTES(ROW_INTS("fixed_axes", 0, 1))),
           "y");
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(3), x);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    scene_end(&scene);
  }
}
