/* The number of kernels that match by pattern has no limit. */
#include <stdio.h>

#include "scene.h"

TENON_TEST(each_of_a_hundred_kernels_is_asked) {
  scene_t scene;
  REQUIRE(SCENE_OPEN(&scene, CONTRACT_FOLDER "/many"));
  scene.options.no_measuring = 1;
  scene_one_node(&scene, "standard.relu/1", 4);
  REQUIRE(scene_start(&scene));
  const char* refusals = scene_step(&scene, 0).refusals;
  EXPECT_TEXT(scene_step(&scene, 0).kernel, "many00"); /* the others have no estimate */
  for (int k = 1; k < 100; ++k) {
    char text[32];
    (void)snprintf(text, sizeof text, "many:many%02d", k);
    EXPECT_CONTAINS(refusals, text);
  }
  scene_close(&scene);
}
