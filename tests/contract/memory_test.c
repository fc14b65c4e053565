/* Memory that kernels are given: rules of zeros share none, scratch suffices for the threads that
 * there are, and who calls parallel within parallel is told so. */
#include "scene.h"

#define MEMORY CONTRACT_FOLDER "/memory"

TENON_TEST(rules_of_zeros_overwrite_no_input) {
  enum { COUNT = 256, NODES = 4 };
  scene_t scene;
  float x[COUNT];
  REQUIRE(SCENE_OPEN(&scene, MEMORY));
  const int64_t count = COUNT;
  tenon_value_t v = scene_input(&scene, "x", 1, &count);
  for (int k = 0; k < NODES; ++k) {
    v = scene_unary(&scene, "memory.reverse/1", (const char*[]){"a", "b", "c", "d"}[k], v);
  }
  scene_output(&scene, v, "y");
  REQUIRE(scene_start(&scene));
  for (int k = 0; k < COUNT; ++k) {
    x[k] = (float)k;
  }
  scene_feed(&scene, 0, x, COUNT);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  const float* y = scene_result(&scene, 0);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(y[k], x[k], 0);
  }
  scene_close(&scene);
}

/* The plan was tuned for two threads. */
TENON_TEST(each_context_has_scratch_for_its_own_threads) {
  static const uint32_t threads[] = {1, 2, 8};
  float x[4] = {0};
  scene_t scene;
  REQUIRE(SCENE_OPEN(&scene, MEMORY));
  scene_one_node(&scene, "memory.threads/1", 4);
  scene.options.thread_count = 2;
  scene.options.no_measuring = 1; /* it computes something else with other threads */
  REQUIRE(scene_build(&scene) == TENON_OK);
  for (int k = 0; k < 3; ++k) {
    EXPECT_STATUS(scene_load(&scene, threads[k]), TENON_OK);
    scene_feed(&scene, 0, x, 4);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
    const float* y = scene_result(&scene, 0);
    EXPECT_NEAR(y[0], threads[k], 0);
    EXPECT_NEAR(y[1], threads[k], 0);
    EXPECT_NEAR(y[2], 0, 0);
    EXPECT_INT(tenon_engine_scratch_bytes(scene.engine, threads[k]), 192 + 4096 * threads[k]);
    tenon_context_destroy(scene.context);
    tenon_engine_release(scene.engine);
    scene.context = NULL;
    scene.engine = NULL;
  }
  scene_close(&scene);
}

TENON_TEST(parallel_within_parallel_is_an_error) {
  static const uint32_t threads[] = {1, 3};
  float x[4] = {0};
  for (int k = 0; k < 2; ++k) {
    scene_t scene;
    REQUIRE(SCENE_OPEN(&scene, MEMORY));
    scene_one_node(&scene, "memory.nested/1", 4);
    scene.options.no_measuring = 1;
    REQUIRE(scene_build(&scene) == TENON_OK);
    REQUIRE(scene_load(&scene, threads[k]) == TENON_OK);
    scene_feed(&scene, 0, x, 4);
    EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_INVALID_STATE);
    EXPECT_CONTAINS(scene.messages.text,
                    "node (memory.nested/1, memory:nested): the kernel calls "
                    "`parallel` within `parallel`");
    scene_close(&scene);
  }
}
