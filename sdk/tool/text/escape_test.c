/* Nothing that steers a terminal gets through, and nothing else changes. */
#include "text/escape.h"

#include "core/base/test.h"
#include "text/memory.h"

static void expect(const char* text, bool keep_lines, const char* wanted) {
  char* escaped = tool_escape(text, keep_lines);
  EXPECT_TEXT(escaped, wanted);
  tool_free(escaped);
}

TENON_TEST(letters_of_every_language_stay) {
  expect("conv1 /a.b: \xC3\xA4 \xE6\xA2\x81 \xF0\x9F\x94\xA9", false,
         "conv1 /a.b: \xC3\xA4 \xE6\xA2\x81 \xF0\x9F\x94\xA9");
  expect("", false, "");
}

TENON_TEST(what_steers_a_terminal_is_written_out) {
  expect("\033]0;title\a", false, "\\x1b]0;title\\x07");
  expect("a\177\xC2\x9Bm", false, "a\\x7f\\u009bm");
  expect((const char[]){(char)0xE2, (char)0x80, (char)0xAE, 'g', '\0'}, false, "\\u202eg");
}

TENON_TEST(bytes_that_are_no_characters_are_written_out) {
  expect("\xFF\xC3", false, "\\xff\\xc3");
  expect("\xC0\x8A", false, "\\xc0\\x8a");
}

TENON_TEST(lines_stay_where_they_are_wanted) {
  expect("a\n\tb", true, "a\n\tb");
  expect("a\n\tb", false, "a\\x0a\\x09b");
  expect("a\rb", true, "a\\x0db");
}
