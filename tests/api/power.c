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
