/* Removing a plugin's file removes what it offered, and nothing else; what then cannot be done is
 * said in one clear message. */
#include <stdlib.h>

#include "core/base/test.h"
#include "tenon/tenon.h"
#include "tests/support/plugin_folder.h"

enum { MOST_LINES = 4096 };

static const char* const plugins[] = {"host", "standard", "reference", "cpu", "onnx"};
enum { PLUGIN_COUNT = sizeof plugins / sizeof *plugins };

typedef struct index_t {
  char* lines[MOST_LINES];
  uint32_t count;
} index_t;

typedef struct scene_t {
  test_folder_t folder;
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
  tenon_network_t* network;
} scene_t;

/* A folder with copies of all plugins but `removed`, and a registry over it. */
static bool begin(scene_t* scene, const char* removed) {
  const char* const paths[] = {scene->folder.path, NULL};
  const char* build = getenv("TENON_BUILD_DIR");
  memset(scene, 0, sizeof *scene);
  bool good = test_folder_make(&scene->folder);
  for (int i = 0; i < PLUGIN_COUNT && good; ++i) {
    char path[PATH_MAX];
    char name[64];
    (void)snprintf(path, sizeof path, "%s/plugins/%s.so", build == NULL ? "." : build, plugins[i]);
    (void)snprintf(name, sizeof name, "%s.so", plugins[i]);
    const test_bytes_t bytes = test_read_file(path);
    good = bytes.data != NULL && (strcmp(plugins[i], removed) == 0 ||
                                  test_folder_write(&scene->folder, name, bytes.data, bytes.size));
    free(bytes.data);
  }
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = *tenon__test_listen(&scene->messages);
  good = good && tenon_registry_create(&options, &scene->registry) == TENON_OK &&
         tenon_network_create(scene->registry, &scene->network) == TENON_OK;
  EXPECT(good);
  return good;
}

static void end(scene_t* scene) {
  tenon_network_destroy(scene->network);
  tenon_registry_release(scene->registry);
  test_folder_remove(&scene->folder);
}

/* ---- The index ---- */

static void keep_line(void* user, const char* text) {
  index_t* index = user;
  static char pending[8192];
  const size_t used = strlen(pending);
  (void)snprintf(pending + used, sizeof pending - used, "%s", text);
  const size_t length = strlen(pending);
  if (length > 0 && pending[length - 1] == '\n' && index->count < MOST_LINES) {
    index->lines[index->count++] = strdup(pending);
    pending[0] = '\0';
  }
}

static void drop_lines(index_t* index) {
  for (uint32_t i = 0; i < index->count; ++i) {
    free(index->lines[i]);
  }
  index->count = 0;
}

static bool has_line(const index_t* index, const char* line) {
  for (uint32_t i = 0; i < index->count; ++i) {
    if (strcmp(index->lines[i], line) == 0) {
      return true;
    }
  }
  return false;
}

static bool is_of(const char* line, const char* plugin) {
  char text[80];
  (void)snprintf(text, sizeof text, "\"plugin\": \"%s\"", plugin);
  return strstr(line, text) != NULL;
}

static void compare_index(const index_t* whole, const char* removed) {
  scene_t scene;
  index_t rest = {.count = 0};
  uint32_t own = 0;
  if (!begin(&scene, removed)) {
    return;
  }
  EXPECT_STATUS(tenon_registry_print_index(scene.registry, keep_line, &rest), TENON_OK);
  for (uint32_t i = 0; i < whole->count; ++i) {
    const bool gone = is_of(whole->lines[i], removed);
    own += gone ? 1 : 0;
    if (has_line(&rest, whole->lines[i]) == gone) {
      tenon__test_fail(__FILE__, __LINE__, "without %s: %s", removed, whole->lines[i]);
    }
  }
  EXPECT(own > 0);
  EXPECT_INT(rest.count, whole->count - own);
  drop_lines(&rest);
  end(&scene);
}

TENON_TEST(what_a_plugin_offered_goes_with_it_and_nothing_else) {
  scene_t scene;
  index_t whole = {.count = 0};
  REQUIRE(begin(&scene, ""));
  EXPECT_STATUS(tenon_registry_print_index(scene.registry, keep_line, &whole), TENON_OK);
  EXPECT(whole.count > 300);
  for (int i = 0; i < PLUGIN_COUNT; ++i) {
    compare_index(&whole, plugins[i]);
  }
  drop_lines(&whole);
  end(&scene);
}

/* ---- What can still be done ---- */

static const char model[] = TENON_ROOT "/sdk/demo/digits/model.onnx";

/* The digit network is parsed, built and run; where that ends, `status` with `words`. */
static void try_digits(const char* removed, tenon_status_t expected, const char* words) {
  scene_t scene;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  if (!begin(&scene, removed)) {
    return;
  }
  tenon_status_t status = tenon_network_parse_file(scene.network, model, NULL);
  status = status == TENON_OK ? tenon_build(scene.network, NULL, &plan) : status;
  status = status == TENON_OK ? tenon_engine_create_from_plan(scene.registry, plan, NULL, &engine)
                              : status;
  EXPECT_STATUS(status, expected);
  EXPECT_CONTAINS(scene.messages.text, words);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  end(&scene);
}

TENON_TEST(what_cannot_be_done_is_said) {
  try_digits("onnx", TENON_ERROR_NOT_FOUND, "no plugin offers a parser");
  try_digits("standard", TENON_ERROR_UNSUPPORTED,
             "no plugin offers operator standard.convolution/1");
  try_digits("host", TENON_ERROR_NOT_FOUND, "no plugin offers a device");
}

TENON_TEST(what_others_offer_still_works) {
  try_digits("cpu", TENON_OK, "");
  try_digits("reference", TENON_OK, "");
}

/* A plan names the plugins that it needs: without one of them it is made again with those that are
 * left, or refused, by name. */
TENON_TEST(a_plan_that_lacks_its_plugin_says_so) {
  scene_t whole;
  scene_t rest;
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  const void* data = NULL;
  size_t size = 0;
  REQUIRE(begin(&whole, ""));
  REQUIRE(begin(&rest, "cpu"));
  EXPECT_STATUS(tenon_network_parse_file(whole.network, model, NULL), TENON_OK);
  EXPECT_STATUS(tenon_build(whole.network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_plan_get_data(plan, &data, &size), TENON_OK);
  tenon_engine_options_t options = TENON_OPTIONS(tenon_engine_options_t);
  options.plugins = TENON_PLUGINS_REFUSE;
  EXPECT_STATUS(tenon_engine_create_from_memory(rest.registry, data, size, &options, &engine),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(rest.messages.text, "plugin 'cpu'");
  EXPECT_STATUS(tenon_engine_create_from_memory(rest.registry, data, size, NULL, &engine),
                TENON_OK);
  EXPECT_CONTAINS(rest.messages.text, "weights packed again");
  tenon_engine_info_t info = TENON_OPTIONS(tenon_engine_info_t);
  EXPECT_STATUS(tenon_engine_get_info(engine, &info), TENON_OK);
  EXPECT_INT(info.rebuilt, 1);
  EXPECT(strstr(info.plugins, "cpu ") == NULL);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  end(&rest);
  end(&whole);
}
