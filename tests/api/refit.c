/* Refit: weights replaced by name, and everything that was derived from them: packed, scaled,
 * folded. */
#include "tests/api/lenet.h"
#include "tests/api/scene.h"

static bool begin_lenet(scene_t* scene) {
  if (!scene_begin(scene)) {
    return false;
  }
  lenet_build(&scene->session);
  scene->session.tolerance = 1e-5; /* as in network.c */
  return scene_load(scene, NULL);
}

static tenon_status_t set_sample(const scene_t* scene, const char* name, const char* sample) {
  const sample_t* found = expected_get(sample);
  size_t count = sizeof(float);
  for (uint32_t k = 0; k < found->rank; ++k) {
    count *= (size_t)found->dims[k];
  }
  return tenon_engine_set_weights(scene->engine, name, found->data, count);
}

TENON_TEST(lists_weights_by_name) {
  scene_t scene;
  bool has_w1 = false;
  REQUIRE(begin_lenet(&scene));
  EXPECT_INT(tenon_engine_weights_count(scene.engine), 6);
  for (uint32_t k = 0; k < 6; ++k) {
    has_w1 = has_w1 || strcmp(tenon_engine_get_weights_name(scene.engine, k), "lenet.w1") == 0;
  }
  EXPECT(has_w1);
  EXPECT(tenon_engine_get_weights_name(scene.engine, 6) == NULL);
  scene_end(&scene);
}

TENON_TEST(packed_weights_follow) {
  scene_t scene;
  REQUIRE(begin_lenet(&scene));
  lenet_run(&scene.session, scene.engine, 0, "lenet.y");
  EXPECT_STATUS(set_sample(&scene, "lenet.w1", "lenet.other_w1"), TENON_OK);
  lenet_run(&scene.session, scene.engine, 0, "lenet.y"); /* not before the commit */
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  lenet_run(&scene.session, scene.engine, 0, "lenet.other_y");
  EXPECT_STATUS(set_sample(&scene, "lenet.w1", "lenet.w1"), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  lenet_run(&scene.session, scene.engine, 0, "lenet.y");
  scene_end(&scene);
}

/* A context that has run before the refit runs with the new weights after it. */
TENON_TEST(contexts_follow) {
  scene_t scene;
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y;
  const tenon_tensor_view_t x = session_view(expected_get("lenet.x"));
  REQUIRE(begin_lenet(&scene));
  EXPECT_STATUS(tenon_context_create(scene.engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(set_sample(&scene, "lenet.w1", "lenet.other_w1"), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
  EXPECT_TENSOR(&y, "lenet.other_y", scene.session.tolerance);
  tenon_context_destroy(context);
  scene_end(&scene);
}

/* Weights that the outputs do not need are not in the plan, and are not missed. */
TENON_TEST(a_part_of_a_network_is_refitted) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  lenet_build(&scene.session);
  scene.session.tolerance = 1e-5;
  EXPECT_STATUS(tenon_network_clear_outputs(scene.session.network), TENON_OK);
  EXPECT_STATUS(tenon_network_mark_output(scene.session.network, "pool1"), TENON_OK);
  REQUIRE(scene_load(&scene, NULL));
  EXPECT_INT(tenon_engine_weights_count(scene.engine), 2);
  EXPECT_STATUS(set_sample(&scene, "lenet.w3", "lenet.w3"), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(set_sample(&scene, "lenet.w1", "lenet.other_w1"), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  EXPECT_STATUS(set_sample(&scene, "lenet.w1", "lenet.w1"), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  lenet_run(&scene.session, scene.engine, 0, "lenet.pool1");
  scene_end(&scene);
}

TENON_TEST(refuses_what_does_not_fit) {
  scene_t scene;
  float number = 0;
  REQUIRE(begin_lenet(&scene));
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "nobody", &number, sizeof number),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(scene.session.messages.text, "'nobody'");
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "lenet.b1", &number, sizeof number),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.session.messages.text, "have 24 bytes, 4 were given");
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK); /* nothing was set */
  lenet_run(&scene.session, scene.engine, 0, "lenet.y");
  scene_end(&scene);
}

TENON_TEST(refuses_plans_that_keep_no_weights) {
  scene_t scene;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.tuned_only = 1;
  REQUIRE(scene_begin(&scene));
  lenet_build(&scene.session);
  scene.session.tolerance = 1e-5;
  REQUIRE(scene_load(&scene, &options));
  lenet_run(&scene.session, scene.engine, 0, "lenet.y");
  EXPECT_INT(tenon_engine_weights_count(scene.engine), 0);
  EXPECT_STATUS(set_sample(&scene, "lenet.w1", "lenet.other_w1"), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(scene.session.messages.text, "tuned_only");
  scene_end(&scene);
}

/* ---- Derived weights ---- */

/* y = batch_norm(convolution(x, w, b)) of one pixel with two channels: the optimiser moves the
 * scale into w and b. */
typedef struct normed_t {
  float w[3][2];
  float b[3];
  float scale[3];
  float shift[3];
  float mean[3];
  float variance[3];
} normed_t;

static const normed_t first = {.w = {{1, 2.5F}, {-1.25F, 0.5F}, {-2, 3.75F}},
                               .b = {0.5F, -0.25F, 0.125F},
                               .scale = {1.5F, 0.5F, -2.25F},
                               .shift = {0.1F, 0.2F, -0.3F},
                               .mean = {0.4F, -0.6F, 0.7F},
                               .variance = {0.9F, 1.7F, 2.3F}};

static const float point[] = {0.75F, -1.5F};

static void normed_compute(const normed_t* n, float out[3]) {
  for (int k = 0; k < 3; ++k) {
    const double sum = (double)point[0] * (double)n->w[k][0] +
                       (double)point[1] * (double)n->w[k][1] + (double)n->b[k];
    const double norm = (sum - (double)n->mean[k]) / sqrt((double)n->variance[k] + 1e-5);
    out[k] = (float)(norm * (double)n->scale[k] + (double)n->shift[k]);
  }
}

static tenon_value_t constant(session_t* s, const char* name, uint32_t rank, const int64_t* dims,
                              const float* data) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(
      tenon_network_add_constant(s->network, name, TENON_DTYPE_FLOAT32, rank, dims, data, &value),
      TENON_OK);
  return value;
}

static bool build_normed(scene_t* scene, const normed_t* n) {
  static const int64_t x_dims[] = {1, 2, 1, 1};
  static const int64_t w_dims[] = {3, 2, 1, 1};
  static const int64_t three[] = {3};
  tenon_value_t x = ABSENT;
  session_t* s = &scene->session;
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 4, x_dims, &x),
                TENON_OK);
  const tenon_value_t w = constant(s, "w", 4, w_dims, n->w[0]);
  const tenon_value_t b = constant(s, "b", 1, three, n->b);
  const tenon_value_t scale = constant(s, "scale", 1, three, n->scale);
  const tenon_value_t shift = constant(s, "shift", 1, three, n->shift);
  const tenon_value_t mean = constant(s, "mean", 1, three, n->mean);
  const tenon_value_t variance = constant(s, "variance", 1, three, n->variance);
  const tenon_value_t sum = node(s, "standard.convolution/1", VALUES(x, w, b), NO_ATTRIBUTES);
  const tenon_value_t y =
      node(s, "standard.batch_norm/1", VALUES(sum, scale, shift, mean, variance), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  return scene_load(scene, NULL);
}

static bool begin_normed(scene_t* scene, const normed_t* n) {
  return scene_begin(scene) && build_normed(scene, n);
}

static void normed_check(scene_t* scene, const normed_t* n) {
  static const int64_t dims[] = {1, 2, 1, 1};
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y = {.data = NULL};
  float expected[3];
  float x[2];
  memcpy(x, point, sizeof x);
  normed_compute(n, expected);
  const tenon_tensor_view_t view = {
      .data = x, .dims = dims, .rank = 4, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_create(scene->engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &view), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
  for (int k = 0; k < 3 && y.data != NULL; ++k) {
    /* a few roundings of numbers up to 10 */
    EXPECT_NEAR(((const float*)y.data)[k], expected[k], 4e-6);
  }
  tenon_context_destroy(context);
}

static bool has_patch(const scene_t* scene, const char* message) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  return tenon_engine_get_info(scene->engine, &info) == TENON_OK &&
         strstr(info.patches, message) != NULL;
}

TENON_TEST(scaled_weights_follow) {
  scene_t scene;
  normed_t now = first;
  REQUIRE(begin_normed(&scene, &first));
  EXPECT(has_patch(&scene, "move scales")); /* else nothing is derived */
  EXPECT_INT(tenon_engine_weights_count(scene.engine), 6);
  normed_check(&scene, &now);
  now.w[2][0] = 7.5F;
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "w", now.w, sizeof now.w), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  normed_check(&scene, &now);
  now.variance[1] = 0.35F;
  now.mean[2] = 0.05F;
  EXPECT_STATUS(
      tenon_engine_set_weights(scene.engine, "variance", now.variance, sizeof now.variance),
      TENON_OK);
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "mean", now.mean, sizeof now.mean),
                TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  normed_check(&scene, &now);
  scene_end(&scene);
}

/* Zeros and ones are numbers that the optimiser follows; it must not hold on to them. */
TENON_TEST(whole_numbers_may_become_others) {
  scene_t scene;
  normed_t plain = {.w = {{1, 2}, {3, 4}, {5, 6}},
                    .b = {0, 1, 2},
                    .scale = {1, 2, 1},
                    .shift = {0, 3, 1},
                    .mean = {5, 0, 1},
                    .variance = {1, 1, 4}};
  REQUIRE(begin_normed(&scene, &plain));
  normed_check(&scene, &plain);
  plain.b[0] = 0.5F;
  plain.scale[2] = 1.25F;
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "b", plain.b, sizeof plain.b), TENON_OK);
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "scale", plain.scale, sizeof plain.scale),
                TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  normed_check(&scene, &plain);
  scene_end(&scene);
}

/* Bias and shift are equal and may have been made one: then a refit of one is another network. */
TENON_TEST(equal_weights_that_part_are_refused) {
  scene_t scene;
  normed_t equal = first;
  memcpy(equal.b, equal.shift, sizeof equal.b);
  float other[] = {9, 9, 9};
  REQUIRE(begin_normed(&scene, &equal));
  normed_check(&scene, &equal);
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "b", other, sizeof other), TENON_OK);
  const tenon_status_t status = tenon_engine_commit_weights(scene.engine);
  if (status == TENON_OK) {
    memcpy(equal.b, other, sizeof other);
  } else {
    EXPECT_STATUS(status, TENON_ERROR_UNSUPPORTED);
    EXPECT_CONTAINS(scene.session.messages.text, "build again");
  }
  normed_check(&scene, &equal); /* either way it computes what it says */
  scene_end(&scene);
}

/* When memory is out the old weights stay, whole; and nothing leaks. A pass of the optimiser that
 * lacks memory may leave the network alone, which is another one then: refused as well. */
TENON_TEST(each_allocation_of_a_refit_may_fail) {
  scene_t scene;
  normed_t now = first;
  tenon__test_allocator_t state = {.fail_at = 0};
  const tenon_allocator_t allocator = tenon__test_allocator(&state);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  memset(&scene, 0, sizeof scene);
  REQUIRE(session_begin_with(&scene.session, NULL, &allocator));
  REQUIRE(build_normed(&scene, &first));
  now.w[1][1] = -3.5F;
  now.scale[0] = 0.25F;
  for (uint64_t n = 1; n < 100000 && status != TENON_OK; ++n) {
    state.fail_at = state.allocation_count + n;
    status = tenon_engine_set_weights(scene.engine, "w", now.w, sizeof now.w);
    if (status == TENON_OK) {
      status = tenon_engine_set_weights(scene.engine, "scale", now.scale, sizeof now.scale);
    }
    if (status == TENON_OK) {
      status = tenon_engine_commit_weights(scene.engine);
    }
    state.fail_at = 0;
    EXPECT(status == TENON_OK || status == TENON_ERROR_OUT_OF_MEMORY ||
           status == TENON_ERROR_UNSUPPORTED);
    normed_check(&scene, status == TENON_OK ? &now : &first);
  }
  EXPECT_STATUS(status, TENON_OK);
  scene_end(&scene);
  EXPECT_INT(state.live_blocks, 0);
}

/* A plan from a file has all that a refit needs. */
TENON_TEST(loaded_plans_are_refitted) {
  scene_t scene;
  tenon_engine_t* loaded = NULL;
  const void* data = NULL;
  size_t size = 0;
  normed_t now = first;
  REQUIRE(begin_normed(&scene, &first));
  EXPECT_STATUS(tenon_plan_get_data(scene.plan, &data, &size), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_memory(scene.session.registry, data, size, NULL, &loaded),
                TENON_OK);
  tenon_engine_release(scene.engine);
  scene.engine = loaded;
  now.shift[0] = -4.5F;
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "shift", now.shift, sizeof now.shift),
                TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  normed_check(&scene, &now);
  scene_end(&scene);
}

/* Numbers that a shape was made from cannot be replaced in a plan. */
TENON_TEST(shapes_are_not_refitted) {
  static const int64_t dims[] = {2, 6};
  static const int64_t two[] = {2};
  static const int64_t shape[] = {3, 4};
  static const int64_t other[] = {4, 3};
  scene_t scene;
  tenon_value_t x = ABSENT;
  tenon_value_t numbers = ABSENT;
  REQUIRE(scene_begin(&scene));
  tenon_network_t* network = scene.session.network;
  EXPECT_STATUS(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x), TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_constant(network, "shape", TENON_DTYPE_INT64, 1, two, shape, &numbers),
      TENON_OK);
  const tenon_value_t y =
      node(&scene.session, "standard.reshape/1", VALUES(x, numbers), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(network, y, "y"), TENON_OK);
  REQUIRE(scene_load(&scene, NULL));
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "shape", other, sizeof other), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(scene.session.messages.text, "'shape' are numbers");
  scene_end(&scene);
}

/* Nor can numbers that a shape was computed from, unless they give the same shape. */
TENON_TEST(numbers_that_give_a_shape_are_refitted_when_it_stays) {
  static const int64_t dims[] = {10};
  static const int64_t one[] = {1};
  static const float fourth = 0.23F;
  static const float more = 0.28F;
  static const float half = 0.53F;
  scene_t scene;
  tenon_value_t x = ABSENT;
  tenon_value_t part = ABSENT;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_attribute_t to_float[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_FLOAT32}, {0}};
  const tenon_attribute_t to_integer[] = {
      {.name = "to", .kind = TENON_ATTRIBUTE_DTYPE, .integer = TENON_DTYPE_INT64}, {0}};
  EXPECT_STATUS(tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 1, dims, &x),
                TENON_OK);
  EXPECT_STATUS(
      tenon_network_add_constant(s->network, "part", TENON_DTYPE_FLOAT32, 1, one, &fourth, &part),
      TENON_OK);
  const tenon_value_t shape = node(s, "standard.shape_of/1", VALUES(x), NO_ATTRIBUTES);
  const tenon_value_t extents = node(s, "standard.cast/1", VALUES(shape), to_float);
  const tenon_value_t product = node(s, "standard.mul/1", VALUES(extents, part), NO_ATTRIBUTES);
  const tenon_value_t number = node(s, "standard.cast/1", VALUES(product), to_integer);
  const tenon_value_t y = node(s, "standard.tile/1", VALUES(x, number), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  REQUIRE(scene_load(&scene, NULL));
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "part", &more, sizeof more), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "part", &half, sizeof half), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(s->messages.text, "the optimiser makes another network");
  scene_end(&scene);
}

/* ---- Weights that bodies read ---- */

static void add_constant(const tenon_builder_table_t* table, tenon_builder_t* builder,
                         const float* numbers, tenon_value_t* out_value) {
  static const int64_t dims[] = {2};
  const tenon_tensor_view_t view = {.data = tenon__drop_const(numbers),
                                    .dims = dims,
                                    .rank = 1,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(table->constant(builder, "w", &view, 0, out_value), TENON_OK);
}

/* A branch of its own constant "w", as parsers make one for each graph that reads a weight. */
static uint32_t add_branch(session_t* s, const char* op, const float* numbers) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(s->network);
  tenon_value_t value = ABSENT;
  uint32_t body = 0;
  EXPECT_STATUS(table->begin_body(builder, op), TENON_OK);
  add_constant(table, builder, numbers, &value);
  EXPECT_STATUS(table->begin(builder, op, NULL), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, value), TENON_OK);
  EXPECT_STATUS(table->end(builder, &value, 1), TENON_OK);
  EXPECT_STATUS(table->body_result(builder, value), TENON_OK);
  EXPECT_STATUS(table->end_body(builder, &body), TENON_OK);
  return body;
}

/* y is |w| of the first numbers if the condition holds, else -w of the others. */
static bool begin_branches(scene_t* scene, const float* then_numbers, const float* else_numbers) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_value_t condition = ABSENT;
  tenon_value_t y = ABSENT;
  if (!scene_begin(scene)) {
    return false;
  }
  session_t* s = &scene->session;
  tenon_builder_t* builder = tenon_network_get_builder(s->network);
  EXPECT_STATUS(tenon_network_add_input(s->network, "c", TENON_DTYPE_BOOL, 0, NULL, &condition),
                TENON_OK);
  const uint32_t bodies[] = {add_branch(s, "standard.abs/1", then_numbers),
                             add_branch(s, "standard.neg/1", else_numbers)};
  EXPECT_STATUS(table->begin(builder, "standard.branch/1", NULL), TENON_OK);
  EXPECT_STATUS(table->add_input(builder, condition), TENON_OK);
  EXPECT_STATUS(table->add_body(builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(table->add_body(builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(table->output_count(builder, 1), TENON_OK);
  EXPECT_STATUS(table->end(builder, &y, 1), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(s->network, y, "y"), TENON_OK);
  return scene_start(scene, NULL);
}

static void expect_branch(const scene_t* scene, uint8_t condition, float one, float two) {
  const tenon_tensor_view_t c = {
      .data = &condition, .dtype = TENON_DTYPE_BOOL, .layout = TENON_NONE};
  tenon_tensor_view_t y;
  EXPECT_STATUS(tenon_context_set_input(scene->context, 0, &c), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene->context), TENON_OK);
  REQUIRE(tenon_context_get_output(scene->context, 0, &y) == TENON_OK);
  EXPECT_NEAR(((const float*)y.data)[0], one, 0);
  EXPECT_NEAR(((const float*)y.data)[1], two, 0);
}

TENON_TEST(every_body_that_reads_a_weight_is_refitted) {
  static const float before[] = {1, -2};
  static const float after[] = {-3, 4};
  scene_t scene;
  REQUIRE(begin_branches(&scene, before, before));
  expect_branch(&scene, 1, 1, 2);
  expect_branch(&scene, 0, -1, 2);
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "w", after, sizeof after), TENON_OK);
  EXPECT_STATUS(tenon_engine_commit_weights(scene.engine), TENON_OK);
  expect_branch(&scene, 1, 3, 4);
  expect_branch(&scene, 0, 3, -4);
  scene_end(&scene);
}

TENON_TEST(a_name_of_several_weights_is_refused) {
  static const float one[] = {1, -2};
  static const float other[] = {5, 6};
  scene_t scene;
  REQUIRE(begin_branches(&scene, one, other));
  EXPECT_STATUS(tenon_engine_set_weights(scene.engine, "w", one, sizeof one),
                TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(scene.session.messages.text, "are named 'w'");
  expect_branch(&scene, 0, -5, -6);
  scene_end(&scene);
}
