/* Operators of constants: nothing that the input decides. Whoever takes them when the build leaves
 * them, they are the numbers that they would be of an input. */
#include "tests/api/figures.h"

enum { MODES = 3 };

static tenon_build_options_t options_of(int mode) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.reference_only = mode == 1;
  options.no_fusion = mode == 2;
  return options;
}

static tenon_value_t counted(session_t* s, int64_t batch) {
  float numbers[64];
  for (int i = 0; i < 64; ++i) {
    numbers[i] = (float)(i + 1);
  }
  return constant(s, TENON_DTYPE_FLOAT32, 4, DIMS(batch, 2, 4, 4), numbers);
}

static const tenon_attribute_t windows[] = {
    ROW_INTS("kernel_shape", 2, 2), ROW_INTS("strides", 2, 2), {0}};

static void check_pool_once(const char* op, bool through_relu, double shift, int mode,
                            int64_t batch) {
  scene_t scene;
  double expected[16];
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  tenon_build_options_t options = options_of(mode);
  tenon_value_t x = counted(s, batch);
  x = through_relu ? node(s, "standard.relu/1", VALUES(x), NO_ATTRIBUTES) : x;
  output(s, node(s, op, VALUES(x), windows), "y");
  for (int i = 0; i < 16; ++i) {
    const int first = i / 4 * 16 + i % 4 / 2 * 8 + i % 2 * 2;
    expected[i] = first + 1 + shift;
  }
  REQUIRE(scene_start(&scene, &options));
  run(&scene);
  expect_tensor(&scene, 0, 4, DIMS(batch, 2, 2, 2), expected);
  scene_end(&scene);
}

static void check_pool(const char* op, bool through_relu, double shift) {
  for (int mode = 0; mode < MODES; ++mode) {
    check_pool_once(op, through_relu, shift, mode, 1);
    check_pool_once(op, through_relu, shift, mode, 2);
  }
}

TENON_TEST(pools_of_constants) {
  check_pool("standard.max_pool/1", false, 5);
  check_pool("standard.max_pool/1", true, 5);
  check_pool("standard.average_pool/1", false, 2.5);
}

/* Mean and deviation are outputs that nobody wants. */
TENON_TEST(the_layer_norm_of_a_constant) {
  for (int mode = 0; mode < MODES; ++mode) {
    scene_t scene;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    tenon_build_options_t options = options_of(mode);
    const tenon_value_t x = FLOAT_VECTOR(s, -1, 1);
    const tenon_value_t scale = FLOAT_VECTOR(s, 3, 5);
    output(s,
           node(s, "standard.layer_norm/1", VALUES(x, scale), ATTRIBUTES(ROW_FLOAT("epsilon", 0))),
           "y");
    REQUIRE(scene_start(&scene, &options));
    run(&scene);
    expect(&scene, 0, 1, 2, NUMBERS(-3, 5));
    scene_end(&scene);
  }
}

/* Numbers of 2^63 and more: in the first axis the largest, and what is above 2^63. */
TENON_TEST(large_unsigned_constants) {
  static const uint64_t numbers[] = {1, (UINT64_C(1) << 63) + 5, 7};
  static const uint64_t half = UINT64_C(1) << 63;
  const tenon_attribute_t to[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_INT64}, {0}};
  for (int mode = 0; mode < MODES; ++mode) {
    scene_t scene;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    tenon_build_options_t options = options_of(mode);
    const tenon_value_t x = constant(s, TENON_DTYPE_UINT64, 1, DIMS(3), numbers);
    const tenon_value_t h = constant(s, TENON_DTYPE_UINT64, 0, NULL, &half);
    const tenon_value_t most = node(s, "standard.reduce_max/1", VALUES(x), NO_ATTRIBUTES);
    const tenon_value_t above = node(s, "standard.sub/1", VALUES(most, h), NO_ATTRIBUTES);
    const tenon_value_t least = node(s, "standard.reduce_min/1", VALUES(x), NO_ATTRIBUTES);
    output(s, node(s, "standard.arg_max/1", VALUES(x), NO_ATTRIBUTES), "place");
    output(s, node(s, "standard.cast/1", VALUES(above), to), "above");
    output(s, node(s, "standard.cast/1", VALUES(least), to), "least");
    REQUIRE(scene_start(&scene, &options));
    run(&scene);
    expect(&scene, 0, 1, 1, NUMBERS(1));
    expect(&scene, 1, 1, 1, NUMBERS(5));
    expect(&scene, 2, 1, 1, NUMBERS(1));
    scene_end(&scene);
  }
}

/* ---- Indices ---- */

typedef struct picking_t {
  const char* op;
  bool is_constant; /* the table */
  bool is_given;    /* the index, as an input */
  int64_t index;
  const char* message; /* NULL: it is in range */
} picking_t;

static void check_picking(const picking_t* picking, int mode) {
  float table[3] = {5, 6, 7};
  int64_t index = picking->index;
  uint32_t count = 0;
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  tenon_build_options_t options = options_of(mode);
  const tenon_value_t x = picking->is_constant ? constant(s, TENON_DTYPE_FLOAT32, 1, DIMS(3), table)
                                               : input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(3));
  const tenon_value_t i =
      picking->is_given ? input(s, "i", TENON_DTYPE_INT64, 1, DIMS(1)) : INTEGER_VECTOR(s, index);
  output(s, node(s, picking->op, VALUES(x, i), NO_ATTRIBUTES), "y");
  REQUIRE(scene_start(&scene, &options));
  if (!picking->is_constant) {
    set(&scene, count++, TENON_DTYPE_FLOAT32, 1, DIMS(3), table);
  }
  if (picking->is_given) {
    set(&scene, count, TENON_DTYPE_INT64, 1, DIMS(1), &index);
  }
  EXPECT_STATUS(tenon_context_run(scene.context),
                picking->message == NULL ? TENON_OK : TENON_ERROR_INVALID_DATA);
  if (picking->message == NULL) {
    expect(&scene, 0, 1, 1, NUMBERS(table[picking->index < 0 ? index + 3 : index]));
  } else {
    EXPECT_CONTAINS(s->messages.text, picking->message);
  }
  scene_end(&scene);
}

TENON_TEST(indices_out_of_range_are_refused) {
  static const char* const ops[] = {"standard.gather/1", "standard.gather_elements/1"};
  static const struct {
    int64_t index;
    const char* message;
  } indices[] = {
      {2, NULL},
      {-3, NULL},
      {3, "element 3 of axis 0"},
      {-4, "element -1 of axis 0"},
      {INT64_C(1) << 62, "element 4611686018427387904 of axis 0"},
      {INT64_MIN, "element -9223372036854775805 of axis 0"},
  };
  for (size_t o = 0; o < sizeof ops / sizeof ops[0]; ++o) {
    for (size_t k = 0; k < sizeof indices / sizeof indices[0]; ++k) {
      for (int mode = 0; mode < 4 * MODES; ++mode) {
        const picking_t picking = {ops[o], mode / MODES % 2 != 0, mode / MODES / 2 != 0,
                                   indices[k].index, indices[k].message};
        check_picking(&picking, mode % MODES);
      }
    }
  }
}
