/* An operator with an expression needs no kernel; one that names it is asked all the same. */
#include "scene.h"

enum { COUNT = 4 };

/* x -> op -> y with the stranger beside ours. */
static bool start(scene_t* scene, const char* op, uint32_t no_measuring) {
  if (!SCENE_OPEN(scene, CONTRACT_FOLDER "/named")) {
    return false;
  }
  scene->options.no_measuring = no_measuring;
  scene_one_node(scene, op, COUNT);
  return scene_start(scene);
}

TENON_TEST(a_quick_one_is_taken_and_runs) {
  static const float x[COUNT] = {1, -1, 2, -2};
  static const float expected[COUNT] = {1, 0, 2, 0};
  scene_t scene;
  REQUIRE(start(&scene, "standard.relu/1", 1));
  EXPECT(tenon_engine_step_count(scene.engine) == 1);
  EXPECT_TEXT(scene_step(&scene, 0).plugin, "named");
  scene_feed(&scene, 0, x, COUNT);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  const float* y = scene_result(&scene, 0);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(y[k], expected[k], 0);
  }
  scene_close(&scene);
}

TENON_TEST(a_slow_one_is_not_and_the_plan_says_so) {
  scene_t scene;
  REQUIRE(start(&scene, "standard.abs/1", 0));
  EXPECT(tenon_engine_step_count(scene.engine) == 1);
  EXPECT_TEXT(scene_step(&scene, 0).plugin, "cpu");
  EXPECT_CONTAINS(scene_step(&scene, 0).refusals, "named:slow: 1 node at once: was slower");
  scene_close(&scene);
}

TENON_TEST(one_that_refuses_says_why) {
  scene_t scene;
  REQUIRE(start(&scene, "standard.exp/1", 1));
  EXPECT_TEXT(scene_step(&scene, 0).plugin, "cpu");
  EXPECT_CONTAINS(scene_step(&scene, 0).refusals, "named:choosy: ");
  EXPECT_CONTAINS(scene_step(&scene, 0).refusals, "not on a Monday");
  scene_close(&scene);
}
