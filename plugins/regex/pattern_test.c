/* Bounds, words, and where PCRE2 is told to read as RE2 does. What RE2 answers, tests/patterns
 * compares. */
#include <stdlib.h>

#include "core/base/test.h"
#include "pattern.h"

static char message[TENON__PATTERN_MESSAGE_SIZE];

static tenon_status_t match(const char* text, const char* data, size_t size, bool* out_matches) {
  tenon__pattern_t* pattern = NULL;
  tenon__matcher_t* matcher = NULL;
  tenon_status_t status = tenon__pattern_create(text, &pattern, message);
  if (status == TENON_OK) {
    status = tenon__matcher_create(pattern, &matcher);
  }
  if (status == TENON_OK) {
    status = tenon__matcher_match(matcher, (tenon_string_view_t){data, size}, out_matches, message);
  }
  tenon__matcher_destroy(matcher);
  tenon__pattern_destroy(pattern);
  return status;
}

static bool matches(const char* text, const char* string) {
  bool result = false;
  EXPECT_STATUS(match(text, string, strlen(string), &result), TENON_OK);
  return result;
}

static void expect_refused(const char* text, const char* expected) {
  tenon__pattern_t* pattern = NULL;
  EXPECT_STATUS(tenon__pattern_create(text, &pattern, message), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(message, expected);
}

TENON_TEST(the_whole_string_must_match) {
  EXPECT(matches("a|ab", "ab"));
  EXPECT(!matches("a|ab", "abc"));
  EXPECT(!matches("b", "ab"));
  EXPECT(matches("", ""));
  EXPECT(!matches("", "a"));
}

TENON_TEST(a_bad_pattern_has_its_place) {
  expect_refused("ab[c", "pattern 'ab[c' cannot be read from byte 4 on: missing terminating ]");
  expect_refused("é*{1}?**", "from byte");
  expect_refused("x(?P<n>a)(?P<n>b)", "from byte 15 on: two named subpatterns");
  expect_refused("a\\C", "from byte 3 on");
  expect_refused("\xff", "from byte 0 on: UTF-8 error");
}

TENON_TEST(what_is_no_text_is_matched_by_nothing) {
  bool result = true;
  EXPECT_STATUS(match("(?s).*", "a\xff", 2, &result), TENON_OK);
  EXPECT(!result);
  result = true;
  EXPECT_STATUS(match("a*", "a\xc3", 2, &result), TENON_OK);
  EXPECT(!result);
}

TENON_TEST(a_string_without_bytes_may_have_no_address) {
  bool result = false;
  EXPECT_STATUS(match("a*", NULL, 0, &result), TENON_OK);
  EXPECT(result);
}

TENON_TEST(steps_are_bounded) {
  static const char text[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
  bool result = false;
  EXPECT_STATUS(match("(a|aa)+", text, sizeof(text) - 1, &result), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(message, "pattern '(a|aa)+' takes more than 4198400 steps");
  EXPECT_CONTAINS(message, "a string of 64 bytes");
}

/* What repeats once is not stopped, however long the string. */
TENON_TEST(long_strings_are_matched) {
  enum { SIZE = 200000 };
  static char text[SIZE];
  bool result = false;
  memset(text, 'a', SIZE);
  EXPECT_STATUS(match("(?:a|b)*", text, SIZE, &result), TENON_OK);
  EXPECT(result);
  EXPECT_STATUS(match("[ab]*c?", text, SIZE, &result), TENON_OK);
  EXPECT(result);
}

TENON_TEST(memory_is_bounded) {
  enum { SIZE = 4000000 };
  char* text = malloc(SIZE);
  bool result = false;
  REQUIRE(text != NULL);
  memset(text, 'a', SIZE);
  EXPECT_STATUS(match("(?:a|b)*", text, SIZE, &result), TENON_ERROR_UNSUPPORTED);
  EXPECT_CONTAINS(message, "takes more than 128 MiB to match a string of 4000000 bytes");
  free(text);
}
