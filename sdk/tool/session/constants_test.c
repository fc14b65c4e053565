/* NAME=FILE of --input-constant. */
#include "session/constants.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/test.h"
#include "data/npy.h"
#include "text/console.h"
#include "text/memory.h"

typedef struct case_t {
  char path[64];
  char text[96];
} case_t;

/* A file with the vector [1, 0] and the text that gives it to input `name`. */
static bool make_case(case_t* c, const char* name) {
  static const int64_t dims[] = {2};
  tool_value_t value;
  (void)snprintf(c->path, sizeof(c->path), "/tmp/tenon-constant-%d.npy", (int)getpid());
  if (tool_value_make("axes", TENON_DTYPE_INT64, 1, dims, &value) != TENON_OK) {
    return false;
  }
  ((int64_t*)value.data)[0] = 1;
  const bool good = tool_npy_write(c->path, &value) == TENON_OK;
  tool_value_free(&value);
  (void)snprintf(c->text, sizeof(c->text), "%s=%s", name, c->path);
  return good;
}

TENON_TEST(reads_a_value_for_an_input) {
  case_t c;
  tool_constants_t constants = {0};
  tool_list_t texts = {0};
  tool_constant_table_t table;
  REQUIRE(make_case(&c, "a=b")); /* a name may hold the sign itself */
  tool_list_add(&texts, c.text);
  REQUIRE(tool_constants_add(&texts, &constants) == TENON_OK);
  REQUIRE(tool_constants_find(&constants, "a=b") != NULL);
  EXPECT(tool_constants_find(&constants, "a") == NULL);
  tool_constant_table_make(&constants, &table);
  REQUIRE(table.count == 1);
  EXPECT_TEXT(table.values[0].name, "a=b");
  EXPECT_INT(table.values[0].view->rank, 1);
  EXPECT_INT(table.values[0].view->dims[0], 2);
  EXPECT_INT(((const int64_t*)table.values[0].view->data)[0], 1);
  tool_constant_table_free(&table);
  tool_constants_free(&constants);
  tool_list_free(&texts);
  EXPECT(unlink(c.path) == 0);
}

TENON_TEST(refuses_what_is_no_value_for_an_input) {
  case_t c;
  static const char* const wrong[] = {"axes", "=file", "axes=", "axes=/tmp/there-is-none.npy"};
  tool_constants_t constants = {0};
  REQUIRE(make_case(&c, "axes"));
  tool_console_silence(true);
  for (int i = 0; i < 4; ++i) {
    tool_list_t texts = {0};
    tool_list_add(&texts, wrong[i]);
    EXPECT(tool_constants_add(&texts, &constants) != TENON_OK);
    tool_list_free(&texts);
  }
  EXPECT_INT(constants.count, 0);
  tool_list_t twice = {0};
  tool_list_add(&twice, c.text);
  tool_list_add(&twice, c.text);
  EXPECT_STATUS(tool_constants_add(&twice, &constants), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tool_console_last_error(), "input 'axes' has a value already");
  tool_console_silence(false);
  tool_constants_free(&constants);
  tool_list_free(&twice);
  EXPECT(unlink(c.path) == 0);
}
