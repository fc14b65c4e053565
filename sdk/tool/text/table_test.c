/* Tables: whole in a pipe, within the terminal's width on one. */
#include "text/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/test.h"

static const tool_column_t columns[] = {
    {"step", true, 0}, {"name", false, 12}, {"kernel", false, 8}, {"nodes", false, 0}};

static void expect(const char* const* cells, size_t count, size_t width, const char* wanted) {
  char* text = NULL;
  size_t size = 0;
  tool_table_t table;
  FILE* file = open_memstream(&text, &size);
  REQUIRE(file != NULL);
  tool_table_begin(&table, columns, 4);
  for (size_t i = 0; i < count; ++i) {
    tool_table_add(&table, cells[i]);
  }
  tool_table_print(&table, file, width, NULL, NULL);
  (void)fclose(file);
  EXPECT_TEXT(text, wanted);
  tool_table_free(&table);
  free(text);
}

TENON_TEST(nothing_is_cut_in_a_pipe) {
  static const char* const cells[] = {
      "0", "/m/layer.11/attention/query", "mat_mul", "a, b", "10", "short", "copy", ""};
  expect(cells, 8, 0,
         "step  name                         kernel   nodes\n"
         "   0  /m/layer.11/attention/query  mat_mul  a, b\n"
         "  10  short                        copy\n");
}

TENON_TEST(names_keep_their_tails) {
  static const char* const cells[] = {"0", "/m/layer.11/attention/query", "mat_mul",
                                      "one, two, three, four, five, six"};
  expect(cells, 4, 60,
         "step  name                 kernel   nodes\n"
         "   0  .../attention/query  mat_mul  one, two, three, four,\n"
         "                                    five, six\n");
}

TENON_TEST(the_last_column_goes_on_below) {
  static const char* const cells[] = {"0", "/m/layer.11/attention/query", "expressions",
                                      "one, two, three, four, five, six, seven"};
  expect(cells, 4, 40,
         "step  name                   kernel\n"
         "        nodes\n"
         "   0  ...11/attention/query  expressions\n"
         "        one, two, three, four, five,\n"
         "        six, seven\n");
}

TENON_TEST(what_is_written_steers_no_terminal) {
  static const char* const cells[] = {"0", "a\033[2J", "b\nc", "d"};
  expect(cells, 4, 0,
         "step  name      kernel  nodes\n"
         "   0  a\\x1b[2J  b\\x0ac  d\n");
}
