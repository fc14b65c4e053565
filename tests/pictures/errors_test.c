/* The operator in a network: what is said of bytes that are no picture, and to whom. */
#include "tests/api/scene.h"

/* Builds a network that decodes `size` bytes, and runs it on these. */
static tenon_status_t run_decoder(scene_t* scene, const void* data, int64_t size) {
  const tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_network_t* network = scene->session.network;
  tenon_value_t x = ABSENT;
  tenon_value_t y = ABSENT;
  session_expect(&scene->session, "input",
                 tenon_network_add_input(network, "file", TENON_DTYPE_UINT8, 1, &size, &x));
  session_expect(
      &scene->session, "node",
      tenon_network_add(network, "image.decode_picture/1", "camera", &x, 1, NULL, &y, 1));
  session_expect(&scene->session, "output", tenon_network_add_output(network, y, "pixels"));
  if (!scene_start(scene, &options)) {
    return TENON_ERROR_INTERNAL;
  }
  const sample_t sample = {
      .name = "file", .dtype = TENON_DTYPE_UINT8, .rank = 1, .dims = {size}, .data = data};
  const tenon_tensor_view_t view = session_view(&sample);
  EXPECT_STATUS(tenon_context_set_input(scene->context, 0, &view), TENON_OK);
  return tenon_context_run(scene->context);
}

static void expect_said(const void* data, int64_t size, tenon_status_t status, const char* words) {
  scene_t scene;
  REQUIRE(scene_begin(&scene));
  EXPECT_STATUS(run_decoder(&scene, data, size), status);
  EXPECT_CONTAINS(scene.session.messages.text, "camera");
  EXPECT_CONTAINS(scene.session.messages.text, words);
  scene_end(&scene);
}

TENON_TEST(a_run_names_the_node_and_what_is_wrong_with_the_bytes) {
  expect_said("GIF89a", 6, TENON_ERROR_INVALID_DATA,
              "6 bytes that begin with 47 49 46 38 39 61 are none of BMP");
  expect_said("P5 4 4 255 abc", 14, TENON_ERROR_INVALID_DATA,
              "PNM: 3 bytes of samples, at least 16 are wanted");
  expect_said("P5 99999999 99999999 255 ", 25, TENON_ERROR_INVALID_DATA,
              "bytes of samples, at least 9999999800000001 are wanted");
}

TENON_TEST(the_run_finds_the_extents) {
  scene_t scene;
  tenon_tensor_view_t view;
  REQUIRE(scene_begin(&scene));
  EXPECT_STATUS(run_decoder(&scene, "P5 2 3 255 abcdef", 17), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(scene.context, 0, &view), TENON_OK);
  EXPECT(view.rank == 3 && view.dims[0] == 3 && view.dims[1] == 2 && view.dims[2] == 3);
  EXPECT_INT(((const uint8_t*)view.data)[17], 'f');
  scene_end(&scene);
}

TENON_TEST(a_file_is_a_vector_of_bytes) {
  static const int64_t dims[2] = {2, 2};
  session_t session;
  tenon_value_t x = ABSENT;
  tenon_value_t y = ABSENT;
  REQUIRE(session_begin(&session, NULL));
  EXPECT_STATUS(tenon_network_add_input(session.network, "file", TENON_DTYPE_UINT8, 2, dims, &x),
                TENON_OK);
  EXPECT(tenon_network_add(session.network, "image.decode_picture/1", "camera", &x, 1, NULL, &y,
                           1) != TENON_OK);
  EXPECT_CONTAINS(session.messages.text, "a vector of bytes, not a tensor of rank 2");
  session_end(&session);
}
