/* JSON: escapes, broken UTF-8, numbers that JSON does not have. */
#include "text/json.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/test.h"

TENON_TEST(writes_one_object_a_line) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  REQUIRE(file != NULL);
  tool_json_t json;
  static const char steering[] = {'\177',     (char)0xC2, (char)0x9B, (char)0xE2, (char)0x80,
                                  (char)0xAE, (char)0xE2, (char)0x81, (char)0xA9, '\0'};
  tool_json_begin(&json, file);
  tool_json_text(&json, "words", "a\"b\\c\n\x01\xC3\xA4\xFF");
  tool_json_text(&json, "steering", steering);
  tool_json_number(&json, "nan", NAN);
  tool_json_number(&json, "half", 0.5);
  tool_json_integers(&json, "dims", (const int64_t[]){1, -2}, 2);
  tool_json_lines(&json, "lines", "one\ntwo\n");
  tool_json_bool(&json, "yes", true);
  tool_json_unsigned(&json, "last", UINT64_MAX);
  tool_json_end(&json);
  (void)fclose(file);
  EXPECT_TEXT(text,
              "{\"words\": \"a\\\"b\\\\c\\n\\u0001\xC3\xA4\xEF\xBF\xBD\", "
              "\"steering\": \"\\u007f\\u009b\\u202e\\u2069\", \"nan\": null, \"half\": 0.5, "
              "\"dims\": [1, -2], \"lines\": [\"one\", \"two\"], \"yes\": true, "
              "\"last\": 18446744073709551615}\n");
  free(text);
}
