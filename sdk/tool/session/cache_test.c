#include "session/cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/file.h"
#include "text/memory.h"

/* Another process that built the same plan may be about to open it: it is replaced, never away. */
TENON_TEST(a_plan_that_is_dropped_stays_where_it_is) {
  char root[] = "/tmp/cache_test-XXXXXX";
  char plans[64];
  tool_cache_entry_t entry;
  REQUIRE(mkdtemp(root) != NULL);
  (void)snprintf(plans, sizeof(plans), "%s/plans", root);
  REQUIRE(mkdir(plans, 0700) == 0);
  tool_cache_entry_make(root, tool_copy_text("a key\n"), &entry);
  EXPECT_STATUS(tool_file_write(entry.plan_path, "x", 1), TENON_OK);
  EXPECT_STATUS(tool_cache_keep(&entry, NULL, 0, NULL), TENON_OK);
  EXPECT(tool_cache_find(&entry));
  tool_cache_drop(&entry);
  EXPECT(!tool_cache_find(&entry));
  EXPECT(tool_file_exists(entry.plan_path));
  EXPECT_STATUS(tool_cache_keep(&entry, NULL, 0, NULL), TENON_OK);
  EXPECT(tool_cache_find(&entry));
  EXPECT(unlink(entry.plan_path) == 0 && unlink(entry.key_path) == 0);
  tool_cache_entry_free(&entry);
  EXPECT(rmdir(plans) == 0 && rmdir(root) == 0);
}

TENON_TEST(a_stamp_names_its_file_until_that_changes) {
  char path[] = "/tmp/a stamp 1 2.3-XXXXXX";
  char stamp[TOOL_STAMP_BYTES];
  char expected[TOOL_STAMP_BYTES];
  const struct timespec times[][2] = {{{0}, {1700000000, 7}}, {{0}, {-5, 120000000}}};
  static const char* const ends[] = {" 3 1700000000.000000007\n", " 3 -5.120000000\n"};
  const int file = mkstemp(path);
  REQUIRE(file >= 0 && write(file, "abc", 3) == 3 && close(file) == 0);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(utimensat(AT_FDCWD, path, times[i], 0) == 0);
    tool_file_stamp(path, stamp);
    (void)snprintf(expected, sizeof(expected), "%s%s", path, ends[i]);
    EXPECT_TEXT(stamp, expected);
    char* named = tool_file_stamp_path(stamp);
    EXPECT_TEXT(named, path);
    tool_free(named);
    stamp[strlen(stamp) - 1] = '\0';
    named = tool_file_stamp_path(stamp);
    EXPECT_TEXT(named, path);
    tool_free(named);
  }
  EXPECT(utimensat(AT_FDCWD, path, NULL, 0) == 0);
  EXPECT(tool_file_stamp_path(stamp) == NULL);
  EXPECT(unlink(path) == 0);
  EXPECT(tool_file_stamp_path(stamp) == NULL && tool_file_stamp_path("\n") == NULL);
  tool_file_stamp(path, stamp);
  EXPECT_TEXT(stamp, "");
}
