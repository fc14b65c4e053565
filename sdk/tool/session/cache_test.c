#include "session/cache.h"

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
