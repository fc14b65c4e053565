/* A plan meets other builds of the plugin that packed its weights: its own, one of the same name
 * and version that packs otherwise, one whose kernel has another version, none. */
#include "scene.h"

enum { COUNT = 4 };

static const char own[] = CONTRACT_FOLDER "/packed_1";
static const char another[] = CONTRACT_FOLDER "/packed_2";
static const char another_version[] = CONTRACT_FOLDER "/packed_3";
static const char none[] = CONTRACT_FOLDER "/memory";

static const float x[COUNT] = {1, -2, 3, 4};
static const float product[COUNT] = {3, -10, 21, 44};

/* The plan is the first scene's, built with its plugin. */
static bool build_plan(scene_t* scene, uint32_t tuned_only) {
  static const float w[COUNT] = {3, 5, 7, 11};
  static const char* const exclude[] = {"cpu", "memory",
                                        NULL}; /* memory is not where it is loaded */
  const int64_t count = COUNT;
  if (!SCENE_OPEN(scene, own, none)) {
    return false;
  }
  tenon_value_t inputs[2] = {scene_input(scene, "x", 1, &count)};
  EXPECT_STATUS(tenon_network_add_constant(scene->network, "w", TENON_DTYPE_FLOAT32, 1, &count, w,
                                           &inputs[1]),
                TENON_OK);
  scene_output(scene, scene_node(scene, "packed.scale/1", "node", inputs, 2), "y");
  scene->options.exclude = exclude;
  scene->options.no_measuring = 1;
  scene->options.tuned_only = tuned_only;
  const bool is_built = scene_build(scene) == TENON_OK;
  if (!is_built) {
    tenon__test_fail(__FILE__, __LINE__, "%s", scene->messages.text);
  }
  return is_built;
}

/* Loads the first scene's plan with the plugins of `folder`. */
static tenon_status_t load(const scene_t* built, const char* folder,
                           const tenon_engine_options_t* options, scene_t* scene) {
  const void* data = NULL;
  size_t size = 0;
  tenon_status_t status = tenon_plan_get_data(built->plan, &data, &size);
  if (!SCENE_OPEN(scene, folder) || status != TENON_OK) {
    return TENON_ERROR_INTERNAL;
  }
  status = tenon_engine_create_from_memory(scene->registry, data, size, options, &scene->engine);
  return status != TENON_OK ? status : tenon_context_create(scene->engine, NULL, &scene->context);
}

static void expect_result(scene_t* scene, const float* expected) {
  scene_feed(scene, 0, x, COUNT);
  EXPECT_STATUS(tenon_context_run(scene->context), TENON_OK);
  const float* y = scene_result(scene, 0);
  REQUIRE(y != NULL);
  for (int k = 0; k < COUNT; ++k) {
    EXPECT_NEAR(y[k], expected[k], 0); /* powers of two and small integers: exact */
  }
}

static uint32_t is_rebuilt(const scene_t* scene) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  EXPECT_STATUS(tenon_engine_get_info(scene->engine, &info), TENON_OK);
  return info.rebuilt;
}

/* The line "packed 1.0.0 SHA256" of the plugins that an engine names. */
static const char* digest_of(const scene_t* scene, char text[65]) {
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  EXPECT_STATUS(tenon_engine_get_info(scene->engine, &info), TENON_OK);
  const char* line = info.plugins == NULL ? NULL : strstr(info.plugins, "packed 1.0.0 ");
  (void)snprintf(text, 65, "%s", line == NULL ? "?" : line + strlen("packed 1.0.0 "));
  return text;
}

TENON_TEST(with_the_same_file_nothing_is_said) {
  scene_t built;
  scene_t scene;
  REQUIRE(build_plan(&built, 0));
  scene_hush(&built);
  EXPECT_STATUS(load(&built, own, NULL, &scene), TENON_OK);
  REQUIRE(scene.context != NULL);
  EXPECT_INT(is_rebuilt(&scene), 0);
  EXPECT_INT(scene.messages.count, 0);
  EXPECT_TEXT(scene_step(&scene, 0).plugin, "packed");
  expect_result(&scene, product);
  scene_close(&scene);
  scene_close(&built);
}

TENON_TEST(with_another_file_weights_are_packed_again) {
  char digests[2][65];
  scene_t built;
  scene_t first;
  scene_t scene;
  REQUIRE(build_plan(&built, 0));
  EXPECT_STATUS(load(&built, own, NULL, &first), TENON_OK);
  EXPECT_STATUS(load(&built, another, NULL, &scene), TENON_OK);
  REQUIRE(first.engine != NULL && scene.context != NULL);
  EXPECT_INT(is_rebuilt(&scene), 1);
  EXPECT_CONTAINS(scene.messages.text, "plugin 'packed'");
  EXPECT_CONTAINS(scene.messages.text, "packed_2.so) is not the file that the plan was built with");
  EXPECT_CONTAINS(scene.messages.text, digest_of(&first, digests[0]));
  EXPECT_CONTAINS(scene.messages.text, digest_of(&scene, digests[1]));
  EXPECT(strcmp(digests[0], digests[1]) != 0);
  EXPECT_CONTAINS(scene.messages.text, "weights packed again");
  EXPECT_TEXT(scene_step(&scene, 0).plugin, "packed");
  expect_result(&scene, product);
  EXPECT_STATUS(tenon_engine_verify(first.engine), TENON_OK);
  EXPECT_STATUS(tenon_engine_verify(scene.engine), TENON_ERROR_INVALID_DATA);
  scene_close(&scene);
  scene_close(&first);
  scene_close(&built);
}

TENON_TEST(a_kernel_of_another_version_is_chosen_anew) {
  scene_t built;
  scene_t scene;
  REQUIRE(build_plan(&built, 0));
  EXPECT_STATUS(load(&built, another_version, NULL, &scene), TENON_OK);
  REQUIRE(scene.context != NULL);
  EXPECT_INT(is_rebuilt(&scene), 1);
  expect_result(&scene, product);
  scene_close(&scene);
  scene_close(&built);
}

static void expect_refused(const scene_t* built, const char* folder,
                           const tenon_engine_options_t* options, tenon_status_t status,
                           const char* message) {
  scene_t scene;
  EXPECT_STATUS(load(built, folder, options, &scene), status);
  EXPECT(scene.engine == NULL);
  EXPECT_CONTAINS(scene.messages.text, message);
  scene_close(&scene);
}

TENON_TEST(who_wants_no_other_gets_none) {
  tenon_engine_options_t refuse = TENON_OPTIONS(tenon_engine_options_t);
  tenon_engine_options_t verify = TENON_OPTIONS(tenon_engine_options_t);
  refuse.plugins = TENON_PLUGINS_REFUSE;
  verify.verify = 1;
  scene_t built;
  REQUIRE(build_plan(&built, 0));
  const char* const message = "is not the file that the plan was built with: its SHA-256 is ";
  expect_refused(&built, another, &refuse, TENON_ERROR_INVALID_DATA, message);
  expect_refused(&built, another, &verify, TENON_ERROR_INVALID_DATA, message);
  expect_refused(&built, none, &refuse, TENON_ERROR_NOT_FOUND,
                 "which the plan names, is not there");
  refuse.plugins = TENON_PLUGINS_ACCEPT + 1;
  expect_refused(&built, own, &refuse, TENON_ERROR_INVALID_ARGUMENT, "there is no way 3");
  scene_close(&built);
}

TENON_TEST(what_cannot_be_made_again_is_refused) {
  scene_t built;
  REQUIRE(build_plan(&built, 0));
  expect_refused(&built, none, NULL, TENON_ERROR_UNSUPPORTED,
                 "plugin 'packed' 1.0.0, which the plan names, is not there");
  expect_refused(&built, none, NULL, TENON_ERROR_UNSUPPORTED,
                 "the plan cannot be made again with the plugins that are here: build it again, or "
                 "bring back those that it was built with");
  scene_close(&built);
}

/* With the weights as the first packed them. */
TENON_TEST(who_accepts_others_is_warned) {
  static const float wrong[COUNT] = {0.75F, -2.5F, 5.25F, 11};
  tenon_engine_options_t accept = TENON_OPTIONS(tenon_engine_options_t);
  accept.plugins = TENON_PLUGINS_ACCEPT;
  scene_t built;
  scene_t scene;
  REQUIRE(build_plan(&built, 0));
  EXPECT_STATUS(load(&built, another, &accept, &scene), TENON_OK);
  REQUIRE(scene.context != NULL);
  EXPECT_INT(is_rebuilt(&scene), 0);
  EXPECT_CONTAINS(scene.messages.text, "is not the file that the plan was built with");
  expect_result(&scene, wrong);
  scene_close(&scene);
  expect_refused(&built, another_version, &accept, TENON_ERROR_NOT_FOUND,
                 "which has another version here");
  scene_close(&built);
}

TENON_TEST(a_plan_without_its_weights_is_refused) {
  scene_t built;
  scene_t scene;
  REQUIRE(build_plan(&built, 1));
  expect_refused(&built, another, NULL, TENON_ERROR_INVALID_DATA, "(tuned_only): build it again");
  EXPECT_STATUS(load(&built, own, NULL, &scene), TENON_OK);
  REQUIRE(scene.context != NULL);
  expect_result(&scene, product);
  scene_close(&scene);
  scene_close(&built);
}
