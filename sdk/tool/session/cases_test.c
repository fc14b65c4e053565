#include "session/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/file.h"
#include "text/console.h"

static void write_text(const char* path, const char* text) {
  EXPECT_STATUS(tool_file_write(path, text, strlen(text)), TENON_OK);
}

TENON_TEST(finds_cases_below_a_folder_by_name) {
  char root[] = "/tmp/tenon-cases-XXXXXX";
  char path[256];
  static const char* const folders[] = {
      "", "/b", "/b/test_data_set_0", "/a", "/a/test_data_set_0", "/none"};
  static const char* const files[] = {"/b/model.onnx", "/a/model.onnx", "/none/model.onnx"};
  tool_cases_t cases;
  REQUIRE(mkdtemp(root) != NULL);
  for (int i = 1; i < 6; ++i) {
    (void)snprintf(path, sizeof(path), "%s%s", root, folders[i]);
    REQUIRE(mkdir(path, 0755) == 0);
  }
  for (int i = 0; i < 3; ++i) {
    (void)snprintf(path, sizeof(path), "%s%s", root, files[i]);
    write_text(path, "x");
  }
  tool_cases_find(root, NULL, &cases);
  REQUIRE(cases.count == 2); /* the one without data is none */
  EXPECT_TEXT(cases.items[0].name, "a");
  EXPECT_TEXT(cases.items[1].name, "b");
  tool_cases_free(&cases);
  tool_cases_find(root, "b*", &cases);
  REQUIRE(cases.count == 1);
  EXPECT_TEXT(cases.items[0].name, "b");
  tool_cases_free(&cases);
  for (int i = 0; i < 3; ++i) {
    (void)snprintf(path, sizeof(path), "%s%s", root, files[i]);
    EXPECT(unlink(path) == 0);
  }
  for (int i = 5; i >= 0; --i) {
    static const int order[] = {0, 1, 3, 5, 2, 4}; /* the inner ones first */
    (void)snprintf(path, sizeof(path), "%s%s", root, folders[order[i]]);
    EXPECT(rmdir(path) == 0);
  }
}

TENON_TEST(known_failures_are_patterns_with_reasons) {
  char path[] = "/tmp/tenon-known-XXXXXX";
  tool_known_list_t known;
  const int descriptor = mkstemp(path);
  REQUIRE(descriptor >= 0);
  (void)close(descriptor);
  write_text(
      path, "# a comment\n\nnode/*_random  numbers differ\nsimple/one\tis wrong\n~two by chance\n");
  REQUIRE(tool_known_read(path, &known) == TENON_OK);
  EXPECT(known.count == 3);
  EXPECT(!known.items[0].may_pass);
  EXPECT(known.items[2].may_pass);
  EXPECT_TEXT(known.items[2].pattern, "two");
  EXPECT(tool_known_find(&known, "node/x") == NULL);
  REQUIRE(tool_known_find(&known, "node/x_random") != NULL);
  EXPECT_TEXT(tool_known_find(&known, "node/x_random")->reason, "numbers differ");
  EXPECT_TEXT(tool_known_find(&known, "simple/one")->reason, "is wrong");
  tool_known_free(&known);
  /* A failure that nobody explains is not known. */
  tool_console_silence(true);
  write_text(path, "node/x\n");
  EXPECT_STATUS(tool_known_read(path, &known), TENON_ERROR_INVALID_DATA);
  tool_console_silence(false);
  EXPECT(unlink(path) == 0);
}
