/* Which file is for which input. */
#include "session/feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/npy.h"
#include "data/tensor_proto.h"
#include "text/memory.h"

/* A folder with the data set a, x, y, of which a is a constant, and files for x and y alone. */
typedef struct scene_t {
  char root[32];
  char paths[6][64];
  tool_constants_t constants;
  tool_list_t constant_texts;
  char constant_text[80];
} scene_t;
enum { RECORDED_A, RECORDED_X, RECORDED_Y, GIVEN_A, GIVEN_X, GIVEN_Y, FILES };

static bool write_vector(const char* path, const char* name, int64_t extent) {
  tool_value_t value;
  if (tool_value_make(path, TENON_DTYPE_INT64, 1, &extent, &value) != TENON_OK) {
    return false;
  }
  value.name = name != NULL ? tool_copy_text(name) : NULL;
  const tenon_status_t status =
      name == NULL ? tool_npy_write(path, &value) : tool_tensor_proto_write(path, &value);
  tool_value_free(&value);
  return status == TENON_OK;
}

static bool begin(scene_t* scene) {
  static const struct {
    const char* file;
    const char* name; /* NULL: an array without one */
  } files[FILES] = {{"input_0.pb", "a"}, {"input_1.pb", "x"}, {"input_2.pb", "y"},
                    {"a.pb", "a"},       {"x.npy", NULL},     {"y.npy", NULL}};
  *scene = (scene_t){.root = "/tmp/feed_test-XXXXXX"};
  bool good = mkdtemp(scene->root) != NULL;
  for (int i = 0; i < FILES && good; ++i) {
    char path[sizeof(scene->paths[i])]; /* apart from the scene, which it is made of */
    (void)snprintf(path, sizeof(path), "%s/%s", scene->root, files[i].file);
    memcpy(scene->paths[i], path, sizeof(path));
    good = write_vector(scene->paths[i], files[i].name, i + 1);
  }
  (void)snprintf(scene->constant_text, sizeof(scene->constant_text), "a=%s", scene->paths[GIVEN_A]);
  tool_list_add(&scene->constant_texts, scene->constant_text);
  return good && tool_constants_add(&scene->constant_texts, &scene->constants) == TENON_OK;
}

static void end(scene_t* scene) {
  tool_list_free(&scene->constant_texts);
  tool_constants_free(&scene->constants);
  for (int i = 0; i < FILES; ++i) {
    EXPECT(unlink(scene->paths[i]) == 0);
  }
  EXPECT(rmdir(scene->root) == 0);
}

static void expect_item(const tool_feed_t* feed, uint32_t position, bool is_recorded,
                        const char* path) {
  for (size_t i = 0; i < feed->count; ++i) {
    const tool_feed_item_t* item = &feed->items[i];
    if (item->position == position && item->is_recorded == is_recorded) {
      EXPECT_TEXT(item->path, path);
      return;
    }
  }
  EXPECT_TEXT(NULL, path);
}

/* The network has the inputs x and y: what is recorded of the constant before them moves x and y
 * up; the files given stand in their order already. */
TENON_TEST(a_constant_moves_what_is_recorded_alone) {
  scene_t scene;
  tool_feeding_t feeding = {0};
  tool_feed_t feed;
  REQUIRE(begin(&scene));
  tool_list_add(&feeding.inputs, scene.paths[GIVEN_X]);
  tool_list_add(&feeding.inputs, scene.paths[GIVEN_Y]);
  REQUIRE(tool_feed_load(&feeding, scene.root, &scene.constants, &feed) == TENON_OK);
  EXPECT_INT(feed.count, 4);
  expect_item(&feed, 0, false, scene.paths[GIVEN_X]);
  expect_item(&feed, 1, false, scene.paths[GIVEN_Y]);
  expect_item(&feed, 0, true, scene.paths[RECORDED_X]);
  expect_item(&feed, 1, true, scene.paths[RECORDED_Y]);
  tool_feed_free(&feed);
  tool_feeding_free(&feeding);
  end(&scene);
}

/* A file that is given is for the input at its place, whatever name is recorded in it. */
TENON_TEST(a_file_given_is_never_left_out) {
  scene_t scene;
  tool_feeding_t feeding = {0};
  tool_feed_t feed;
  REQUIRE(begin(&scene));
  tool_list_add(&feeding.inputs, scene.paths[GIVEN_A]);
  REQUIRE(tool_feed_load(&feeding, NULL, &scene.constants, &feed) == TENON_OK);
  EXPECT_INT(feed.count, 1);
  expect_item(&feed, 0, false, scene.paths[GIVEN_A]);
  tool_feed_free(&feed);
  tool_feeding_free(&feeding);
  end(&scene);
}
