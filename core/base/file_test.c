#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/test.h"

/* A folder of its own for each case, made of these and removed again:
 *   inside/plain "plain"   inside/deep/plain "deep"   inside/near -> plain   inside/far ->
 * ../secret inside/away -> /       inside/up -> ..            secret "secret"        inside/pipe */
typedef struct scene_t {
  char root[64];
  char inside[80];
} scene_t;

static const char* in_scene(const scene_t* scene, const char* name) {
  static char path[2][PATH_MAX];
  static int turn = 0;
  turn = 1 - turn;
  (void)snprintf(path[turn], sizeof(path[turn]), "%s/%s", scene->root, name);
  return path[turn];
}

static bool write_text(const scene_t* scene, const char* name, const char* text) {
  return tenon__file_write(in_scene(scene, name), text, strlen(text), NULL) == TENON_OK;
}

static bool set_scene(scene_t* scene) {
  (void)snprintf(scene->root, sizeof(scene->root), "/tmp/tenon_file_test_XXXXXX");
  if (mkdtemp(scene->root) == NULL) {
    return false;
  }
  (void)snprintf(scene->inside, sizeof(scene->inside), "%s/inside", scene->root);
  return mkdir(scene->inside, 0700) == 0 && mkdir(in_scene(scene, "inside/deep"), 0700) == 0 &&
         write_text(scene, "secret", "secret") && write_text(scene, "inside/plain", "plain") &&
         write_text(scene, "inside/deep/plain", "deep") &&
         symlink("plain", in_scene(scene, "inside/near")) == 0 &&
         symlink("../secret", in_scene(scene, "inside/far")) == 0 &&
         symlink("/", in_scene(scene, "inside/away")) == 0 &&
         symlink("..", in_scene(scene, "inside/up")) == 0 &&
         mkfifo(in_scene(scene, "inside/pipe"), 0600) == 0;
}

static void clear_scene(const scene_t* scene) {
  static const char* const files[] = {
      "inside/plain", "inside/deep/plain", "inside/near", "inside/far", "inside/away",
      "inside/up",    "inside/pipe",       "secret",      "written"};
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); ++i) {
    (void)unlink(in_scene(scene, files[i]));
  }
  (void)rmdir(in_scene(scene, "inside/deep"));
  (void)rmdir(scene->inside);
  EXPECT_INT(rmdir(scene->root), 0); /* so nothing temporary is left */
}

static void expect_content(tenon__mapped_file_t* file, const char* text) {
  EXPECT_INT(file->size, strlen(text));
  EXPECT(file->data != NULL && file->size == strlen(text) &&
         memcmp(file->data, text, file->size) == 0);
  tenon__file_unmap(file);
  EXPECT_INT(file->descriptor, -1);
}

TENON_TEST(maps_what_was_written) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  tenon__mapped_file_t file;
  EXPECT(write_text(&scene, "written", "first"));
  EXPECT(write_text(&scene, "written", "second"));
  EXPECT_STATUS(tenon__file_map(in_scene(&scene, "written"), NULL, &file), TENON_OK);
  expect_content(&file, "second");
  EXPECT(write_text(&scene, "written", ""));
  EXPECT_STATUS(tenon__file_map(in_scene(&scene, "written"), NULL, &file), TENON_OK);
  expect_content(&file, "");
  clear_scene(&scene);
}

TENON_TEST(what_is_mapped_survives_a_replacement) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  tenon__mapped_file_t file;
  EXPECT(write_text(&scene, "written", "first"));
  REQUIRE(tenon__file_map(in_scene(&scene, "written"), NULL, &file) == TENON_OK);
  EXPECT(write_text(&scene, "written", "other"));
  expect_content(&file, "first");
  clear_scene(&scene);
}

TENON_TEST(failures_name_the_path_and_the_reason) {
  static tenon__test_messages_t messages;
  scene_t scene;
  REQUIRE(set_scene(&scene));
  tenon__mapped_file_t file = {.size = 77};
  const char* absent = in_scene(&scene, "absent");
  EXPECT_STATUS(tenon__file_map(absent, tenon__test_listen(&messages), &file),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(messages.text, absent);
  EXPECT_CONTAINS(messages.text, "No such file");
  EXPECT_STATUS(tenon__file_map(scene.inside, tenon__test_listen(&messages), &file),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(messages.text, "not a regular file");
  EXPECT_STATUS(tenon__file_map(in_scene(&scene, "inside/pipe"), NULL, &file),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon__file_map("/dev/null", NULL, &file), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_INT(file.size, 77);
  const char* nowhere = in_scene(&scene, "absent/file");
  EXPECT_STATUS(tenon__file_write(nowhere, "x", 1, tenon__test_listen(&messages)),
                TENON_ERROR_NOT_FOUND);
  EXPECT_CONTAINS(messages.text, nowhere);
  EXPECT(tenon__file_write(scene.inside, "x", 1, NULL) != TENON_OK);
  clear_scene(&scene);
}

TENON_TEST(maps_files_inside_a_folder) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  static const char* const names[][2] = {
      {"plain", "plain"}, {"./plain", "plain"}, {"deep/plain", "deep"}, {"deep//./plain", "deep"}};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    tenon__mapped_file_t file;
    EXPECT_STATUS(tenon__file_map_inside(scene.inside, names[i][0], NULL, &file), TENON_OK);
    expect_content(&file, names[i][1]);
  }
  clear_scene(&scene);
}

TENON_TEST(refuses_every_way_out) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  char absolute[PATH_MAX];
  (void)snprintf(absolute, sizeof(absolute), "%s", in_scene(&scene, "secret"));
  const char* const names[] = {
      "../secret", "deep/../../secret", "deep/..",       "..",    "", "deep/../plain", "far",
      "up/secret", "away/etc/passwd",   "away/dev/null", absolute};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
    static tenon__test_messages_t messages;
    tenon__mapped_file_t file;
    EXPECT_STATUS(
        tenon__file_map_inside(scene.inside, names[i], tenon__test_listen(&messages), &file),
        TENON_ERROR_DENIED);
    EXPECT_CONTAINS(messages.text, names[i]);
  }
  tenon__mapped_file_t file;
  EXPECT_STATUS(tenon__file_map_inside(scene.inside, "absent", NULL, &file), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(tenon__file_map_inside(absolute, "x", NULL, &file), TENON_ERROR_NOT_FOUND);
  EXPECT_STATUS(tenon__file_map_inside(scene.inside, "deep", NULL, &file),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon__file_map_inside(scene.inside, "pipe", NULL, &file),
                TENON_ERROR_INVALID_ARGUMENT);
  clear_scene(&scene);
}

TENON_TEST(walking_by_steps_follows_no_link) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  const int folder = open(scene.inside, O_PATH | O_DIRECTORY | O_CLOEXEC);
  REQUIRE(folder >= 0);
  static const struct {
    const char* name;
    int reason;
  } cases[] = {{"plain", 0},        {"deep/plain", 0},       {"./deep//plain", 0},
               {"near", ELOOP},     {"far", ELOOP},          {"up/secret", ELOOP},
               {"away/dev", ELOOP}, {"deep/absent", ENOENT}, {"plain/x", ENOTDIR}};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    errno = 0;
    const int descriptor = tenon__open_inside_by_steps(folder, cases[i].name);
    EXPECT_INT(descriptor >= 0 ? 0 : errno, cases[i].reason);
    if (descriptor >= 0) {
      (void)close(descriptor);
    }
  }
  (void)close(folder);
  clear_scene(&scene);
}

TENON_TEST(a_stale_temporary_name_is_stepped_over) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  char stale[PATH_MAX];
  (void)snprintf(stale, sizeof(stale), "%s.tmp-%ld", in_scene(&scene, "written"), (long)getpid());
  REQUIRE(symlink(in_scene(&scene, "secret"), stale) == 0);
  EXPECT(write_text(&scene, "written", "new"));
  tenon__mapped_file_t file;
  EXPECT_STATUS(tenon__file_map(in_scene(&scene, "secret"), NULL, &file), TENON_OK);
  expect_content(&file, "secret");
  (void)unlink(stale);
  clear_scene(&scene);
}

/* A device, a pipe or a folder stays what it is. */
TENON_TEST(replaces_regular_files_alone) {
  static tenon__test_messages_t messages;
  scene_t scene;
  struct stat before;
  struct stat after;
  REQUIRE(set_scene(&scene));
  const char* pipe = in_scene(&scene, "inside/pipe");
  EXPECT_STATUS(tenon__file_write(pipe, "x", 1, tenon__test_listen(&messages)),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(messages.text, pipe);
  EXPECT_CONTAINS(messages.text, "not a regular file");
  EXPECT(lstat(pipe, &after) == 0 && S_ISFIFO(after.st_mode));
  EXPECT_STATUS(tenon__file_write(scene.inside, "x", 1, NULL), TENON_ERROR_INVALID_ARGUMENT);
  REQUIRE(lstat("/dev/null", &before) == 0);
  char link[PATH_MAX];
  (void)snprintf(link, sizeof(link), "%s", in_scene(&scene, "null"));
  REQUIRE(symlink("/dev/null", link) == 0);
  EXPECT_STATUS(tenon__file_write(link, "x", 1, NULL), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT(lstat("/dev/null", &after) == 0 && S_ISCHR(after.st_mode) &&
         after.st_ino == before.st_ino);
  EXPECT(lstat(link, &after) == 0 && S_ISLNK(after.st_mode));
  (void)unlink(link);
  clear_scene(&scene);
}

static bool is_link(const char* path) {
  struct stat status;
  return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* A link says where the file is to be: it stays, and what it leads to is replaced. */
TENON_TEST(writes_where_a_link_leads) {
  scene_t scene;
  REQUIRE(set_scene(&scene));
  tenon__mapped_file_t file;
  char first[PATH_MAX];
  char second[PATH_MAX];
  (void)snprintf(first, sizeof(first), "%s", in_scene(&scene, "first"));
  (void)snprintf(second, sizeof(second), "%s", in_scene(&scene, "inside/second"));
  REQUIRE(symlink("inside/second", first) == 0 && symlink("../target", second) == 0);
  EXPECT(write_text(&scene, "first", "through a dangling link"));
  EXPECT(is_link(first) && is_link(second));
  EXPECT_STATUS(tenon__file_map(in_scene(&scene, "target"), NULL, &file), TENON_OK);
  expect_content(&file, "through a dangling link");
  EXPECT(write_text(&scene, "first", "again"));
  EXPECT(is_link(first) && is_link(second));
  EXPECT_STATUS(tenon__file_map(in_scene(&scene, "target"), NULL, &file), TENON_OK);
  expect_content(&file, "again");
  (void)unlink(second);
  REQUIRE(symlink(first, second) == 0); /* round and round */
  EXPECT(!write_text(&scene, "first", "never"));
  (void)unlink(first);
  (void)unlink(second);
  (void)unlink(in_scene(&scene, "target"));
  clear_scene(&scene);
}

TENON_TEST(time_goes_forward) {
  const double before = tenon__seconds();
  const double after = tenon__seconds();
  EXPECT(before > 0.0 && after >= before);
}
