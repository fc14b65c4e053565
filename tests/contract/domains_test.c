/* Data for trials is what ports say that they take: ours and a stranger's. */
#include "scene.h"

static tenon_value_t input_of(scene_t* scene, const char* name, tenon_dtype_t dtype, uint32_t rank,
                              const int64_t* dims) {
  tenon_value_t value = {0};
  EXPECT_STATUS(tenon_network_add_input(scene->network, name, dtype, rank, dims, &value), TENON_OK);
  return value;
}

#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

TENON_TEST(a_stranger_s_domains_are_obeyed) {
  scene_t scene;
  REQUIRE(SCENE_OPEN(&scene, CONTRACT_FOLDER "/domains"));
  const tenon_value_t inputs[] = {scene_input(&scene, "x", 1, DIMS(3)),
                                  input_of(&scene, "rows", TENON_DTYPE_INT64, 1, DIMS(100)),
                                  scene_input(&scene, "scale", 1, DIMS(50)),
                                  input_of(&scene, "step", TENON_DTYPE_INT32, 1, DIMS(1))};
  scene_output(&scene, scene_node(&scene, "domains.table/1", "table", inputs, 4), "y");
  if (scene_build(&scene) != TENON_OK) {
    tenon__test_fail(__FILE__, __LINE__, "%s", scene.messages.text);
  }
  scene_close(&scene);
}

/* An index other than 0 would be out of bounds: the fast kernel is timed all the same. */
TENON_TEST(indices_stay_within_an_axis_of_one) {
  scene_t scene;
  REQUIRE(SCENE_OPEN(&scene, CONTRACT_FOLDER "/domains"));
  const tenon_value_t inputs[] = {scene_input(&scene, "x", 2, DIMS(1, 64)),
                                  input_of(&scene, "indices", TENON_DTYPE_INT64, 2, DIMS(16, 2)),
                                  scene_input(&scene, "updates", 1, DIMS(16))};
  scene_output(&scene, scene_node(&scene, "standard.scatter_nd/1", "scatter", inputs, 3), "y");
  REQUIRE(scene_start(&scene));
  const tenon_step_info_t step = scene_step(&scene, 0);
  EXPECT_TEXT(step.plugin, "cpu");
  EXPECT_TEXT(step.kernel, "scatter");
  EXPECT(step.measured_seconds > 0);
  EXPECT(strstr(step.refusals, "failed when it was tried") == NULL);
  scene_close(&scene);
}
