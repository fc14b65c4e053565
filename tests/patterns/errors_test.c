/* The operator in a network: which expressions are refused, when, and with which words. */
#include "tests/api/scene.h"

enum { COUNT = 2 };

static tenon_status_t add_node(scene_t* scene, const char* pattern) {
  static const int64_t count = COUNT;
  const tenon_attribute_t attribute = TENON_TEXT("pattern", pattern);
  tenon_network_t* network = scene->session.network;
  tenon_value_t x = ABSENT;
  tenon_value_t y = ABSENT;
  tenon_status_t status =
      tenon_network_add_input(network, "text", TENON_DTYPE_STRING, 1, &count, &x);
  if (status == TENON_OK) {
    status = tenon_network_add(network, "regex.full_match/1", "matcher", &x, 1,
                               &(tenon_list_t){&attribute, 1, sizeof(tenon_attribute_t)}, &y, 1);
  }
  return status == TENON_OK ? tenon_network_add_output(network, y, "matches") : status;
}

TENON_TEST(a_bad_pattern_is_refused_with_its_place_before_anything_is_built) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  EXPECT_STATUS(add_node(&scene, "ab(c"), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(scene.session.messages.text, "matcher");
  EXPECT_CONTAINS(scene.session.messages.text,
                  "pattern 'ab(c' cannot be read from byte 4 on: missing closing parenthesis");
  scene_end(&scene);
}

/* Exponentially many ways to read the letters, none of which fits the end. */
TENON_TEST(a_pattern_that_would_take_forever_is_an_error_that_names_it) {
  static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
  tenon_string_view_t strings[COUNT] = {{"a", 1}, {text, sizeof(text) - 1}};
  static const int64_t dims[1] = {COUNT};
  const tenon_tensor_view_t view = {
      .data = strings, .dims = dims, .rank = 1, .dtype = TENON_DTYPE_STRING, .layout = TENON_NONE};
  const tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  scene_t scene;
  tenon_tensor_view_t result;
  REQUIRE(scene_begin(&scene));
  EXPECT_STATUS(add_node(&scene, "(a|aa)+"), TENON_OK);
  REQUIRE(scene_start(&scene, &options));
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &view), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(scene.session.messages.text, "matcher");
  EXPECT_CONTAINS(scene.session.messages.text, "pattern '(a|aa)+' takes more than");
  /* The context goes on. */
  strings[1].size -= 1;
  EXPECT_STATUS(tenon_context_set_input(scene.context, 0, &view), TENON_OK);
  EXPECT_STATUS(tenon_context_run(scene.context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(scene.context, 0, &result), TENON_OK);
  EXPECT(((const bool*)result.data)[0] && ((const bool*)result.data)[1]);
  scene_end(&scene);
}
