/* Extents that only the run knows, and that do not fit together: refused in words that name the
 * node, before any kernel reads past an end; and what fits runs in the same context afterwards. */
#include "tests/api/session.h"

enum { MOST = 8, ELEMENTS = 512 };

typedef struct scene_t {
  session_t session;
  tenon_engine_t* engine;
  tenon_context_t* context;
} scene_t;

typedef struct shape_t {
  uint32_t rank;
  int64_t dims[4]; /* -1: from 1 to MOST */
} shape_t;

typedef struct case_t {
  const char* op;
  shape_t inputs[2];
  shape_t good[2];
  shape_t bad[2];
  const char* message;
  tenon_attribute_t attribute;
} case_t;

static const case_t cases[] = {
    {"standard.add/1",
     {{1, {-1}}, {1, {-1}}},
     {{1, {5}}, {1, {1}}},
     {{1, {3}}, {1, {5}}},
     "(standard.add/1): the shapes do not broadcast; its inputs are [3], [5]",
     {0}},
    {"standard.mat_mul/1",
     {{2, {-1, -1}}, {2, {-1, -1}}},
     {{2, {4, 5}}, {2, {5, 2}}},
     {{2, {4, 3}}, {2, {5, 2}}},
     "(standard.mat_mul/1): a has not as many columns as b has rows; its inputs are [4, 3], [5, 2]",
     {0}},
    {"standard.mat_mul/1",
     {{3, {-1, 2, 2}}, {3, {-1, 2, 2}}},
     {{3, {1, 2, 2}}, {3, {5, 2, 2}}},
     {{3, {3, 2, 2}}, {3, {5, 2, 2}}},
     "the shapes do not broadcast; its inputs are [3, 2, 2], [5, 2, 2]",
     {0}},
    {"standard.convolution/1",
     {{4, {1, -1, 5, 5}}, {4, {4, -1, 3, 3}}},
     {{4, {1, 3, 5, 5}}, {4, {4, 3, 3, 3}}},
     {{4, {1, 3, 5, 5}}, {4, {4, 4, 3, 3}}},
     "(standard.convolution/1): ",
     {0}},
    {"standard.concatenate/1",
     {{2, {-1, -1}}, {2, {-1, -1}}},
     {{2, {4, 3}}, {2, {2, 3}}},
     {{2, {4, 3}}, {2, {2, 2}}},
     "the items have different extents; its inputs are [4, 3], [2, 2]",
     ROW_INT("axis", 0)},
    {"standard.convolution/1",
     {{4, {1, 2, -1, 5}}, {4, {4, 2, 3, 3}}},
     {{4, {1, 2, 3, 5}}, {4, {4, 2, 3, 3}}},
     {{4, {1, 2, 1, 5}}, {4, {4, 2, 3, 3}}},
     "the window of the weights exceeds; its inputs are [1, 2, 1, 5], [4, 2, 3, 3]",
     {0}},
    {"standard.max_pool/1",
     {{3, {1, 2, -1}}},
     {{3, {1, 2, 4}}},
     {{3, {1, 2, 2}}},
     "axis 2 has extent a:2, which the window exceeds; its inputs are [1, 2, 2]",
     ROW_INTS("kernel_shape", 4)},
    {"standard.prelu/1",
     {{3, {2, -1, 2}}, {2, {3, 1}}},
     {{3, {2, 3, 2}}, {2, {3, 1}}},
     {{3, {2, 4, 2}}, {2, {3, 1}}},
     "'slope' has extent 3 where the space has ",
     {0}},
    {"standard.squeeze/1",
     {{2, {-1, 3}}},
     {{2, {1, 3}}},
     {{2, {2, 3}}},
     "axis 0 is dropped and has not extent 1; its inputs are [2, 3]",
     ROW_INTS("fixed_axes", 0)},
    {"standard.squeeze/1",
     {{2, {-1, 3}}},
     {{2, {2, 3}}},
     {{2, {1, 3}}},
     "axis 0 has extent 1 and would be dropped: name the axes to drop; its inputs are [1, 3]",
     {0}},
    {"standard.reshape/1",
     {{2, {-1, 3}}},
     {{2, {4, 3}}},
     {{2, {3, 3}}},
     "the new extents hold another number of elements than x has; its inputs are [3, 3]",
     ROW_INTS("fixed_dims", 6, -1)},
    {"standard.depth_to_space/1",
     {{4, {1, -1, 2, 2}}},
     {{4, {1, 4, 2, 2}}},
     {{4, {1, 6, 2, 2}}},
     "channels are no blocks of 2 by 2; its inputs are [1, 6, 2, 2]",
     ROW_INT("block_size", 2)},
    {"standard.space_to_depth/1",
     {{4, {1, 2, 2, -1}}},
     {{4, {1, 2, 2, 2}}},
     {{4, {1, 2, 2, 3}}},
     "pixels are no blocks of 2 by 2; its inputs are [1, 2, 2, 3]",
     ROW_INT("block_size", 2)},
    {"standard.group_channels/1",
     {{3, {1, -1, 2}}},
     {{3, {1, 4, 2}}},
     {{3, {1, 3, 2}}},
     "channels are not divisible into 2 groups; its inputs are [1, 3, 2]",
     ROW_INT("groups", 2)},
};

static uint32_t input_count(const case_t* c) {
  return c->inputs[1].rank > 0 ? 2 : 1;
}

static void fill_profile(const case_t* c, uint32_t input, int64_t dims[3][4],
                         tenon_profile_range_t* out_range) {
  static const char* const names[2] = {"a", "b"};
  for (uint32_t d = 0; d < c->inputs[input].rank; ++d) {
    const int64_t extent = c->inputs[input].dims[d];
    dims[0][d] = extent < 0 ? 1 : extent;
    dims[1][d] = c->good[input].dims[d];
    dims[2][d] = extent < 0 ? MOST : extent;
  }
  *out_range =
      (tenon_profile_range_t){names[input], c->inputs[input].rank, dims[0], dims[1], dims[2]};
}

static bool begin(const case_t* c, scene_t* scene) {
  int64_t dims[2][3][4];
  tenon_profile_range_t ranges[2];
  tenon_value_t values[2] = {ABSENT, ABSENT};
  tenon_plan_t* plan = NULL;
  memset(scene, 0, sizeof *scene);
  session_t* s = &scene->session;
  if (!session_begin(s, NULL)) {
    return false;
  }
  for (uint32_t k = 0; k < input_count(c); ++k) {
    fill_profile(c, k, dims[k], &ranges[k]);
    EXPECT_STATUS(tenon_network_add_input(s->network, ranges[k].input, TENON_DTYPE_FLOAT32,
                                          c->inputs[k].rank, c->inputs[k].dims, &values[k]),
                  TENON_OK);
  }
  const tenon_attribute_t attributes[2] = {c->attribute, {0}};
  const tenon_value_t y = node(s, c->op, values, input_count(c), attributes);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  const tenon_profile_t profile = {{ranges, input_count(c), sizeof(*ranges)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  EXPECT_STATUS(tenon_build(s->network, &options, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s->registry, plan, NULL, &scene->engine), TENON_OK);
  tenon_plan_destroy(plan);
  EXPECT_STATUS(tenon_context_create(scene->engine, NULL, &scene->context), TENON_OK);
  return scene->context != NULL;
}

static void end(scene_t* scene) {
  tenon_context_destroy(scene->context);
  tenon_engine_release(scene->engine);
  session_end(&scene->session);
}

static tenon_status_t run(const scene_t* scene, const shape_t shapes[2]) {
  static float numbers[2][ELEMENTS];
  for (uint32_t k = 0; k < 2 && shapes[k].rank > 0; ++k) {
    const tenon_tensor_view_t view = {.data = numbers[k],
                                      .dims = shapes[k].dims,
                                      .rank = shapes[k].rank,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
    EXPECT_STATUS(tenon_context_set_input(scene->context, k, &view), TENON_OK);
  }
  return tenon_context_run(scene->context);
}

TENON_TEST(extents_that_do_not_fit_are_refused) {
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    scene_t scene;
    REQUIRE(begin(&cases[k], &scene));
    EXPECT_STATUS(run(&scene, cases[k].good), TENON_OK);
    EXPECT_STATUS(run(&scene, cases[k].bad), TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(scene.session.messages.text, cases[k].message);
    EXPECT_STATUS(run(&scene, cases[k].good), TENON_OK);
    end(&scene);
  }
}

/* How many elements a condition keeps is known when it has run: the step behind it is refused. */
TENON_TEST(extents_that_a_run_finds_are_checked_too) {
  static const int64_t four[1] = {4};
  static const int64_t any[1] = {-1};
  static const int64_t bounds[3][1] = {{1}, {2}, {4}};
  const tenon_profile_range_t range = {"b", 1, bounds[0], bounds[1], bounds[2]};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_value_t x = ABSENT;
  tenon_value_t keep = ABSENT;
  tenon_value_t b = ABSENT;
  tenon_plan_t* plan = NULL;
  scene_t scene;
  memset(&scene, 0, sizeof scene);
  session_t* s = &scene.session;
  REQUIRE(session_begin(s, NULL));
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 1, four, &x),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_input(s->network, "keep", TENON_DTYPE_BOOL, 1, four, &keep),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_input(s->network, "b", TENON_DTYPE_FLOAT32, 1, any, &b),
                TENON_OK);
  const tenon_value_t kept = node(s, "standard.compress/1", VALUES(x, keep), NO_ATTRIBUTES);
  const tenon_value_t y = node(s, "standard.add/1", VALUES(kept, b), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  EXPECT_STATUS(tenon_build(s->network, &options, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(s->registry, plan, NULL, &scene.engine), TENON_OK);
  tenon_plan_destroy(plan);
  REQUIRE(tenon_context_create(scene.engine, NULL, &scene.context) == TENON_OK);
  for (uint32_t round = 0; round < 3; ++round) {
    float numbers[4] = {1, 2, 3, 4};
    uint8_t flags[4] = {1, 1, round != 1, 0}; /* 3 are kept, then 2, then 3 */
    const int64_t three[1] = {3};
    const tenon_tensor_view_t views[3] = {
        {.data = numbers,
         .dims = four,
         .rank = 1,
         .dtype = TENON_DTYPE_FLOAT32,
         .layout = TENON_NONE},
        {.data = flags, .dims = four, .rank = 1, .dtype = TENON_DTYPE_BOOL, .layout = TENON_NONE},
        {.data = numbers,
         .dims = three,
         .rank = 1,
         .dtype = TENON_DTYPE_FLOAT32,
         .layout = TENON_NONE}};
    for (uint32_t k = 0; k < 3; ++k) {
      EXPECT_STATUS(tenon_context_set_input(scene.context, k, &views[k]), TENON_OK);
    }
    EXPECT_STATUS(tenon_context_run(scene.context),
                  round == 1 ? TENON_ERROR_INVALID_ARGUMENT : TENON_OK);
  }
  EXPECT_CONTAINS(s->messages.text, "the shapes do not broadcast; its inputs are [2], [3]");
  end(&scene);
}

/* Kernels are tried at the optimum, so that it must fit together as well. */
TENON_TEST(an_optimum_that_does_not_fit_is_refused) {
  static const int64_t any[2] = {-1, -1};
  static const int64_t a[3][2] = {{1, 1}, {4, 3}, {8, 8}};
  static const int64_t b[3][2] = {{1, 1}, {5, 2}, {8, 8}};
  const tenon_profile_range_t ranges[2] = {{"a", 2, a[0], a[1], a[2]}, {"b", 2, b[0], b[1], b[2]}};
  const tenon_profile_t profile = {{ranges, 2, sizeof(*ranges)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_value_t values[2] = {ABSENT, ABSENT};
  tenon_plan_t* plan = NULL;
  session_t s;
  REQUIRE(session_begin(&s, NULL));
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  for (uint32_t k = 0; k < 2; ++k) {
    EXPECT_STATUS(tenon_network_add_input(s.network, ranges[k].input, TENON_DTYPE_FLOAT32, 2, any,
                                          &values[k]),
                  TENON_OK);
  }
  const tenon_value_t y = node(&s, "standard.mat_mul/1", values, 2, NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s.network, y, "y"), TENON_OK);
  EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT(plan == NULL);
  EXPECT_CONTAINS(s.messages.text, "the profile's optimum: node '");
  EXPECT_CONTAINS(s.messages.text, "its inputs are [4, 3], [5, 2]");
  session_end(&s);
}
