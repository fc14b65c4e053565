/* A network made by hand, built with the plugins of some of this folder's strangers beside ours,
 * and run.
 */
#ifndef TENON_TESTS_CONTRACT_SCENE_H_
#define TENON_TESTS_CONTRACT_SCENE_H_

#include "core/base/test.h"
#include "tenon/tenon.h"

enum { SCENE_MOST_PATHS = 4 };

typedef struct scene_t {
  const char* paths[SCENE_MOST_PATHS + 1];
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
  tenon_network_t* network;
  tenon_build_options_t options; /* one thread, refusals kept */
  tenon_plan_t* plan;
  tenon_engine_t* engine;
  tenon_context_t* context;
} scene_t;

#define SCENE_OPEN(scene, ...) scene_open((scene), (const char*[]){__VA_ARGS__, NULL})

/* `plugins`: folders of strangers, CONTRACT_FOLDER "/name"; ends with NULL. */
static inline bool scene_open(scene_t* scene, const char* const* plugins) {
  memset(scene, 0, sizeof(*scene));
  for (int k = 0; k < SCENE_MOST_PATHS && plugins[k] != NULL; ++k) {
    scene->paths[k] = plugins[k];
  }
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = scene->paths;
  options.logger = *tenon__test_listen(&scene->messages);
  scene->options = TENON_OPTIONS(tenon_build_options_t);
  scene->options.thread_count = 1;
  scene->options.keep_refusals = 1;
  return tenon_registry_create(&options, &scene->registry) == TENON_OK &&
         tenon_network_create(scene->registry, &scene->network) == TENON_OK;
}

static inline void scene_forget_plan(scene_t* scene) {
  tenon_context_destroy(scene->context);
  tenon_engine_release(scene->engine);
  tenon_plan_destroy(scene->plan);
  scene->context = NULL;
  scene->engine = NULL;
  scene->plan = NULL;
}

static inline void scene_close(scene_t* scene) {
  scene_forget_plan(scene);
  tenon_network_destroy(scene->network);
  tenon_registry_release(scene->registry);
}

/* What was said so far is forgotten. */
static inline void scene_hush(scene_t* scene) {
  const tenon_sink_t sink = scene->messages.sink;
  memset(&scene->messages, 0, sizeof(scene->messages));
  scene->messages.sink = sink;
}

static inline tenon_value_t scene_input(scene_t* scene, const char* name, uint32_t rank,
                                        const int64_t* dims) {
  tenon_value_t value = {0};
  EXPECT_STATUS(
      tenon_network_add_input(scene->network, name, TENON_DTYPE_FLOAT32, rank, dims, &value),
      TENON_OK);
  return value;
}

static inline tenon_value_t scene_node(scene_t* scene, const char* op, const char* name,
                                       const tenon_value_t* inputs, uint32_t count) {
  tenon_value_t value = {0};
  const tenon_status_t status =
      tenon_network_add(scene->network, op, name, inputs, count, NULL, &value, 1);
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", name, scene->messages.text);
  }
  return value;
}

static inline tenon_value_t scene_unary(scene_t* scene, const char* op, const char* name,
                                        tenon_value_t x) {
  return scene_node(scene, op, name, &x, 1);
}

static inline void scene_output(scene_t* scene, tenon_value_t value, const char* name) {
  EXPECT_STATUS(tenon_network_add_output(scene->network, value, name), TENON_OK);
}

/* x -> op -> y, of `count` floats. */
static inline void scene_one_node(scene_t* scene, const char* op, int64_t count) {
  const tenon_value_t x = scene_input(scene, "x", 1, &count);
  scene_output(scene, scene_unary(scene, op, "node", x), "y");
}

static inline tenon_status_t scene_build(scene_t* scene) {
  return tenon_build(scene->network, &scene->options, &scene->plan);
}

static inline tenon_status_t scene_load(scene_t* scene, uint32_t thread_count) {
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  options.thread_count = thread_count;
  const tenon_status_t status =
      tenon_engine_create_from_plan(scene->registry, scene->plan, NULL, &scene->engine);
  return status != TENON_OK ? status
                            : tenon_context_create(scene->engine, &options, &scene->context);
}

/* Builds and loads; what goes wrong fails the test. */
static inline bool scene_start(scene_t* scene) {
  tenon_status_t status = scene_build(scene);
  if (status == TENON_OK) {
    status = scene_load(scene, 0);
  }
  if (status != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "status %d: %s", (int)status, scene->messages.text);
  }
  return status == TENON_OK;
}

/* Input `index` of rank 1: the data stays the caller's until the run is over. */
static inline void scene_feed(scene_t* scene, uint32_t index, const float* data, int64_t count) {
  const tenon_tensor_view_t view = {.data = (void*)data,
                                    .dims = &count,
                                    .rank = 1,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input(scene->context, index, &view), TENON_OK);
}

static inline const float* scene_result(scene_t* scene, uint32_t index) {
  tenon_tensor_view_t view = {0};
  EXPECT_STATUS(tenon_context_get_output(scene->context, index, &view), TENON_OK);
  return view.data;
}

static inline tenon_step_info_t scene_step(scene_t* scene, uint32_t index) {
  tenon_step_info_t info = {.size = sizeof(info)};
  EXPECT_STATUS(tenon_engine_get_step(scene->engine, index, &info), TENON_OK);
  return info;
}

#endif
