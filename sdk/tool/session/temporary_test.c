#include "session/temporary.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/test.h"
#include "text/console.h"
#include "text/memory.h"

enum { PATH_SIZE = 256 };

/* ---- What the command asks of the system, seen on its way ---- */

static const char* doomed;    /* a folder that is watched while it is removed */
static bool was_locked;       /* it was, at that moment */
static bool take_before_lock; /* the next folder that is locked is taken away before */

static bool is_locked(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool locked = folder >= 0 && syscall(SYS_flock, folder, LOCK_EX | LOCK_NB) != 0;
  (void)close(folder);
  return locked;
}

int unlinkat(int folder, const char* name, int flags) {
  if (doomed != NULL && flags == AT_REMOVEDIR) {
    was_locked = is_locked(doomed);
  }
  return (int)syscall(SYS_unlinkat, folder, name, flags);
}

int flock(int file, int operation) {
  if (take_before_lock && operation == LOCK_EX) {
    char link[PATH_SIZE];
    char path[PATH_SIZE] = "";
    take_before_lock = false;
    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
    EXPECT(readlink(link, path, sizeof(path) - 1) > 0);
    EXPECT(rmdir(path) == 0);
  }
  return (int)syscall(SYS_flock, file, operation);
}

/* ---- A folder to collect in ---- */

typedef struct scene_t {
  char root[32];
  char path[PATH_SIZE];
} scene_t;

static bool begin(scene_t* scene) {
  (void)snprintf(scene->root, sizeof(scene->root), "/tmp/temporary_test-XXXXXX");
  return mkdtemp(scene->root) != NULL;
}

static const char* in(scene_t* scene, const char* name) {
  (void)snprintf(scene->path, sizeof(scene->path), "%s/%s", scene->root, name);
  return scene->path;
}

static void make_folder(scene_t* scene, const char* name, mode_t mode) {
  EXPECT(mkdir(in(scene, name), mode) == 0);
}

/* Last written a day ago. */
static void make_file(scene_t* scene, const char* name) {
  const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_sec = 86400}};
  const int file = open(in(scene, name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  EXPECT(file >= 0 && write(file, "x", 1) == 1 && futimens(file, times) == 0);
  (void)close(file);
}

static bool is_there(scene_t* scene, const char* name) {
  return access(in(scene, name), F_OK) == 0;
}

static bool ends_with(const char* name, size_t length, const char* end) {
  return length >= strlen(end) && strncmp(name + length - strlen(end), end, strlen(end)) == 0;
}

static bool is_key(const char* name, size_t length) {
  return ends_with(name, length, ".key");
}

/* ---- The cases ---- */

TENON_TEST(what_strangers_have_stays) {
  static const struct {
    const char* folder;
    mode_t mode;
    const char* file;
  } strangers[] = {
      {"tenon-2024-results", 0700, "table.csv"}, {"tenon-2024-result", 0755, "1-0.plan"},
      {"tenon-2024-backup", 0755, "1-0.plan"},   {"tenon-2024-notes1", 0700, "notes.txt"},
      {"tenon-2024", 0700, "1-0.plan"},          {"tenon--abcdef", 0700, "1-0.plan"},
      {"tenon-12a-abcdef", 0700, "1-0.plan"},    {"my-tenon-12-abcdef", 0700, "1-0.plan"},
      {"tenon-12-ab.def", 0700, "1-0.plan"}};
  static const char* const files[] = {
      "backup.tmp-20240131",     "net.key.tmp-20240131x",     "tenon-2024-abcdef", "net.key.tmp-",
      "net.key.tmp-99999999999", "net.key.tmp-999999999-1-2", "net.tmp-999999999", "1-0.plan"};
  enum { FOLDERS = sizeof(strangers) / sizeof(strangers[0]) };
  enum { FILES = sizeof(files) / sizeof(files[0]) };
  scene_t scene;
  char name[64];
  REQUIRE(begin(&scene));
  for (int i = 0; i < FOLDERS; ++i) {
    (void)snprintf(name, sizeof(name), "%s/%s", strangers[i].folder, strangers[i].file);
    make_folder(&scene, strangers[i].folder, strangers[i].mode);
    make_file(&scene, name);
  }
  for (int i = 0; i < FILES; ++i) {
    make_file(&scene, files[i]);
  }
  make_folder(&scene, "tenon-2024-photos", 0755); /* empty */
  tool_temporary_collect(scene.root, NULL);
  tool_temporary_collect(scene.root, is_key);
  for (int i = 0; i < FOLDERS; ++i) {
    (void)snprintf(name, sizeof(name), "%s/%s", strangers[i].folder, strangers[i].file);
    EXPECT_TEXT(is_there(&scene, name) ? name : "removed", name);
    (void)unlink(in(&scene, name));
    EXPECT(rmdir(in(&scene, strangers[i].folder)) == 0);
  }
  for (int i = 0; i < FILES; ++i) {
    EXPECT_TEXT(is_there(&scene, files[i]) ? files[i] : "removed", files[i]);
    (void)unlink(in(&scene, files[i]));
  }
  EXPECT(rmdir(in(&scene, "tenon-2024-photos")) == 0);
  EXPECT(rmdir(scene.root) == 0);
}

TENON_TEST(what_dead_processes_left_goes) {
  static const char* const left[] = {"tenon-999999999-aB3dEf/999999999-0.plan",
                                     "tenon-999999999-aB3dEf/7-12.plan.tmp-7",
                                     "tenon-999999999-aB3dEf/7-13.plan.tmp-7-2",
                                     "net.key.tmp-999999999", "net.key.tmp-999999999-3"};
  enum { LEFT = sizeof(left) / sizeof(left[0]) };
  scene_t scene;
  REQUIRE(begin(&scene));
  make_folder(&scene, "tenon-999999999-aB3dEf", 0700);
  for (int i = 0; i < LEFT; ++i) {
    make_file(&scene, left[i]);
  }
  tool_temporary_collect(scene.root, is_key);
  for (int i = 0; i < LEFT; ++i) {
    EXPECT_TEXT(is_there(&scene, left[i]) ? left[i] : "removed", "removed");
  }
  EXPECT(rmdir(scene.root) == 0);
}

TENON_TEST(what_a_living_process_holds_stays) {
  scene_t scene;
  char name[64];
  REQUIRE(begin(&scene));
  make_folder(&scene, "tenon-999999999-abcdef", 0700);
  make_file(&scene, "tenon-999999999-abcdef/1-0.plan");
  (void)snprintf(name, sizeof(name), "net.key.tmp-%ld", (long)getpid());
  make_file(&scene, name);
  const int held = open(in(&scene, "tenon-999999999-abcdef"), O_RDONLY | O_CLOEXEC);
  REQUIRE(held >= 0 && flock(held, LOCK_SH) == 0);
  tool_temporary_collect(scene.root, is_key);
  EXPECT(unlink(in(&scene, "tenon-999999999-abcdef/1-0.plan")) == 0);
  EXPECT(unlink(in(&scene, name)) == 0);
  (void)close(held);
  EXPECT(rmdir(in(&scene, "tenon-999999999-abcdef")) == 0);
  EXPECT(rmdir(scene.root) == 0);
}

/* Else one that waits for the lock would get it of a folder that is about to go. */
TENON_TEST(a_folder_is_locked_until_it_is_gone) {
  scene_t scene;
  char folder[PATH_SIZE];
  REQUIRE(begin(&scene));
  make_folder(&scene, "tenon-999999999-abcdef", 0700);
  (void)snprintf(folder, sizeof(folder), "%s", in(&scene, "tenon-999999999-abcdef"));
  was_locked = false;
  doomed = folder;
  tool_temporary_collect(scene.root, NULL);
  doomed = NULL;
  EXPECT(was_locked);
  EXPECT(rmdir(scene.root) == 0);
}

TENON_TEST(a_folder_that_was_taken_meanwhile_is_made_again) {
  scene_t scene;
  char* path = NULL;
  REQUIRE(begin(&scene));
  take_before_lock = true;
  REQUIRE(tool_temporary_name(scene.root, &path) == TENON_OK);
  EXPECT(!take_before_lock);
  FILE* file = fopen(path, "wbe");
  EXPECT(file != NULL && fclose(file) == 0);
  tool_free(path);
  tool_temporary_end();
  EXPECT(rmdir(scene.root) == 0); /* with its file */
}
