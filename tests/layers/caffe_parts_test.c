/* A Caffe network's parts and settings through tenon.h: a mean to subtract, extents that the caller
 * gives, weights that are made up, the state that rules ask for. */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "tenon/tenon.h"

enum { PATH_SIZE = 4096 };

/* What a test writes and how it is parsed. */
typedef struct scene_t {
  char folder[PATH_SIZE];
  char paths[4][PATH_SIZE + 16];
  tenon__test_messages_t messages;
  tenon_registry_t* registry;
  tenon_network_t* network;
} scene_t;

static const char* write_file(scene_t* scene, int number, const char* ending, const void* data,
                              size_t size) {
  char path_made[PATH_SIZE + 16];
  char* path = scene->paths[number];
  (void)snprintf(path_made, sizeof(path_made), "%s/%d%s", scene->folder, number, ending);
  memcpy(path, path_made, sizeof(path_made));
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
    tenon__test_fail(__FILE__, __LINE__, "cannot write '%s'", path);
  }
  return path;
}

static void begin(scene_t* scene) {
  char plugins[PATH_SIZE];
  memset(scene, 0, sizeof(*scene));
  (void)snprintf(scene->folder, sizeof(scene->folder), "%s/caffe_parts_XXXXXX",
                 getenv("TENON_BUILD_DIR"));
  (void)snprintf(plugins, sizeof(plugins), "%s/plugins", getenv("TENON_BUILD_DIR"));
  const char* const paths[] = {plugins, NULL};
  tenon_registry_options_t options = TENON_OPTIONS(tenon_registry_options_t);
  options.paths = paths;
  options.only_paths = 1;
  options.logger = (tenon_sink_t){&scene->messages, tenon__test_keep_message};
  EXPECT(mkdtemp(scene->folder) != NULL);
  EXPECT_STATUS(tenon_registry_create(&options, &scene->registry), TENON_OK);
  EXPECT_STATUS(tenon_network_create(scene->registry, &scene->network), TENON_OK);
}

static void end(scene_t* scene) {
  tenon_network_destroy(scene->network);
  tenon_registry_release(scene->registry);
  for (int i = 0; i < 4; ++i) {
    if (scene->paths[i][0] != '\0') {
      (void)unlink(scene->paths[i]);
    }
  }
  (void)rmdir(scene->folder);
}

static tenon_status_t parse(scene_t* scene, const char* prototxt,
                            const tenon_parse_options_t* options) {
  return tenon_network_parse_file(
      scene->network, write_file(scene, 0, ".prototxt", prototxt, strlen(prototxt)), options);
}

/* Builds and runs with one input of ones, or `values`; the first output's elements. */
static void run(scene_t* scene, uint32_t rank, const int64_t* dims, const float* values,
                float* out_values, size_t count) {
  tenon_plan_t* plan = NULL;
  tenon_engine_t* engine = NULL;
  tenon_context_t* context = NULL;
  tenon_tensor_view_t y = {.data = NULL};
  float* data = calloc(4096, sizeof(float));
  for (size_t i = 0; data != NULL && i < 4096; ++i) {
    data[i] = values == NULL ? 1 : i < count ? values[i] : 0;
  }
  const tenon_tensor_view_t x = {
      .data = data, .dims = dims, .rank = rank, .dtype = TENON_DTYPE_FLOAT32, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_build(scene->network, NULL, &plan), TENON_OK);
  EXPECT_STATUS(tenon_engine_create_from_plan(scene->registry, plan, NULL, &engine), TENON_OK);
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
  for (size_t i = 0; y.data != NULL && i < count; ++i) {
    out_values[i] = ((const float*)y.data)[i];
  }
  tenon_context_destroy(context);
  tenon_engine_release(engine);
  tenon_plan_destroy(plan);
  free(data);
}

/* ---- The mean ---- */

/* A BlobProto of 2 x 4 x 4 numbers 0 to 31, its extents as a shape or as four numbers. */
static size_t mean_of(bool is_legacy, uint8_t* out_bytes) {
  static const uint8_t legacy[] = {0x08, 1, 0x10, 2, 0x18, 4, 0x20, 4};
  static const uint8_t shape[] = {0x3A, 5, 0x0A, 3, 2, 4, 4};
  static const uint8_t data[] = {0x2A, 0x80, 0x01}; /* packed, 128 bytes */
  size_t size = is_legacy ? sizeof(legacy) : sizeof(shape);
  memcpy(out_bytes, is_legacy ? legacy : shape, size);
  memcpy(out_bytes + size, data, sizeof(data));
  size += sizeof(data);
  for (int i = 0; i < 32; ++i) {
    const float value = (float)i;
    memcpy(out_bytes + size, &value, sizeof(value));
    size += sizeof(value);
  }
  return size;
}

#define IDENTITY(dims)                \
  "input: 'data' input_shape { " dims \
  " }\n"                              \
  "layer { name: 'same' type: 'Split' bottom: 'data' top: 'y' }\n"

static void subtracts(const char* prototxt, bool is_legacy, const int64_t* dims, size_t count,
                      const float* expected) {
  scene_t scene;
  uint8_t bytes[256];
  float values[32];
  begin(&scene);
  const size_t size = mean_of(is_legacy, bytes);
  const char* const parts[] = {write_file(&scene, 1, ".binaryproto", bytes, size), NULL};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  options.parts = parts;
  EXPECT_STATUS(parse(&scene, prototxt, &options), TENON_OK);
  run(&scene, 4, dims, NULL, values, count);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_NEAR((double)values[i], 1 - (double)expected[i], 0);
  }
  end(&scene);
}

TENON_TEST(a_mean_is_subtracted) {
  float all[32];
  for (int i = 0; i < 32; ++i) {
    all[i] = (float)i;
  }
  static const int64_t dims[] = {1, 2, 4, 4};
  subtracts(IDENTITY("dim: [1, 2, 4, 4]"), true, dims, 32, all);
  subtracts(IDENTITY("dim: [1, 2, 4, 4]"), false, dims, 32, all);
}

/* Smaller pictures get its middle, as Caffe crops. */
TENON_TEST(a_larger_mean_is_cut_out_of_its_middle) {
  static const int64_t dims[] = {1, 2, 2, 3};
  static const float expected[] = {4, 5, 6, 8, 9, 10, 20, 21, 22, 24, 25, 26};
  subtracts(IDENTITY("dim: [1, 2, 2, 3]"), true, dims, 12, expected);
}

/* ---- Extents ---- */

TENON_TEST(the_callers_extents_replace_the_files) {
  static const int64_t larger[] = {3, 2, 2, 2};
  static const int64_t open[] = {-1, 2, 2, 2};
  static const int64_t rank_alone[] = {-1, -1, -1, -1};
  static const int64_t* const given[] = {larger, open, rank_alone};
  static const int64_t batch[] = {3, -1, 1};
  for (int i = 0; i < 3; ++i) {
    scene_t scene;
    tenon_io_info_t info = {.size = sizeof(info)};
    const tenon_input_shape_t shape = {.name = "data", .rank = 4, .dims = given[i]};
    tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
    begin(&scene);
    options.shapes = (tenon_list_t){&shape, 1, sizeof(shape)};
    EXPECT_STATUS(parse(&scene, IDENTITY("dim: [1, 2, 2, 2]"), &options), TENON_OK);
    EXPECT_STATUS(tenon_network_get_input(scene.network, 0, &info), TENON_OK);
    EXPECT_INT(info.dims[0], batch[i]);
    EXPECT_INT(info.dims[1], 2);
    end(&scene);
  }
}

/* ---- Settings ---- */

static const char dense[] =
    "input: 'data' input_shape { dim: 1 dim: 8 }\n"
    "layer { name: 'a' type: 'InnerProduct' bottom: 'data' top: 'a'"
    " inner_product_param { num_output: 6 } }\n"
    "layer { name: 'b' type: 'BatchNorm' bottom: 'a' top: 'a' }\n"
    "layer { name: 'c' type: 'InnerProduct' bottom: 'a' top: 'y'"
    " inner_product_param { num_output: 4 bias_term: false } }\n";

static void run_dense(const char* setting, float* out_values) {
  static const int64_t dims[] = {1, 8};
  scene_t scene;
  const char* const settings[] = {setting, NULL};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  begin(&scene);
  options.settings = settings;
  EXPECT_STATUS(parse(&scene, dense, &options), TENON_OK);
  run(&scene, 2, dims, NULL, out_values, 4);
  end(&scene);
}

TENON_TEST(weights_can_be_made_up) {
  float first[4] = {0};
  float again[4] = {0};
  float other[4] = {0};
  run_dense("weights=random", first);
  run_dense("weights=random:0", again);
  run_dense("weights=random:7", other);
  for (int i = 0; i < 4; ++i) {
    EXPECT(isfinite(first[i]) && first[i] != 0);
    EXPECT(fabs((double)(first[i] - again[i])) <= 1e-6);
  }
  EXPECT(fabs((double)(first[0] - other[0])) > 1e-3);
}

static void refuses(const char* prototxt, const char* setting, const char* words) {
  scene_t scene;
  const char* const settings[] = {setting, NULL};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  begin(&scene);
  options.settings = settings;
  EXPECT_STATUS(parse(&scene, prototxt, &options), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(scene.messages.text, words);
  end(&scene);
}

TENON_TEST(settings_that_nobody_knows_are_refused) {
  refuses(IDENTITY("dim: 1"), "colour=red",
          "'colour=red' is set, which the parser for format 'caffe' does not know");
  refuses(IDENTITY("dim: 1"), "weights=some", "it can be \"random\" or \"random:SEED\"");
  refuses(IDENTITY("dim: 1"), "weights=random:x", "it can be");
  refuses(IDENTITY("dim: 1"), "level=high", "level=high is no whole number");
}

static uint32_t count_outputs(const char* const* settings) {
  static const char text[] =
      "input: 'x' input_shape { dim: 1 }\n"
      "layer { type: 'Split' bottom: 'x' top: 'a' include { stage: 'deploy' min_level: 2 } }\n"
      "layer { type: 'Split' bottom: 'x' top: 'b' include { stage: 'other' } }\n"
      "layer { type: 'Split' bottom: 'x' top: 'c' exclude { stage: 'deploy' } }\n"
      "layer { type: 'Split' bottom: 'x' top: 'd' }\n";
  scene_t scene;
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  begin(&scene);
  options.settings = settings;
  EXPECT_STATUS(parse(&scene, text, &options), TENON_OK);
  const uint32_t count = tenon_network_output_count(scene.network);
  end(&scene);
  return count;
}

TENON_TEST(rules_ask_for_the_state_that_is_set) {
  EXPECT_INT(count_outputs(NULL), 2);
  EXPECT_INT(count_outputs((const char* const[]){"stage=deploy", NULL}), 1);
  EXPECT_INT(count_outputs((const char* const[]){"stage=deploy,other", "level=2", NULL}), 3);
}

/* Whichever part is named first. */
TENON_TEST(the_weights_may_come_first) {
  scene_t scene;
  begin(&scene);
  const char* const parts[] = {TENON_ROOT "/sdk/demo/digits/model.prototxt", NULL};
  tenon_parse_options_t options = TENON_OPTIONS(tenon_parse_options_t);
  options.parts = parts;
  EXPECT_STATUS(tenon_network_parse_file(scene.network,
                                         TENON_ROOT "/sdk/demo/digits/model.caffemodel", &options),
                TENON_OK);
  EXPECT_TEXT(scene.messages.text, "");
  end(&scene);
}
