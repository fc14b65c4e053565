/* Whatever a name holds, it stays text. */
#include "page/html.h"

#include <stdlib.h>

#include "core/base/test.h"

static void expect(const char* text, size_t limit, const char* wanted) {
  char* written = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&written, &size);
  REQUIRE(file != NULL);
  tool_html_text(file, text, limit);
  (void)fclose(file);
  EXPECT_TEXT(written, wanted);
  free(written);
}

TENON_TEST(what_means_something_to_html_is_escaped) {
  expect("<script>alert(\"x\") && 1</script>", SIZE_MAX,
         "&lt;script&gt;alert(&quot;x&quot;) &amp;&amp; 1&lt;/script&gt;");
  expect("' onload=a", SIZE_MAX, "&#39; onload=a");
}

/* Those of C1 too, and what turns the direction of writing: U+009B, U+202E, U+2066. */
TENON_TEST(control_characters_are_left_out) {
  expect("a\033[31m\177b\n\tc", SIZE_MAX, "a[31mb\n\tc");
  expect((const char[]){'a', (char)0xC2, (char)0x9B, 'b', (char)0xE2, (char)0x80, (char)0xAE, 'c',
                        (char)0xE2, (char)0x81, (char)0xA6, 'd', '\0'},
         SIZE_MAX, "abcd");
}

TENON_TEST(what_is_no_character_is_replaced) {
  expect(
      "a\xFF"
      "b\xC3",
      SIZE_MAX, "a&#65533;b&#65533;");
}

TENON_TEST(limits_count_characters) {
  expect("\xC3\xA4\xC3\xB6\xC3\xBC", 3, "\xC3\xA4\xC3\xB6\xC3\xBC");
  expect("\xC3\xA4\xC3\xB6\xC3\xBC", 2, "\xC3\xA4\xC3\xB6&#8230;");
  expect("a<b", 2, "a&lt;&#8230;");
}
