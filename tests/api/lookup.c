/* What a program asks by name and before a run: indices, element types, extents of outputs. */
#include <math.h>

#include "tests/api/figures.h"

/* Input "rows" [batch, 4] gives "doubled" [batch, 4], "found" [2, how many are not 0] and "both"
 * [2 * batch, 4]; batch is 1 to 6, or left open. */
static bool begin(scene_t* scene, const tenon_profile_t* profile) {
  static const char* const symbols[] = {"batch", NULL};
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_value_t x = ABSENT;
  if (!scene_begin(scene)) {
    return false;
  }
  session_t* s = &scene->session;
  tenon_builder_t* builder = tenon_network_get_builder(s->network);
  EXPECT_STATUS(table->input(builder, "rows", TENON_DTYPE_FLOAT32, 2, DIMS(-1, 4), symbols, &x),
                TENON_OK);
  const tenon_value_t doubled = node(s, "standard.add/1", VALUES(x, x), NO_ATTRIBUTES);
  const tenon_value_t found = node(s, "standard.nonzero/1", VALUES(x), NO_ATTRIBUTES);
  const tenon_value_t both =
      node(s, "standard.concatenate/1", VALUES(x, doubled), ATTRIBUTES(TENON_INT("axis", 0)));
  output(s, doubled, "doubled");
  output(s, found, "found");
  output(s, both, "both");
  options.profiles = (tenon_list_t){profile, profile != NULL ? 1 : 0, sizeof(*profile)};
  return scene_start(scene, &options);
}

static bool begin_with_batch(scene_t* scene) {
  const tenon_profile_range_t range = {"rows", 2, DIMS(1, 4), DIMS(2, 4), DIMS(6, 4)};
  const tenon_profile_t profile = {{&range, 1, sizeof(range)}};
  return begin(scene, &profile);
}

static void set_rows(const scene_t* scene, int64_t batch, float* data) {
  const tenon_tensor_view_t view = {.data = data,
                                    .dims = DIMS(batch, 4),
                                    .rank = 2,
                                    .dtype = TENON_DTYPE_FLOAT32,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_input(scene->context, 0, &view), TENON_OK);
}

static void expect_extents(const scene_t* scene, const char* output, const int64_t* known,
                           const int64_t* most) {
  const int64_t* dims = NULL;
  const int64_t* max_dims = NULL;
  uint32_t index = 0;
  REQUIRE(tenon_engine_find_output(scene->engine, output, &index) == TENON_OK);
  REQUIRE(tenon_context_get_output_extents(scene->context, index, &dims, &max_dims) == TENON_OK);
  for (int k = 0; k < 2; ++k) {
    EXPECT_INT(dims[k], known[k]);
    EXPECT_INT(max_dims[k], most[k]);
  }
}

TENON_TEST(finds_inputs_and_outputs_by_name) {
  scene_t scene;
  uint32_t index = 7;
  REQUIRE(begin_with_batch(&scene));
  EXPECT_STATUS(tenon_engine_find_input(scene.engine, "rows", &index), TENON_OK);
  EXPECT_INT(index, 0);
  EXPECT_STATUS(tenon_engine_find_output(scene.engine, "both", &index), TENON_OK);
  EXPECT_INT(index, 2);
  EXPECT_STATUS(tenon_engine_find_output(scene.engine, "boths", &index), TENON_ERROR_NOT_FOUND);
  EXPECT_INT(index, 2);
  EXPECT_CONTAINS(tenon_last_message(),
                  "there is no output 'boths'; the outputs are: doubled, found, both");
  EXPECT_STATUS(tenon_engine_find_input(scene.engine, "found", &index), TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(tenon_last_message(), "there is no input 'found'; the inputs are: rows");
  EXPECT_STATUS(tenon_engine_find_input(scene.engine, NULL, &index), TENON_ERROR_INVALID_ARGUMENT);
  scene_end(&scene);
}

TENON_TEST(names_element_types) {
  EXPECT_TEXT(tenon_dtype_name(TENON_DTYPE_FLOAT32), "f32");
  EXPECT_INT(tenon_dtype_bits(TENON_DTYPE_FLOAT32), 32);
  EXPECT_TEXT(tenon_dtype_name(TENON_DTYPE_UINT4), "u4");
  EXPECT_INT(tenon_dtype_bits(TENON_DTYPE_UINT4), 4);
  EXPECT_TEXT(tenon_dtype_name(12345), "undefined");
  EXPECT_INT(tenon_dtype_bits(12345), 0);
}

TENON_TEST(tells_the_extents_of_outputs_before_the_run) {
  scene_t scene;
  float data[24] = {0};
  int64_t indices[16];
  const int64_t* dims = NULL;
  tenon_tensor_view_t view;
  REQUIRE(begin_with_batch(&scene));
  EXPECT_STATUS(tenon_context_get_output_extents(scene.context, 0, &dims, &dims),
                TENON_ERROR_INVALID_STATE);
  EXPECT_CONTAINS(tenon_last_message(), "input 'rows' was not set");
  set_rows(&scene, 2, data);
  expect_extents(&scene, "doubled", DIMS(2, 4), DIMS(2, 4));
  expect_extents(&scene, "found", DIMS(2, -1), DIMS(2, 8));
  expect_extents(&scene, "both", DIMS(4, 4), DIMS(4, 4));
  /* Memory for the most that there can be is enough, and the run says what there was. */
  const tenon_tensor_view_t room = {.data = indices,
                                    .dims = DIMS(2, 8),
                                    .rank = 2,
                                    .dtype = TENON_DTYPE_INT64,
                                    .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_set_output(scene.context, 1, &room), TENON_OK);
  data[3] = data[5] = 1;
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(scene.context, 1, &view), TENON_OK);
  EXPECT_INT(view.dims[1], 2);
  EXPECT(view.data == indices);
  /* What that run found says nothing about the next one. */
  expect_extents(&scene, "found", DIMS(2, -1), DIMS(2, 8));
  set_rows(&scene, 6, data);
  expect_extents(&scene, "doubled", DIMS(6, 4), DIMS(6, 4));
  expect_extents(&scene, "found", DIMS(2, -1), DIMS(2, 24));
  EXPECT_STATUS(tenon_context_get_output(scene.context, 1, &view), TENON_OK);
  EXPECT_INT(view.dims[1], 2); /* still the last run's */
  scene_end(&scene);
}

/* Nobody gave the batch a profile: it was built as 1, and the engine says what it could have been.
 */
TENON_TEST(an_axis_that_was_open_keeps_its_name) {
  scene_t scene;
  tenon_io_info_t info = {.size = sizeof(info)};
  REQUIRE(begin(&scene, NULL));
  EXPECT_STATUS(tenon_engine_get_input(scene.engine, 0, &info), TENON_OK);
  EXPECT_INT(info.dims[0], 1);
  EXPECT_TEXT(info.symbols[0], "batch");
  EXPECT_INT(info.dims[1], 4);
  EXPECT_TEXT(info.symbols[1], "");
  EXPECT_STATUS(tenon_engine_get_output(scene.engine, 2, &info), TENON_OK);
  EXPECT_INT(info.dims[0], 2);
  EXPECT_TEXT(info.symbols[0], "2*batch");
  scene_end(&scene);
}

static void expect_range(const scene_t* scene, const char* input, double min, double max) {
  double found_min = 0;
  double found_max = 0;
  uint32_t index = 0;
  REQUIRE(tenon_engine_find_input(scene->engine, input, &index) == TENON_OK);
  EXPECT_STATUS(tenon_engine_get_input_range(scene->engine, index, &found_min, &found_max),
                TENON_OK);
  EXPECT(found_min == min);
  EXPECT(found_max == max);
}

/* As in a transformer: tokens, types behind a cast, positions that count from 2, a mask that
 * indexes nothing, and a number whose logarithm is taken. */
TENON_TEST(knows_which_values_an_input_takes) {
  scene_t scene;
  static const float table[7 * 2];
  static const int64_t two = 2;
  REQUIRE(scene_begin(&scene));
  session_t* s = &scene.session;
  const tenon_value_t tokens = input(s, "tokens", TENON_DTYPE_INT64, 1, DIMS(3));
  const tenon_value_t types = input(s, "types", TENON_DTYPE_INT32, 1, DIMS(3));
  const tenon_value_t positions = input(s, "positions", TENON_DTYPE_INT64, 1, DIMS(3));
  const tenon_value_t mask = input(s, "mask", TENON_DTYPE_INT64, 1, DIMS(3));
  const tenon_value_t number = input(s, "number", TENON_DTYPE_FLOAT32, 1, DIMS(3));
  const tenon_value_t words = constant(s, TENON_DTYPE_FLOAT32, 2, DIMS(7, 2), table);
  const tenon_value_t kinds = constant(s, TENON_DTYPE_FLOAT32, 2, DIMS(2, 2), table);
  const tenon_value_t shift = constant(s, TENON_DTYPE_INT64, 0, NULL, &two);
  const tenon_value_t wide =
      node(s, "standard.cast/1", VALUES(types), ATTRIBUTES(TENON_TYPE("to", TENON_DTYPE_INT64)));
  const tenon_value_t column =
      node(s, "standard.unsqueeze/1", VALUES(wide), ATTRIBUTES(TENON_INTS("fixed_axes", 0)));
  const tenon_value_t later = node(s, "standard.add/1", VALUES(positions, shift), NO_ATTRIBUTES);
  output(s, node(s, "standard.gather/1", VALUES(words, tokens), NO_ATTRIBUTES), "a");
  output(s, node(s, "standard.gather/1", VALUES(kinds, column), NO_ATTRIBUTES), "b");
  output(s, node(s, "standard.gather/1", VALUES(words, later), NO_ATTRIBUTES), "c");
  output(s, node(s, "standard.mul/1", VALUES(mask, mask), NO_ATTRIBUTES), "d");
  output(s, node(s, "standard.log/1", VALUES(number), NO_ATTRIBUTES), "e");
  REQUIRE(scene_start(&scene, NULL));
  expect_range(&scene, "tokens", 0, 6);
  expect_range(&scene, "types", 0, 1);
  expect_range(&scene, "positions", -2, 4);
  expect_range(&scene, "mask", -INFINITY, INFINITY);
  expect_range(&scene, "number", 0.0625, INFINITY);
  double min = 7;
  double max = 7;
  EXPECT_STATUS(tenon_engine_get_input_range(scene.engine, 5, &min, &max),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "there is no input 5, the engine has 5");
  EXPECT(min == 7 && max == 7);
  scene_end(&scene);
}
