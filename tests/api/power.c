/* Powers with constant exponents: small whole ones become products, others stay powers, and either
 * way the numbers are pow's. */
#include <float.h>

#include "tests/api/session.h"

typedef struct power_t {
  float exponent;
  uint32_t rank; /* of the exponent, extents 1 */
  const char* patch;
} power_t;

static const float numbers[8] = {-3.5F, -1.0F, -0.0F, 0.0F, 0.3F, 1.7F, 1e20F, 1e-30F};
static const int64_t extents[2] = {2, 4};

typedef struct scene_t {
  session_t session;
  tenon_engine_t* engine;
} scene_t;

static bool begin(scene_t* scene, float exponent, uint32_t rank) {
  static const int64_t ones[4] = {1, 1, 1, 1};
  session_t* s = &scene->session;
  tenon_plan_t* plan = NULL;
  tenon_value_t x = ABSENT;
  tenon_value_t e = ABSENT;
  memset(scene, 0, sizeof *scene);
  if (!session_begin(s, NULL)) {
    return false;
  }
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 2, extents, &x),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_constant(s->network, "exponent", TENON_DTYPE_FLOAT32, rank, ones,
                                           &exponent, &e),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(
                    s->network, node(s, "standard.pow/1", VALUES(x, e), NO_ATTRIBUTES), "y"),
                TENON_OK);
  EXPECT_STATUS(tenon_build(s->network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s->registry, plan, NULL, &scene->engine), TENON_OK);
  tenon_plan_destroy(plan);
  if (scene->engine == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "%s", s->messages.text);
    session_end(s);
  }
  return scene->engine != NULL;
}

static void end(scene_t* scene) {
  tenon_engine_release(scene->engine);
  session_end(&scene->session);
}

static void check_numbers(const scene_t* scene, float exponent) {
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y;
  float own[8];
  memcpy(own, numbers, sizeof own);
  const tenon_tensor_view_t x = {
      .data = own, .dims = extents, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_create(scene->engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  REQUIRE(tenon_context_get_output(context, 0, &y) == TENON_OK);
  for (int k = 0; k < 8; ++k) {
    const float expected = powf(numbers[k], exponent);
    const float actual = ((const float*)y.data)[k];
    /* A power is within one unit in the last place, two products within two roundings. */
    const bool close = fabsf(actual - expected) <= 2 * FLT_EPSILON * fabsf(expected);
    if (!(actual == expected || close || (isnan(actual) && isnan(expected)))) {
      tenon__test_fail(__FILE__, __LINE__, "%g to the power of %g is %.9g, expected %.9g",
                       (double)numbers[k], (double)exponent, (double)actual, (double)expected);
    }
  }
  tenon_context_destroy(context);
}

TENON_TEST(small_whole_powers_are_products) {
  static const power_t powers[] = {{2, 0, "power of 2"}, {2, 1, "power of 2"}, {3, 2, "power of 3"},
                                   {2, 3, NULL}, /* the shape is another */
                                   {0.5F, 0, NULL},      {-2, 0, NULL},        {4, 0, NULL}};
  for (size_t k = 0; k < sizeof powers / sizeof powers[0]; ++k) {
    scene_t scene;
    tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
    REQUIRE(begin(&scene, powers[k].exponent, powers[k].rank));
    EXPECT_STATUS(tenon_engine_get_info(scene.engine, &info), TENON_OK);
    if (powers[k].patch != NULL) {
      EXPECT_CONTAINS(info.patches, powers[k].patch);
    } else {
      EXPECT(strstr(info.patches, "power of") == NULL);
    }
    check_numbers(&scene, powers[k].exponent);
    end(&scene);
  }
}

/* The plan was built for that exponent; another is refused in words, and nothing changes. */
TENON_TEST(such_an_exponent_is_not_refitted) {
  scene_t scene;
  const float other = 3;
  REQUIRE(begin(&scene, 2, 0));
  EXPECT_INT(tenon_engine_weights_count(scene.engine), 1);
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "exponent", &other, sizeof other), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(scene.session.messages.text, "build again");
  check_numbers(&scene, 2);
  end(&scene);
}

/* ---- Rewrites that a build does without ---- */

/* (x + w)^2 of 1 and 3. */
static bool begin_sum(session_t* s, const tenon_build_options_t* options,
                      tenon_engine_t** out_engine) {
  static const float w = 1;
  static const float two = 2;
  const int64_t dims[] = {2};
  tenon_value_t x = ABSENT;
  tenon_value_t addend = ABSENT;
  tenon_value_t exponent = ABSENT;
  tenon_plan_t* plan = NULL;
  if (!session_begin(s, NULL)) {
    return false;
  }
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 1, dims, &x),
                TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_constant(s->network, "w", TENON_DTYPE_FLOAT32, 0, NULL, &w, &addend),
      TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_constant(s->network, "e", TENON_DTYPE_FLOAT32, 0, NULL, &two, &exponent),
      TENON_OK);
  const tenon_value_t sum = node(s, "standard.add/1", VALUES(x, addend), NO_ATTRIBUTES);
  const tenon_value_t y = node(s, "standard.pow/1", VALUES(sum, exponent), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  EXPECT_STATUS(tenon_build(s->network, options, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s->registry, plan, NULL, out_engine), TENON_OK);
  tenon_plan_destroy(plan);
  return *out_engine != NULL;
}

static void expect_sums(tenon_engine_t* engine, float first, float second) {
  static const int64_t dims[] = {2};
  float given[] = {1, 3};
  const tenon_tensor_view_t x = {
      .data = given, .dims = dims, .rank = 1, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y;
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  REQUIRE(tenon_context_get_output(context, 0, &y) == TENON_OK);
  EXPECT(fabsf(((const float*)y.data)[0] - first) <= 1e-5F); /* a few units in the last place */
  EXPECT(fabsf(((const float*)y.data)[1] - second) <= 1e-5F);
  tenon_context_destroy(context);
}

/* What was left out when the plan was built stays out when its weights are replaced. */
TENON_TEST(a_rewrite_that_is_excluded_stays_out) {
  static const char* const one[] = {"standard:power of 2", NULL};
  static const char* const all[] = {"standard", NULL};
  static const char* const other[] = {"standard:power of 3", NULL};
  const struct {
    const char* const* exclude;
    uint32_t no_rewrites;
    bool is_applied;
  } rows[] = {
      {one, 0, false}, {all, 0, false}, {NULL, 1, false}, {other, 0, true}, {NULL, 0, true}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
    session_t s;
    tenon_engine_t* engine = NULL;
    tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    const float w = 4;
    options.no_measuring = 1;
    options.exclude = rows[k].exclude;
    options.no_rewrites = rows[k].no_rewrites;
    REQUIRE(begin_sum(&s, &options, &engine));
    EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
    EXPECT_INT(strstr(info.patches, "rewrite standard:power of 2: ") != NULL, rows[k].is_applied);
    expect_sums(engine, 4, 16);
    EXPECT_STATUS(tenon_engine_set_weights(engine, "w", &w, sizeof w), TENON_OK);
    EXPECT_STATUS(tenon_engine_commit_weights(engine), TENON_OK);
    expect_sums(engine, 25, 49);
    EXPECT_TEXT(s.messages.text, "");
    tenon_engine_release(engine);
    session_end(&s);
  }
}

TENON_TEST(what_there_is_not_cannot_be_excluded) {
  static const char* const rows[][2] = {
      {"abacus", "'abacus' cannot be excluded: there is no such plugin; there are: "},
      {"cp", "'cp' cannot be excluded: there is no such plugin"},
      {"cpu:", "'cpu:' cannot be excluded: plugin cpu has no such kernel or rewrite; it has: "},
      {"onnx:Relu", "plugin onnx has no such kernel or rewrite; it has none"},
      {"standard:power of 4",
       "it has: biased convolution of blocks, convolution of blocks, power of 2"}};
  for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
    session_t s;
    tenon_value_t x = ABSENT;
    tenon_plan_t* plan = NULL;
    const char* const exclude[] = {rows[k][0], NULL};
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.exclude = exclude;
    REQUIRE(session_begin(&s, NULL));
    EXPECT_STATUS(tenon_network_add_input(s.network, "x", TENON_DTYPE_FLOAT32, 2, extents, &x),
                  TENON_OK);
    const tenon_value_t y = node(&s, "standard.relu/1", &x, 1, NO_ATTRIBUTES);
    EXPECT_STATUS(tenon_network_add_output(s.network, y, "y"), TENON_OK);
    EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(s.messages.text, rows[k][1]);
    session_end(&s);
  }
}
