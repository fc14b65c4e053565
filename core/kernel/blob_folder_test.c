#include "core/kernel/blob_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/allocator.h"
#include "core/base/test.h"

typedef struct world_t {
  char parent[64];
  char path[80];
  tenon__test_messages_t messages;
  tenon__blob_folder_t* folder;
} world_t;

static void open_folder(world_t* w) {
  EXPECT_STATUS(
      tenon__blob_folder_create(tenon__allocator_default(), w->path, &w->messages.sink, &w->folder),
      TENON_OK);
}

static void begin(world_t* w) {
  memset(w, 0, sizeof *w);
  (void)tenon__test_listen(&w->messages);
  (void)snprintf(w->parent, sizeof w->parent, "/tmp/tenon-blobs-XXXXXX");
  EXPECT(mkdtemp(w->parent) != NULL);
  (void)snprintf(w->path, sizeof w->path, "%s/code", w->parent);
  open_folder(w);
}

static void end(world_t* w) {
  tenon__blob_folder_destroy(w->folder);
  tenon__blob_folder_trim(tenon__allocator_default(), w->path, 0);
  EXPECT_INT(rmdir(w->path), 0);
  EXPECT_INT(rmdir(w->parent), 0);
}

static tenon__digest_t key_of(const char* name) {
  return tenon__digest_of(name, strlen(name));
}

static void keep(world_t* w, const char* name, const char* text) {
  const tenon__digest_t key = key_of(name);
  tenon__blob_folder_keep(w->folder, &key, text, strlen(text));
}

static bool holds(world_t* w, const char* name, const char* text) {
  size_t size = 0;
  const tenon__digest_t key = key_of(name);
  const void* data = tenon__blob_folder_find(w->folder, &key, &size);
  return data != NULL && size == strlen(text) && memcmp(data, text, size) == 0;
}

static bool lacks(world_t* w, const char* name) {
  size_t size = 1;
  const tenon__digest_t key = key_of(name);
  return tenon__blob_folder_find(w->folder, &key, &size) == NULL && size == 0;
}

static void path_of(const world_t* w, const char* name, char path[160]) {
  char digits[65];
  const tenon__digest_t key = key_of(name);
  tenon__digest_text(&key, digits);
  (void)snprintf(path, 160, "%s/%s", w->path, digits);
}

TENON_TEST(a_blob_is_there_in_the_next_build) {
  world_t w;
  begin(&w);
  EXPECT(lacks(&w, "one"));
  keep(&w, "one", "compiled");
  EXPECT(holds(&w, "one", "compiled"));
  keep(&w, "one", "again"); /* what is there stays */
  EXPECT(holds(&w, "one", "compiled"));
  tenon__blob_folder_destroy(w.folder);
  open_folder(&w);
  EXPECT(holds(&w, "one", "compiled"));
  EXPECT(lacks(&w, "two"));
  end(&w);
}

TENON_TEST(a_damaged_one_is_not_there_and_may_be_kept_anew) {
  static const int64_t places[] = {0, 31, 32, 39}; /* in the digest, and behind it */
  for (size_t k = 0; k < 5; ++k) {
    world_t w;
    char path[160];
    begin(&w);
    keep(&w, "one", "compiled");
    path_of(&w, "one", path);
    const int file = open(path, O_RDWR);
    EXPECT(file >= 0);
    EXPECT(k == 4 ? ftruncate(file, 32) == 0 : pwrite(file, "\x7f", 1, places[k]) == 1);
    (void)close(file);
    EXPECT(lacks(&w, "one"));
    keep(&w, "one", "compiled");
    EXPECT(holds(&w, "one", "compiled"));
    end(&w);
  }
}

TENON_TEST(what_was_not_used_for_longest_goes_first) {
  static const struct timespec old[] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  static const struct timespec older[] = {{.tv_sec = 500}, {.tv_sec = 500}};
  world_t w;
  char path[160];
  begin(&w);
  keep(&w, "old", "12345678");
  keep(&w, "older", "12345678");
  keep(&w, "used", "12345678");
  path_of(&w, "old", path);
  EXPECT_INT(utimensat(AT_FDCWD, path, old, 0), 0);
  path_of(&w, "older", path);
  EXPECT_INT(utimensat(AT_FDCWD, path, older, 0), 0);
  path_of(&w, "used", path);
  EXPECT_INT(utimensat(AT_FDCWD, path, older, 0), 0);
  EXPECT(holds(&w, "used", "12345678")); /* which makes it the newest */
  tenon__blob_folder_destroy(w.folder);
  tenon__blob_folder_trim(tenon__allocator_default(), w.path, UINT64_C(2) * 40);
  open_folder(&w);
  EXPECT(lacks(&w, "older"));
  EXPECT(holds(&w, "old", "12345678"));
  EXPECT(holds(&w, "used", "12345678"));
  end(&w);
}

TENON_TEST(where_nothing_can_be_kept_it_is_said_once) {
  world_t w;
  begin(&w);
  const int file = open(w.path, O_CREAT | O_WRONLY, 0600); /* a file where the folder would be */
  EXPECT(file >= 0);
  (void)close(file);
  keep(&w, "one", "compiled");
  EXPECT_CONTAINS(w.messages.text, "cannot be kept");
  EXPECT(lacks(&w, "one"));
  (void)tenon__test_listen(&w.messages);
  keep(&w, "two", "compiled");
  EXPECT_TEXT(w.messages.text, "");
  EXPECT_INT(unlink(w.path), 0);
  EXPECT_INT(mkdir(w.path, 0700), 0);
  end(&w);
}

TENON_TEST(without_a_folder_nothing_is_kept) {
  size_t size = 1;
  const tenon__digest_t key = key_of("one");
  tenon__blob_folder_keep(NULL, &key, "compiled", 8);
  EXPECT(tenon__blob_folder_find(NULL, &key, &size) == NULL);
  EXPECT_INT(size, 0);
  tenon__blob_folder_destroy(NULL);
}
