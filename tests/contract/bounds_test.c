/* A kernel that writes outside of its memory is refused, and the refusal names the memory. */
#include "scene.h"

enum { COUNT = 50 };

static void expect_refusal(const char* op, const char* text) {
  scene_t scene;
  REQUIRE(SCENE_OPEN(&scene, CONTRACT_FOLDER "/bounds"));
  scene_one_node(&scene, op, COUNT);
  REQUIRE(scene_start(&scene));
  REQUIRE(tenon_engine_step_count(scene.engine) == 1);
  EXPECT_TEXT(scene_step(&scene, 0).plugin, "cpu");
  EXPECT_CONTAINS(scene_step(&scene, 0).refusals, text);
  scene_close(&scene);
}

TENON_TEST(a_few_elements_behind_an_output_are_noticed) {
  expect_refusal("standard.relu/1",
                 "bounds:behind (default): is wrong: writes behind its output 0");
}

TENON_TEST(an_element_in_front_of_an_output_is_noticed) {
  expect_refusal("standard.abs/1",
                 "bounds:front (default): is wrong: writes in front of its output 0");
}

TENON_TEST(a_byte_behind_the_scratch_memory_is_noticed) {
  expect_refusal("standard.exp/1",
                 "bounds:scratch (scratch): is wrong: writes behind its 96 bytes of scratch");
}
