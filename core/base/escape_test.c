#include "core/base/escape.h"

#include "core/base/test.h"

TENON_TEST(shows_what_must_not_be_obeyed) {
  static const char* const rows[][2] = {
      {"", ""},
      {"plain 'text' \\ with \"signs\"", "plain 'text' \\ with \"signs\""},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"},
      {"\x1b[31mred", "\\x1b[31mred"},
      {"tab\t cr\r bell\a del\x7f", "tab\\x09 cr\\x0d bell\\x07 del\\x7f"},
      {"c1 \xc2\x9b"
       "31m",
       "c1 \\xc2\\x9b31m"},
      /* Directions. NOLINTNEXTLINE(misc-misleading-bidirectional): that is what it is about */
      {"\xe2\x80\xaeright to left", "\\xe2\\x80\\xaeright to left"},
      {"\xe2\x80\xa8line", "\\xe2\\x80\\xa8line"},
      {"\xd8\x9c"
       "arabic letter mark",
       "\\xd8\\x9c"
       "arabic letter mark"},
      /* No UTF-8: alone, cut short, too long a form, a surrogate, beyond Unicode. */
      {"\x80", "\\x80"},
      {"a\xc3", "a\\xc3"},
      {"\xe2\x82", "\\xe2\\x82"},
      {"\xc0\xaf", "\\xc0\\xaf"},
      {"\xe0\x80\x80", "\\xe0\\x80\\x80"},
      {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
      {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},
      {"\xff", "\\xff"},
      /* Lines. */
      {"list:\n  one\n  two", "list:\n  one\n  two"},
      {"name\nerror: forged", "name\n  error: forged"},
      {"one\n two\n", "one\n   two"},
      {"end\n\n", "end"},
      {"\n  ", "\n  "},
  };
  for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
    char shown[256];
    char again[256];
    EXPECT_INT(tenon__escape(rows[i][0], shown, sizeof(shown)), strlen(rows[i][1]));
    EXPECT_TEXT(shown, rows[i][1]);
    (void)tenon__escape(shown, again, sizeof(again));
    EXPECT_TEXT(again, shown);
    EXPECT_INT(tenon__needs_escape(rows[i][0]), strcmp(rows[i][0], rows[i][1]) != 0);
    EXPECT(!tenon__needs_escape(shown));
  }
}

TENON_TEST(tells_where_a_character_ends) {
  EXPECT_INT(tenon__character_size("a"), 1);
  EXPECT_INT(tenon__character_size("\xc3\xa9"), 2);
  EXPECT_INT(tenon__character_size("\xf0\x9f\x99\x82"), 4);
  EXPECT_INT(tenon__character_size("\xa9"), 0);
}

TENON_TEST(cuts_between_characters) {
  const char* text = "a\x1b\xe2\x82\xac";
  char out[16];
  for (size_t size = 1; size < sizeof(out); ++size) {
    memset(out, '#', sizeof(out));
    EXPECT_INT(tenon__escape(text, out, size), 8);
    EXPECT(strlen(out) < size);
    EXPECT_TEXT(out, size < 2 ? "" : size < 6 ? "a" : size < 9 ? "a\\x1b" : "a\\x1b\xe2\x82\xac");
  }
  EXPECT_INT(tenon__escape(text, NULL, 0), 8);
}
