/* See utf8.h. */
#include "text/utf8.h"

#include <stdbool.h>

size_t tool_utf8_read(const char* text, size_t size, uint32_t* out_code) {
  static const struct {
    unsigned char mask, lead;
    uint32_t least;
  } forms[] = {{0x80, 0x00, 0}, {0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}};
  const unsigned char* bytes = (const unsigned char*)text;
  for (size_t extra = 0; extra < 4; ++extra) {
    if ((bytes[0] & forms[extra].mask) != forms[extra].lead) {
      continue;
    }
    if (extra >= size) {
      return 0;
    }
    uint32_t code = bytes[0] & (unsigned char)~forms[extra].mask;
    for (size_t i = 1; i <= extra; ++i) {
      if ((bytes[i] & 0xC0) != 0x80) {
        return 0;
      }
      code = code << 6 | (bytes[i] & 0x3Fu);
    }
    const bool valid =
        code >= forms[extra].least && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
    *out_code = code;
    return valid ? extra + 1 : 0;
  }
  return 0;
}
