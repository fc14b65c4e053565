/* A device whose kernels name operators with expressions, and which computes no expression. */
#include <math.h>

#include "scene.h"

enum { COUNT = 4 };

static const float given[COUNT] = {1, -1, 2, -2};

static bool open_npu(scene_t* scene) {
  if (!SCENE_OPEN(scene, CONTRACT_FOLDER "/npu")) {
    return false;
  }
  scene->options.device = "npu";
  return true;
}

/* x -> tanh -> exp -> relu -> y; a last one of rank 2, which the device refuses. */
static void make_chain(scene_t* scene) {
  const int64_t count = COUNT;
  const int64_t dims[2] = {2, 2};
  const tenon_value_t x = scene_input(scene, "x", 1, &count);
  const tenon_value_t t = scene_unary(scene, "standard.tanh/1", "first", x);
  const tenon_value_t e = scene_unary(scene, "standard.exp/1", "middle", t);
  scene_output(scene, scene_unary(scene, "standard.relu/1", "last", e), "y");
  const tenon_value_t square = scene_input(scene, "square", 2, dims);
  scene_output(scene, scene_unary(scene, "standard.relu/1", "refused", square), "z");
}

/* The step of that node. */
static tenon_step_info_t find_step(scene_t* scene, const char* name) {
  tenon_step_info_t step = {.size = sizeof(step), .device = "", .kernel = "", .plugin = ""};
  for (uint32_t k = 0; k < tenon_engine_step_count(scene->engine); ++k) {
    const tenon_step_info_t info = scene_step(scene, k);
    step = strcmp(info.name, name) == 0 && strcmp(info.plugin, "") != 0 ? info : step;
  }
  return step;
}

static void expect_places(scene_t* scene) {
  static const char* const rows[4][2] = {
      {"first", "npu:0"}, {"middle", "cpu"}, {"last", "npu:0"}, {"refused", "cpu"}};
  for (int k = 0; k < 4; ++k) {
    EXPECT_TEXT(find_step(scene, rows[k][0]).device, rows[k][1]);
  }
  EXPECT_TEXT(find_step(scene, "first").kernel, "tanh");
  EXPECT_TEXT(find_step(scene, "last").kernel, "relu");
}

static void expect_numbers(scene_t* scene) {
  static const int64_t dims[2] = {2, 2};
  const tenon_tensor_view_t square = {.data = (void*)given,
                                      .dims = dims,
                                      .rank = 2,
                                      .dtype = TENON_DTYPE_FLOAT32,
                                      .layout = TENON_NONE};
  scene_feed(scene, 0, given, COUNT);
  EXPECT_STATUS(tenon_context_set_input(scene->context, 1, &square), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene->context), TENON_OK);
  const float* y = scene_result(scene, 0);
  const float* z = scene_result(scene, 1);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(y[k], expf(tanhf(given[k])), 1e-6);
    EXPECT_NEAR(z[k], given[k] > 0 ? given[k] : 0, 0);
  }
}

TENON_TEST(kernels_by_name_get_the_nodes_of_their_operators) {
  for (uint32_t no_measuring = 0; no_measuring < 2; ++no_measuring) {
    scene_t scene;
    REQUIRE(open_npu(&scene));
    scene.options.no_measuring = no_measuring;
    make_chain(&scene);
    REQUIRE(scene_start(&scene));
    expect_places(&scene);
    expect_numbers(&scene);
    EXPECT(strstr(scene.messages.text, "computes nothing") == NULL);
    scene_close(&scene);
  }
}

TENON_TEST(a_node_may_be_assigned_to_a_kernel_by_name) {
  static const char* const devices[] = {"last=cpu", "first=npu:0", NULL};
  scene_t scene;
  REQUIRE(open_npu(&scene));
  scene.options.node_devices = devices;
  make_chain(&scene);
  REQUIRE(scene_start(&scene));
  EXPECT_TEXT(find_step(&scene, "first").device, "npu:0");
  expect_numbers(&scene);
  scene_close(&scene);
}

TENON_TEST(a_device_that_computes_nothing_is_told) {
  scene_t scene;
  REQUIRE(open_npu(&scene));
  scene_one_node(&scene, "standard.exp/1", COUNT);
  REQUIRE(scene_start(&scene));
  EXPECT_CONTAINS(scene.messages.text,
                  "device 'npu:0' computes nothing: its kernels take no node of the network; all 1 "
                  "steps run on 'cpu'\n");
  scene_close(&scene);
}

/* The refusals of one multiplication of matrices. */
static const char* multiply(scene_t* scene) {
  const int64_t dims[2] = {2, 2};
  const tenon_value_t operands[2] = {scene_input(scene, "a", 2, dims),
                                     scene_input(scene, "b", 2, dims)};
  scene_output(scene, scene_node(scene, "standard.mat_mul/1", "multiply", operands, 2), "y");
  return scene_start(scene) ? find_step(scene, "multiply").refusals : "";
}

TENON_TEST(a_reference_of_another_device_is_not_refused_by_policy) {
  scene_t scene;
  REQUIRE(open_npu(&scene));
  const char* refusals = multiply(&scene);
  EXPECT_CONTAINS(refusals, "npu:plain: is for another device\n");
  EXPECT_CONTAINS(refusals, "reference:mat_mul: is excluded by the build's policy");
  scene_close(&scene);
}

TENON_TEST(kernels_of_devices_that_the_build_does_not_use_are_not_listed) {
  scene_t scene;
  REQUIRE(open_npu(&scene));
  scene.options.device = NULL;
  const char* refusals = multiply(&scene);
  EXPECT_CONTAINS(refusals, "reference:mat_mul");
  EXPECT(strstr(refusals, "npu:") == NULL);
  scene_close(&scene);
}
