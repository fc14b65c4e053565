#include "data/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/test.h"
#include "text/memory.h"

typedef struct scene_t {
  char root[32];
  char file[64];
  char other[64];
  char beside[96]; /* the name under which `file` would be written first */
} scene_t;

static bool begin(scene_t* scene) {
  *scene = (scene_t){.root = "/tmp/file_test-XXXXXX"};
  if (mkdtemp(scene->root) == NULL) {
    return false;
  }
  (void)snprintf(scene->file, sizeof(scene->file), "%s/file", scene->root);
  (void)snprintf(scene->other, sizeof(scene->other), "%s/other", scene->root);
  (void)snprintf(scene->beside, sizeof(scene->beside), "%s.tmp-%ld", scene->file, (long)getpid());
  return true;
}

static void end(scene_t* scene) {
  (void)unlink(scene->file);
  (void)unlink(scene->other);
  (void)unlink(scene->beside);
  EXPECT(rmdir(scene->root) == 0); /* and nothing else is in it */
}

static void expect_text(const char* path, const char* wanted) {
  uint8_t* bytes = NULL;
  size_t size = 0;
  REQUIRE(tool_file_read(path, &bytes, &size) == TENON_OK);
  EXPECT_TEXT((char*)bytes, wanted);
  tool_free(bytes);
}

TENON_TEST(what_is_written_replaces_what_was_there) {
  scene_t scene;
  REQUIRE(begin(&scene));
  EXPECT_STATUS(tool_file_write(scene.file, "one", 3), TENON_OK);
  EXPECT_STATUS(tool_file_write(scene.file, "two", 3), TENON_OK);
  expect_text(scene.file, "two");
  end(&scene);
}

/* A link that somebody laid there leads to a file of somebody else. */
TENON_TEST(what_lies_under_the_first_name_is_not_written_to) {
  scene_t scene;
  REQUIRE(begin(&scene));
  EXPECT_STATUS(tool_file_write(scene.other, "mine", 4), TENON_OK);
  EXPECT(symlink(scene.other, scene.beside) == 0);
  EXPECT_STATUS(tool_file_write(scene.file, "one", 3), TENON_OK);
  expect_text(scene.file, "one");
  expect_text(scene.other, "mine");
  EXPECT(unlink(scene.beside) == 0);
  EXPECT_STATUS(tool_file_write(scene.beside, "left", 4), TENON_OK);
  EXPECT_STATUS(tool_file_write(scene.file, "two", 3), TENON_OK);
  expect_text(scene.file, "two");
  expect_text(scene.beside, "left");
  end(&scene);
}

TENON_TEST(slashes_at_the_end_of_a_path_are_cut) {
  static const char* const paths[][2] = {
      {"cases//", "cases"}, {"a/b/", "a/b"}, {"a", "a"}, {"//", "/"}, {"", ""}};
  for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); ++i) {
    char* trimmed = tool_path_copy_trimmed(paths[i][0]);
    EXPECT(strcmp(trimmed, paths[i][1]) == 0);
    tool_free(trimmed);
  }
}
