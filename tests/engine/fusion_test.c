/* What expressions become one step: as much as a kernel takes, and never what only the reference
 * would take together. */
#include <string.h>

#include "core/base/test.h"
#include "tests/api/scene.h"

enum { EXTENT = 32 };

/* Softmax along one axis, then along the other, `count` times. */
static void add_softmaxes(session_t* s, uint32_t count) {
  tenon_value_t x;
  session_expect(s, "input",
                 tenon_network_add_input(s->network, "x", TENON_DTYPE_FLOAT32, 2,
                                         (const int64_t[]){EXTENT, EXTENT}, &x));
  for (uint32_t k = 0; k < count; ++k) {
    const tenon_attribute_t axis = TENON_INT("axis", k % 2);
    session_expect(
        s, "softmax",
        tenon_network_add(s->network, "standard.softmax/1", NULL, &x, 1, &axis, 1, &x, 1));
  }
  session_expect(s, "output", tenon_network_add_output(s->network, x, "y"));
}

static uint32_t steps_by(const scene_t* scene, const char* plugin) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(scene->engine); ++k) {
    tenon_step_info_t info;
    EXPECT_STATUS(tenon_engine_get_step(scene->engine, k, &info), TENON_OK);
    count += strcmp(info.plugin, plugin) == 0 ? 1 : 0;
  }
  return count;
}

TENON_TEST(what_only_the_reference_would_take_together_stays_apart) {
  for (uint32_t measures = 0; measures < 2; ++measures) {
    scene_t scene;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = measures == 0;
    if (!scene_begin(&scene)) {
      continue;
    }
    add_softmaxes(&scene.session, 4);
    if (scene_load(&scene, &options)) {
      EXPECT_INT(steps_by(&scene, "reference"), 0);
      EXPECT_INT(steps_by(&scene, "cpu"), 4);
    }
    scene_end(&scene);
  }
}

TENON_TEST(what_a_kernel_takes_together_is_together) {
  scene_t scene;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_measuring = 1;
  if (scene_begin(&scene)) {
    add_softmaxes(&scene.session, 1);
    if (scene_load(&scene, &options)) {
      EXPECT_INT(tenon_engine_step_count(scene.engine), 1);
    }
    scene_end(&scene);
  }
}
