/* Contexts: the caller's memory in any strides, enqueueing, profiler, states. */
#include <pthread.h>

#include "tests/api/scene.h"

static const int64_t dims_3x4[] = {3, 4};

static tenon_tensor_view_t floats(float* data, uint32_t rank, const int64_t* dims,
                                  const int64_t* strides) {
  return (tenon_tensor_view_t){.data = data,
                               .dims = dims,
                               .strides = strides,
                               .rank = rank,
                               .dtype = TENON_DTYPE_FLOAT32,
                               .layout = TENON_NONE};
}

/* y = 2 x + 1 of rows of 4; the number of rows is 1 to 5. */
static bool begin(scene_t* scene) {
  static const int64_t dims[] = {-1, 4};
  static const int64_t min[] = {1, 4};
  static const int64_t max[] = {5, 4};
  const tenon_profile_range_t range = {"x", 2, min, dims_3x4, max};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_value_t x = ABSENT;
  tenon_value_t y = ABSENT;
  if (!scene_begin(scene)) {
    return false;
  }
  tenon_network_t* network = scene->session.network;
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  EXPECT_STATUS(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, dims, &x), TENON_OK);
  EXPECT_STATUS(
      tenon_builder_get_table()->expression(tenon_network_get_builder(network), "y = x * 2 + 1",
                                            (const char* const[]){"x"}, &x, 1, "twice", &y),
      TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, y, "y"), TENON_OK);
  return scene_start(scene, &options);
}

TENON_TEST(takes_inputs_in_any_strides) {
  scene_t scene;
  static const int64_t columns[] = {1, 3};
  static const int64_t gaps[] = {8, 2};
  static const int64_t backwards[] = {-4, -1};
  static const int64_t broadcast[] = {0, 1};
  static const int64_t rows[] = {4, 1};
  static const int64_t* const forms[] = {NULL, columns, gaps, backwards, broadcast};
  static const int firsts[] = {1, 1, 1, 12, 1};
  _Alignas(16) float data[25];
  REQUIRE(begin(&scene));
  for (int i = 0; i < 25; ++i) {
    data[i] = (float)i;
  }
  for (int form = 0; form < 5; ++form) {
    /* data + 1 is not aligned to 16 bytes */
    const tenon_tensor_view_t x = floats(data + firsts[form], 2, dims_3x4, forms[form]);
    const int64_t* strides = forms[form] == NULL ? rows : forms[form];
    tenon_tensor_view_t y;
    EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x), TENON_OK);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    REQUIRE(tenon_context_get_output(scene.context, 0, &y) == TENON_OK);
    for (int i = 0; i < 12; ++i) {
      const int64_t at = firsts[form] + i / 4 * strides[0] + i % 4 * strides[1];
      EXPECT_NEAR(((const float*)y.data)[i], (double)at * 2 + 1, 0);
    }
  }
  scene_end(&scene);
}

TENON_TEST(writes_outputs_where_the_caller_wants) {
  scene_t scene;
  static const int64_t room[] = {5, 4};
  static const int64_t columns[] = {1, 6};
  static const int64_t wide[] = {9, 1};
  float data[12];
  _Alignas(16) float results[5 * 9];
  tenon_tensor_view_t y;
  REQUIRE(begin(&scene));
  for (int i = 0; i < 12; ++i) {
    data[i] = (float)i;
  }
  const tenon_tensor_view_t x = floats(data, 2, dims_3x4, NULL);
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x), TENON_OK);
  const int64_t* const forms[] = {NULL, columns, wide};
  for (int form = 0; form < 3; ++form) {
    const tenon_tensor_view_t own = floats(results, 2, room, forms[form]);
    memset(results, 0, sizeof results);
    EXPECT_STATUS(tenon_context_set_output(scene.context, 0, &own), TENON_OK);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    EXPECT_STATUS(tenon_context_get_output(scene.context, 0, &y), TENON_OK);
    EXPECT(y.data == results);
    EXPECT_INT(y.dims[0], 3); /* what was computed, not the room that there is */
    EXPECT_NEAR(results[2 * y.strides[0] + 3 * y.strides[1]], 23, 0);
    EXPECT_NEAR(results[44], 0, 0);
  }
  EXPECT_STATUS(tenon_context_set_output(scene.context, 0, NULL), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(scene.context, 0, &y), TENON_OK);
  EXPECT(y.data != results);
  scene_end(&scene);
}

TENON_TEST(refuses_memory_that_does_not_fit) {
  scene_t scene;
  static const int64_t two[] = {2, 4};
  static const int64_t six[] = {6, 4};
  static const int64_t other[] = {3, 5};
  float data[30] = {0};
  REQUIRE(begin(&scene));
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(scene.session.messages.text, "'x' was not set");
  tenon_tensor_view_t view = floats(data, 2, six, NULL);
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.session.messages.text, "extent 6 of axis 0 is outside the profile, 1 to 5");
  view.dims = other;
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  view.dims = dims_3x4;
  view.dtype = TENON_DTYPE_INT32;
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.session.messages.text, "'x' is i32, the engine expects f32");
  view = floats(data, 2, dims_3x4, NULL);
  EXPECT_STATUS(tenon_context_set_input(scene.context, 1, &view), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &view), TENON_OK);
  const tenon_tensor_view_t small = floats(data, 2, two, NULL);
  EXPECT_STATUS(tenon_context_set_output(scene.context, 0, &small), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.session.messages.text, "the memory given holds 2");
  scene_end(&scene);
}

static void count_steps(void* user, uint32_t step, double seconds) {
  uint32_t* counts = user;
  counts[step < 8 ? step : 8] += seconds >= 0 ? 1 : 100;
}

TENON_TEST(enqueues_and_profiles) {
  scene_t scene;
  uint32_t counts[9] = {0};
  float data[20] = {0};
  tenon_tensor_view_t y;
  REQUIRE(begin(&scene));
  const uint32_t steps = tenon_engine_step_count(scene.engine);
  REQUIRE(steps > 0 && steps <= 8);
  EXPECT_STATUS(tenon_context_set_profiler(scene.context, count_steps, counts), TENON_OK);
  for (int64_t rows = 1; rows <= 3; ++rows) {
    const int64_t dims[] = {rows, 4};
    const tenon_tensor_view_t x = floats(data, 2, dims, NULL);
    EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x), TENON_OK);
    EXPECT_STATUS(tenon_context_enqueue(scene.context), TENON_OK);
    EXPECT_STATUS(tenon_context_synchronize(scene.context), TENON_OK);
    EXPECT_STATUS(tenon_context_get_output(scene.context, 0, &y), TENON_OK);
    EXPECT_INT(y.dims[0], rows);
  }
  for (uint32_t step = 0; step < steps; ++step) {
    EXPECT_INT(counts[step], 3);
  }
  EXPECT_STATUS(tenon_context_set_profiler(scene.context, NULL, NULL), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_INT(counts[0], 3);
  scene_end(&scene);
}

/* Two threads use one context. */
typedef struct intrusion_t {
  tenon_context_t* context;
  const tenon_tensor_view_t* x;
  uint32_t step_count;
  tenon_status_t run;
  tenon_status_t set;
} intrusion_t;

static void* intrude(void* user) {
  intrusion_t* intrusion = user;
  intrusion->run = tenon_context_run(intrusion->context);
  intrusion->set = tenon_context_set_input(intrusion->context, 0, intrusion->x);
  return NULL;
}

/* Between two steps of a run. */
static void let_in(void* user, uint32_t step, double seconds) {
  intrusion_t* intrusion = user;
  pthread_t thread;
  (void)step, (void)seconds;
  ++intrusion->step_count;
  EXPECT(pthread_create(&thread, NULL, intrude, intrusion) == 0 && pthread_join(thread, NULL) == 0);
}

TENON_TEST(a_second_thread_is_refused) {
  scene_t scene;
  float data[12] = {0};
  REQUIRE(begin(&scene));
  const tenon_tensor_view_t x = floats(data, 2, dims_3x4, NULL);
  intrusion_t intrusion = {.context = scene.context, .x = &x};
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_set_profiler(scene.context, let_in, &intrusion), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT(intrusion.step_count > 0);
  EXPECT_STATUS(intrusion.run, TENON_ERROR_INVALID_STATE);
  EXPECT_STATUS(intrusion.set, TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(scene.session.messages.text, "another call is using this context");
  EXPECT_STATUS(tenon_context_set_profiler(scene.context, NULL, NULL), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  scene_end(&scene);
}

/* Two contexts of one engine do not know of each other. */
TENON_TEST(contexts_are_independent) {
  scene_t scene;
  tenon_context_t* other = NULL;
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  float first[20] = {1};
  float second[20] = {10};
  tenon_tensor_view_t y1;
  tenon_tensor_view_t y2;
  REQUIRE(begin(&scene));
  options.thread_count = 1;
  EXPECT_STATUS(tenon_context_create(scene.engine, &options, &other), TENON_OK);
  const tenon_tensor_view_t x1 = floats(first, 2, dims_3x4, NULL);
  const tenon_tensor_view_t x2 = floats(second, 2, dims_3x4, NULL);
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x1), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(other, 0, &x2), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_STATUS(tenon_context_run(other), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(scene.context, 0, &y1), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(other, 0, &y2), TENON_OK);
  EXPECT_NEAR(((const float*)y1.data)[0], 3, 0);
  EXPECT_NEAR(((const float*)y2.data)[0], 21, 0);
  tenon_context_destroy(other);
  scene_end(&scene);
}

/* ---- States ---- */

/* Two states that exchange their values, each run: a' = b + x, b' = a; y = the old a. */
static bool begin_states(scene_t* scene) {
  static const int64_t dims[] = {2};
  static const float starts[2][2] = {{1, 2}, {10, 20}};
  static const char* const names[] = {"a", "b"};
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_value_t old[2] = {{0}};
  tenon_value_t x = ABSENT;
  tenon_value_t sum = ABSENT;
  if (!scene_begin(scene)) {
    return false;
  }
  tenon_network_t* network = scene->session.network;
  tenon_builder_t* builder = tenon_network_get_builder(network);
  EXPECT_STATUS(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 1, dims, &x), TENON_OK);
  for (int i = 0; i < 2; ++i) {
    const tenon_state_descriptor_t state = {.size = sizeof state,
                                            .name = names[i],
                                            .dtype = TENON_DTYPE_FLOAT32,
                                            .rank = 1,
                                            .dims = dims,
                                            .initial_data = starts[i]};
    EXPECT_STATUS(table->add_state(builder, &state, &old[i]), TENON_OK);
  }
  EXPECT_STATUS(
      tenon_network_add(network, "standard.add/1", "sum", VALUES(old[1], x), NULL, &sum, 1),
      TENON_OK);
  EXPECT_STATUS(table->write_state(builder, "a", sum), TENON_OK);
  EXPECT_STATUS(table->write_state(builder, "b", old[0]), TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, old[0], "y"), TENON_OK);
  return scene_start(scene, NULL);
}

static float step(tenon_context_t* context, float first) {
  static const int64_t dims[] = {2};
  float data[] = {first, 0};
  tenon_tensor_view_t y = {.data = NULL};
  const tenon_tensor_view_t x = floats(data, 1, dims, NULL);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
  return y.data == NULL ? NAN : ((const float*)y.data)[0];
}

TENON_TEST(states_may_exchange_their_values) {
  scene_t scene;
  float a[2] = {0};
  REQUIRE(begin_states(&scene));
  EXPECT_NEAR(step(scene.context, 100), 1, 0); /* a 1, b 10 -> a 110, b 1 */
  EXPECT_NEAR(step(scene.context, 0), 110, 0); /* -> a 1, b 110 */
  EXPECT_NEAR(step(scene.context, 5), 1, 0);   /* -> a 115, b 1 */
  EXPECT_STATUS(tenon_context_read_state(scene.context, "a", a, sizeof a), TENON_OK);
  EXPECT_NEAR(a[0], 115, 0);
  scene_end(&scene);
}

TENON_TEST(states_are_read_written_reset_and_cloned) {
  scene_t scene;
  float a[2] = {7, 8};
  tenon_context_t* other = NULL;
  REQUIRE(begin_states(&scene));
  EXPECT_STATUS(tenon_context_create(scene.engine, NULL, &other), TENON_OK);
  EXPECT_STATUS(tenon_context_write_state(scene.context, "a", a, sizeof a), TENON_OK);
  EXPECT_STATUS(tenon_context_clone_states(other, scene.context), TENON_OK);
  EXPECT_NEAR(step(scene.context, 0), 7, 0);
  EXPECT_NEAR(step(other, 0), 7, 0);
  EXPECT_STATUS(tenon_context_reset_states(other), TENON_OK);
  EXPECT_NEAR(step(other, 0), 1, 0);
  EXPECT_STATUS(tenon_context_read_state(other, "c", a, sizeof a), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(scene.session.messages.text, "'c'");
  EXPECT_STATUS(tenon_context_write_state(other, "a", a, 4), TENON_ERROR_INVALID_ARGUMENT);
  tenon_context_destroy(other);
  scene_end(&scene);
}

/* x repeated as often as a computed number says: its maximum makes a shape, the copies do not. */
TENON_TEST(tells_steps_that_make_shapes) {
  static const int64_t one[] = {1};
  int64_t begin[] = {2};
  float number[] = {7};
  scene_t scene;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_value_t inputs[2];
  tenon_value_t y = ABSENT;
  REQUIRE(scene_begin(&scene));
  tenon_network_t* network = scene.session.network;
  options.no_measuring = 1;
  EXPECT_STATUS(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 1, one, &inputs[0]),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_input(network, "n", TENON_DTYPE_INT64, 1, one, &inputs[1]),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add(network, "standard.reduce_max/1", "largest", &inputs[1], 1, NULL,
                                  &inputs[1], 1),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add(network, "standard.tile/1", "more", inputs, 2, NULL, &y, 1),
                TENON_OK);
  EXPECT_STATUS(
      tenon_builder_get_table()->expression(tenon_network_get_builder(network), "y = x + 1",
                                            (const char* const[]){"x"}, &y, 1, "added", &y),
      TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, y, "y"), TENON_OK);
  REQUIRE(scene_start(&scene, &options));
  const tenon_tensor_view_t x = floats(number, 1, one, NULL);
  tenon_tensor_view_t n = floats(number, 1, one, NULL);
  n.dtype = TENON_DTYPE_INT64;
  n.data = begin;
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(scene.context, 1, &n), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  uint32_t shapes = 0;
  uint32_t others = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(scene.engine); ++k) {
    tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
    EXPECT_STATUS(tenon_context_get_step_work(scene.context, k, &work), TENON_OK);
    shapes += (work.flags & TENON_STEP_IS_SHAPE) != 0 ? 1 : 0;
    others += (work.flags & (TENON_STEP_IS_SHAPE | TENON_STEP_IS_ELEMENTWISE)) ==
                      TENON_STEP_IS_ELEMENTWISE
                  ? 1
                  : 0;
  }
  EXPECT_INT(shapes, 1);
  EXPECT_INT(others, 1);
  scene_end(&scene);
}

/* 2 x 3 by 3 x 4: 24 products and sums; then one addition of a constant for each of 8 results. */
TENON_TEST(tells_what_the_steps_did) {
  static const int64_t dims[] = {-1, 3};
  static const int64_t min[] = {1, 3};
  static const int64_t most[] = {5, 3};
  static const int64_t weights[] = {3, 4};
  static const float numbers[12] = {1, 2, 3};
  float data[15] = {0};
  const tenon_profile_range_t range = {"x", 2, min, min, most};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  scene_t scene;
  tenon_value_t operands[2];
  tenon_value_t y = ABSENT;
  REQUIRE(scene_begin(&scene));
  tenon_network_t* network = scene.session.network;
  options.profiles = (tenon_list_t){&profile, 1, sizeof(profile)};
  options.no_fusion = 1;
  options.no_measuring = 1;
  EXPECT_STATUS(tenon_network_add_input(network, "x", TENON_DTYPE_FLOAT32, 2, dims, &operands[0]),
                TENON_OK);
  EXPECT_STATUS(tenon_network_add_constant(network, "w", TENON_DTYPE_FLOAT32, 2, weights, numbers,
                                           &operands[1]),
                TENON_OK);
  EXPECT_STATUS(
      tenon_network_add(network, "standard.mat_mul/1", "product", operands, 2, NULL, &y, 1),
      TENON_OK);
  EXPECT_STATUS(
      tenon_builder_get_table()->expression(tenon_network_get_builder(network), "y = x + 1",
                                            (const char* const[]){"x"}, &y, 1, "more", &y),
      TENON_OK);
  EXPECT_STATUS(tenon_network_add_output(network, y, "y"), TENON_OK);
  REQUIRE(scene_start(&scene, &options));
  tenon_step_work_t work = TENON_OPTIONS(tenon_step_work_t);
  EXPECT_STATUS(tenon_context_get_step_work(scene.context, 0, &work), TENON_ERROR_INVALID_STATE);
  for (int64_t rows = 2; rows <= 5; rows += 3) {
    const int64_t given[] = {rows, 3};
    const tenon_tensor_view_t x = floats(data, 2, given, NULL);
    EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &x), TENON_OK);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    REQUIRE(tenon_engine_step_count(scene.engine) == 2);
    EXPECT_STATUS(tenon_context_get_step_work(scene.context, 0, &work), TENON_OK);
    EXPECT(work.operations == 2 * 3 * 4 * (double)rows);
    EXPECT(work.bytes_read == 4 * (3 * (double)rows + 12));
    EXPECT(work.bytes_written == 4 * 4 * (double)rows);
    EXPECT_INT(work.flags, 0);
    EXPECT_STATUS(tenon_context_get_step_work(scene.context, 1, &work), TENON_OK);
    EXPECT(work.operations == 4 * (double)rows);
    EXPECT_INT(work.flags, TENON_STEP_IS_ELEMENTWISE);
  }
  EXPECT_STATUS(tenon_context_get_step_work(scene.context, 2, &work), TENON_ERROR_INVALID_ARGUMENT);
  /* The product lies in the arena from the first step to the second, at five rows. */
  REQUIRE(tenon_engine_block_count(scene.engine) == 1);
  tenon_block_info_t block = {.size = sizeof(block)};
  EXPECT_STATUS(tenon_engine_get_block(scene.engine, 0, &block), TENON_OK);
  EXPECT(block.size_bytes >= 80 && block.size_bytes < 80 + 64);
  EXPECT_INT(block.first_step, 0);
  EXPECT_INT(block.last_step, 1);
  EXPECT_STATUS(tenon_engine_get_block(scene.engine, 1, &block), TENON_ERROR_INVALID_ARGUMENT);
  scene_end(&scene);
}
