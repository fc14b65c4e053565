/* See text.h. */
#include "check/text.h"

#include <stdarg.h>
#include <stdio.h>

void check_text_begin(check_text_t* text, char* data, size_t size) {
  *text = (check_text_t){.data = data, .size = size};
  data[0] = '\0';
}

void check_text_add(check_text_t* text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const size_t room = text->size - text->used;
  const int wrote = vsnprintf(text->data + text->used, room, format, arguments);
  va_end(arguments);
  text->used += wrote < 0 ? 0 : (size_t)wrote < room ? (size_t)wrote : room - 1;
}
