/* Casts that the network says are arithmetic: they round and clamp, whatever stands around them and
 * whoever computes them, in steps of their own, in fused ones, and when they are folded. */
#include "tests/api/figures.h"

#define TO(type) ATTRIBUTES({.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = (type)})

enum { MODES = 4, NUMBERS_IN = 5 };

static tenon_build_options_t options_of(int mode) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  options.reference_only = mode == 1;
  options.no_fusion = mode == 2;
  options.strict = mode == 3;
  return options;
}

/* A large number, one that f16 does not hold, halves of a last place up and down, one in between
 * the smallest ones. */
static float numbers_in[NUMBERS_IN] = {1e6F, 1.00024414F, 1.00146484F, 465, 1.5e-8F};

typedef struct rounding_t {
  tenon_dtype_t type;
  double numbers[NUMBERS_IN];
} rounding_t;

/* By hand, from the formats: bits of the fraction, largest and smallest number. */
static const rounding_t roundings[] = {
    {TENON_DTYPE_FLOAT16, {INFINITY, 1, 1.001953125, 465, 0}},
    {TENON_DTYPE_BFLOAT16, {999424, 1, 1, 464, 129.0 / 128 / (1 << 26)}},
    {TENON_DTYPE_FLOAT8E4M3FN, {448, 1, 1, 448, 0}},
    {TENON_DTYPE_FLOAT8E5M2, {57344, 1, 1, 448, 0}},
};

/* Twice as large when it has come back: more than the casts is in the steps. */
static tenon_value_t there_and_back(session_t* s, tenon_value_t x, tenon_dtype_t type) {
  const tenon_value_t narrow = node(s, "standard.cast/1", VALUES(x), TO(type));
  const tenon_value_t wide = node(s, "standard.cast/1", VALUES(narrow), TO(TENON_DTYPE_FLOAT32));
  return node(s, "standard.add/1", VALUES(wide, wide), NO_ATTRIBUTES);
}

static void check(const rounding_t* rounding, int mode) {
  scene_t scene;
  double expected[NUMBERS_IN];
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  tenon_build_options_t options = options_of(mode);
  const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(NUMBERS_IN));
  const tenon_value_t k = constant(s, TENON_DTYPE_FLOAT32, 1, DIMS(NUMBERS_IN), numbers_in);
  const tenon_value_t positive = node(s, "standard.abs/1", VALUES(x), NO_ATTRIBUTES);
  output(s, there_and_back(s, positive, rounding->type), "run");
  output(s, there_and_back(s, k, rounding->type), "folded");
  for (int i = 0; i < NUMBERS_IN; ++i) {
    expected[i] = 2 * rounding->numbers[i];
  }
  REQUIRE(scene_start(&scene, &options));
  set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(NUMBERS_IN), numbers_in);
  run(&scene);
  expect_tensor(&scene, 0, 1, DIMS(NUMBERS_IN), expected);
  expect_tensor(&scene, 1, 1, DIMS(NUMBERS_IN), expected);
  scene_end(&scene);
}

TENON_TEST(casts_to_narrow_floats_round) {
  for (size_t k = 0; k < sizeof roundings / sizeof roundings[0]; ++k) {
    for (int mode = 0; mode < MODES; ++mode) {
      check(&roundings[k], mode);
    }
  }
}

/* So does quantisation to 8 bits of float, which is undone in the next node. */
TENON_TEST(quantising_to_narrow_floats_rounds) {
  for (int mode = 0; mode < MODES; ++mode) {
    scene_t scene;
    REQUIRE(scene_begin(&scene));
    session_t* s = &scene.session;
    tenon_build_options_t options = options_of(mode);
    float data[4] = {1e6F, 1.3F, -0.3F, 200};
    const tenon_value_t x = input(s, "x", TENON_DTYPE_FLOAT32, 1, DIMS(4));
    const tenon_value_t scale = constant(s, TENON_DTYPE_FLOAT32, 0, NULL, &(float){0.5F});
    const tenon_value_t narrow =
        node(s, "standard.quantize_linear/1", VALUES(x, scale), TO(TENON_DTYPE_FLOAT8E4M3FN));
    output(s,
           node(s, "standard.dequantize_linear/1", VALUES(narrow, scale), TO(TENON_DTYPE_FLOAT32)),
           "y");
    REQUIRE(scene_start(&scene, &options));
    set(&scene, 0, TENON_DTYPE_FLOAT32, 1, DIMS(4), data);
    run(&scene);
    expect(&scene, 0, 1, 4, NUMBERS(224, 1.25, -0.3125, 192));
    scene_end(&scene);
  }
}
