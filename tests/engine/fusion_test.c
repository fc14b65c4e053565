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
    session_expect(s, "softmax",
                   tenon_network_add(s->network, "standard.softmax/1", NULL, &x, 1,
                                     &(tenon_list_t){&axis, 1, sizeof(tenon_attribute_t)}, &x, 1));
  }
  session_expect(s, "output", tenon_network_add_output(s->network, x, "y"));
}

static uint32_t steps_by(const scene_t* scene, const char* plugin) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < tenon_engine_step_count(scene->engine); ++k) {
    tenon_step_info_t info = {.size = sizeof(info)};
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

static tenon_value_t add_node(session_t* s, const char* op, const tenon_value_t* inputs,
                              uint32_t input_count, const tenon_attribute_t* attribute) {
  tenon_value_t y = {0};
  const tenon_list_t attributes = {attribute, attribute == NULL ? 0 : 1, sizeof(*attribute)};
  session_expect(s, op,
                 tenon_network_add(s->network, op, NULL, inputs, input_count, &attributes, &y, 1));
  return y;
}

/* relu(normalise(x + r)), whose mean and deviation no node reads. */
static void add_normalised(session_t* s, bool in_groups) {
  static const float ones[4] = {1, 1, 1, 1};
  const tenon_attribute_t groups = TENON_INT("groups", 2);
  tenon_value_t operands[2];
  tenon_value_t in[3];
  for (int k = 0; k < 2; ++k) {
    session_expect(s, "input",
                   tenon_network_add_input(s->network, k == 0 ? "x" : "r", TENON_DTYPE_FLOAT32, 3,
                                           (const int64_t[]){2, 4, 4}, &operands[k]));
    session_expect(s, "constant",
                   tenon_network_add_constant(s->network, NULL, TENON_DTYPE_FLOAT32, 1,
                                              (const int64_t[]){4}, ones, &in[1 + k]));
  }
  in[0] = add_node(s, "standard.add/1", operands, 2, NULL);
  const tenon_value_t normal = in_groups ? add_node(s, "standard.group_norm/1", in, 3, &groups)
                                         : add_node(s, "standard.layer_norm/1", in, 3, NULL);
  session_expect(
      s, "output",
      tenon_network_add_output(s->network, add_node(s, "standard.relu/1", &normal, 1, NULL), "y"));
}

TENON_TEST(arithmetic_around_a_normalisation_becomes_part_of_its_step) {
  for (uint32_t k = 0; k < 4; ++k) {
    scene_t scene;
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    options.no_measuring = k / 2 == 0;
    if (!scene_begin(&scene)) {
      continue;
    }
    add_normalised(&scene.session, k % 2 == 1);
    if (scene_load(&scene, &options) && options.no_measuring) {
      /* Groups are a view of the sum, and the scale of a channel is applied behind it. */
      EXPECT(tenon_engine_step_count(scene.engine) <= (k == 0 ? 1u : 3u));
    }
    scene_end(&scene);
  }
}
