/* A factor of a product of matrices that is multiplied by one number before: the number comes
 * behind the product, where a kernel multiplies it in. */
#include "tests/api/session.h"

typedef struct scaling_t {
  bool is_left;   /* the factor that is multiplied */
  bool is_before; /* the number comes first */
  uint32_t rank;  /* of the number, extents 1 */
  tenon_dtype_t dtype;
  const char* patch; /* NULL: it stays where it is */
} scaling_t;

static tenon_value_t scaled(session_t* s, const scaling_t* c, tenon_value_t x) {
  static const int64_t ones[4] = {1, 1, 1, 1};
  static const float half = 0.5F;
  static const uint16_t narrow_half = 0x3800;
  tenon_value_t number = ABSENT;
  EXPECT_STATUS(tenon_network_add_constant(
                    s->network, "half", c->dtype, c->rank, ones,
                    c->dtype == TENON_DTYPE_FLOAT16 ? (const void*)&narrow_half : &half, &number),
                TENON_OK);
  return c->is_before ? node(s, "standard.mul/1", VALUES(number, x), NO_ATTRIBUTES)
                      : node(s, "standard.mul/1", VALUES(x, number), NO_ATTRIBUTES);
}

static tenon_engine_t* build(session_t* s, const scaling_t* c) {
  static const int64_t a_dims[] = {2, 3};
  static const int64_t b_dims[] = {3, 2};
  tenon_value_t a = ABSENT;
  tenon_value_t b = ABSENT;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  EXPECT_STATUS(tenon_network_add_input(s->network, "a", c->dtype, 2, a_dims, &a), TENON_OK);
  EXPECT_STATUS(tenon_network_add_input(s->network, "b", c->dtype, 2, b_dims, &b), TENON_OK);
  const tenon_value_t left = c->is_left ? scaled(s, c, a) : a;
  const tenon_value_t right = c->is_left ? b : scaled(s, c, b);
  const tenon_value_t y = node(s, "standard.mat_mul/1", VALUES(left, right), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  EXPECT_STATUS(tenon_build(s->network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s->registry, plan, NULL, &engine), TENON_OK);
  tenon_plan_destroy(plan);
  return engine;
}

static void check_numbers(tenon_engine_t* engine) {
  static const int64_t a_dims[] = {2, 3};
  static const int64_t b_dims[] = {3, 2};
  static const float expected[] = {2, 2.5F, 5, 5.5F}; /* halves of 4, 5, 10, 11 */
  float a[] = {1, 2, 3, 4, 5, 6};
  float b[] = {1, 0, 0, 1, 1, 1};
  const tenon_tensor_view_t views[] = {
      {.data = a, .dims = a_dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE},
      {.data = b, .dims = b_dims, .rank = 2, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE}};
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y;
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &views[0]), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 1, &views[1]), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  REQUIRE(tenon_context_get_output(context, 0, &y) == TENON_OK);
  for (int k = 0; k < 4; ++k) {
    EXPECT_NEAR(((const float*)y.data)[k], expected[k], 0);
  }
  tenon_context_destroy(context);
}

TENON_TEST(a_number_before_a_product_comes_behind_it) {
  static const scaling_t cases[] = {
      {true, false, 0, TENON_DTYPE_FLOAT32, "scale of a left factor"},
      {true, true, 1, TENON_DTYPE_FLOAT32, "scale before a left factor"},
      {false, false, 2, TENON_DTYPE_FLOAT32, "scale of a right factor"},
      {false, true, 0, TENON_DTYPE_FLOAT32, "scale before a right factor"},
      {true, false, 3, TENON_DTYPE_FLOAT32, NULL}, /* the factor gets another rank */
      {true, false, 0, TENON_DTYPE_FLOAT16, NULL}  /* what comes out may be too large before */
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    session_t s;
    tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
    REQUIRE(session_begin(&s, NULL));
    tenon_engine_t* engine = build(&s, &cases[k]);
    REQUIRE(engine != NULL);
    EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
    if (cases[k].patch != NULL) {
      EXPECT_CONTAINS(info.patches, cases[k].patch);
    } else {
      EXPECT(strstr(info.patches, "scale") == NULL);
    }
    if (cases[k].dtype == TENON_DTYPE_FLOAT32 && cases[k].rank < 3) {
      check_numbers(engine);
    }
    tenon_engine_release(engine);
    session_end(&s);
  }
}
