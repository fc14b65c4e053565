/* Case of letters, in UTF-8 and in bytes that are none. */
#include "letters.h"

#include <string.h>

#include "core/base/test.h"

static bool becomes(void* letters, const char* text, int direction, const char* wanted) {
  char out[64];
  const size_t size = tenon__letters_change(letters, text, strlen(text), direction, out);
  return size == strlen(wanted) && memcmp(out, wanted, size) == 0;
}

TENON_TEST(changes_letters_of_any_script) {
  void* letters = tenon__letters_begin();
  REQUIRE(letters != NULL);
  EXPECT(becomes(letters, "a\xc3\xa9 Z1", 1, "A\xc3\x89 Z1"));
  EXPECT(becomes(letters, "A\xc3\x89 z1", -1, "a\xc3\xa9 z1"));
  EXPECT(becomes(letters, "\xd0\xb6\xcf\x83", 1, "\xd0\x96\xce\xa3"));         /* Cyrillic, Greek */
  EXPECT(becomes(letters, "\xc8\xba", -1, "\xe2\xb1\xa5"));                    /* one byte more */
  EXPECT(becomes(letters, "\xe2\xb1\xa5", 1, "\xc8\xba"));                     /* one byte less */
  EXPECT(becomes(letters, "\xf0\x90\x90\xa8", 1, "\xf0\x90\x90\x80"));         /* four bytes */
  EXPECT(becomes(letters, "\xc3\x9f\xe4\xb8\xad", 1, "\xc3\x9f\xe4\xb8\xad")); /* no upper case */
  tenon__letters_end(letters);
}

TENON_TEST(leaves_bytes_that_are_no_characters) {
  void* letters = tenon__letters_begin();
  EXPECT(becomes(letters, "a\xc3", 1, "A\xc3"));                       /* cut off */
  EXPECT(becomes(letters, "\xa9z\xff", 1, "\xa9Z\xff"));               /* begins with none */
  EXPECT(becomes(letters, "\xc1\xa1", 1, "\xc1\xa1"));                 /* 'a' in two bytes */
  EXPECT(becomes(letters, "\xed\xa0\x80g", 1, "\xed\xa0\x80G"));       /* half of a pair */
  EXPECT(becomes(letters, "\xf4\x90\x80\x80", 1, "\xf4\x90\x80\x80")); /* beyond Unicode */
  tenon__letters_end(letters);
}

TENON_TEST(knows_ascii_without_the_locale) {
  EXPECT(becomes(NULL, "aZ\xc3\xa9{", 1, "AZ\xc3\xa9{"));
  EXPECT(becomes(NULL, "aZ@[", -1, "az@["));
}

TENON_TEST(compares_without_case) {
  void* letters = tenon__letters_begin();
  EXPECT(tenon__letters_same(letters, "\xc3\x89t\xc3\xa9", 5, "\xc3\xa9T\xc3\x89", 5));
  EXPECT(!tenon__letters_same(letters, "\xc3\xa9", 2, "e", 1));
  EXPECT(!tenon__letters_same(letters, "ab", 2, "a", 1));
  EXPECT(tenon__letters_same(letters, "", 0, "", 0));
  tenon__letters_end(letters);
}
