/* The file of a timing cache, for tests that compare builds. */
#ifndef TENON_TESTS_SUPPORT_TIMINGS_H_
#define TENON_TESTS_SUPPORT_TIMINGS_H_

#include "core/base/test.h"
#include "tests/support/plugin_folder.h"

/* How often a test repeats a build that was disturbed. */
enum { TEST_TIMINGS_TRIES = 10 };

/* Removes the marks of disturbed times from the file, so that no build measures them again. True if
 * there were any. The test repeats the first build then, which may measure other times. */
static inline bool test_timings_settle(const test_folder_t* folder, const char* name) {
  static const char line_end[] = " disturbed\n";
  const size_t size = strlen(line_end);
  const size_t mark_size = size - 1; /* the newline stays */
  char path[PATH_MAX];
  bool found = false;
  test_bytes_t text = test_read_file(test_folder_path(folder, name, path));
  while (text.data != NULL) {
    const size_t at = test_bytes_find(&text, line_end, size);
    if (at == text.size) {
      break;
    }
    found = true;
    text.size -= mark_size;
    memmove(text.data + at, text.data + at + mark_size, text.size - at);
  }
  EXPECT(text.data != NULL && (!found || test_folder_write(folder, name, text.data, text.size)));
  free(text.data);
  return found;
}

#endif
