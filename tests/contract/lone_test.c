/* An operator's only fast kernel is compared with the operator's reference kernel. */
#include "scene.h"

enum { COUNT = 64 };

static void expect_kernel(const char* op, int64_t count, const char* kernel, float factor) {
  float x[COUNT];
  scene_t scene;
  for (int k = 0; k < COUNT; ++k) {
    x[k] = (float)k - 5;
  }
  REQUIRE(SCENE_OPEN(&scene, CONTRACT_FOLDER "/lone"));
  scene_one_node(&scene, op, count);
  REQUIRE(scene_start(&scene));
  REQUIRE(tenon_engine_step_count(scene.engine) == 1);
  EXPECT_TEXT(scene_step(&scene, 0).kernel, kernel);
  scene_feed(&scene, 0, x, (uint32_t)count);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(scene_result(&scene, 0)[k], factor * x[k], 0);
  }
  scene_close(&scene);
}

TENON_TEST(a_wrong_one_is_refused_and_the_reference_runs) {
  expect_kernel("lone.twice/1", COUNT, "exact", 2);
}

TENON_TEST(a_right_one_is_taken) {
  expect_kernel("lone.thrice/1", COUNT, "fast_thrice", 3);
}

TENON_TEST(the_refusal_names_value_and_element) {
  scene_t scene;
  REQUIRE(SCENE_OPEN(&scene, CONTRACT_FOLDER "/lone"));
  scene_one_node(&scene, "lone.twice/1", COUNT);
  REQUIRE(scene_start(&scene));
  EXPECT_CONTAINS(scene_step(&scene, 0).refusals,
                  "lone:fast (default): is wrong: computes something else than the operator's "
                  "definition: largest difference ");
  EXPECT_CONTAINS(scene_step(&scene, 0).refusals, "64 of 64 elements differ");
  scene_close(&scene);
}
