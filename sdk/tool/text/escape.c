/* See escape.h. */
#include "text/escape.h"

#include <stdio.h>
#include <string.h>

#include "text/memory.h"
#include "text/utf8.h"

static bool is_line_mark(uint32_t code) {
  return code == '\n' || code == '\t';
}

bool tool_is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F) || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

char* tool_escape(const char* text, bool keep_lines) {
  enum { LONGEST = 6 }; /* \u202e */
  const size_t size = strlen(text);
  char* copy = tool_allocate(size * LONGEST + 1, 1);
  size_t used = 0;
  for (size_t i = 0; i < size;) {
    uint32_t code = 0;
    const size_t length = tool_utf8_read(text + i, size - i, &code);
    const bool plain = length > 0 && (!tool_is_control(code) || (keep_lines && is_line_mark(code)));
    if (plain) {
      memcpy(copy + used, text + i, length);
      used += length;
    } else if (length > 1) {
      used += (size_t)snprintf(copy + used, LONGEST + 1, "\\u%04x", code);
    } else {
      used += (size_t)snprintf(copy + used, LONGEST + 1, "\\x%02x", (unsigned char)text[i]);
    }
    i += length > 0 ? length : 1;
  }
  copy[used] = '\0';
  return copy;
}
