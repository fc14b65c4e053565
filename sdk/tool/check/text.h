/* A text of limited size: what does not fit is cut. */
#ifndef TOOL_CHECK_TEXT_H_
#define TOOL_CHECK_TEXT_H_

#include <stddef.h>

typedef struct check_text_t {
  char* data; /* ends with NUL */
  size_t size;
  size_t used;
} check_text_t;

void check_text_begin(check_text_t* text, char* data, size_t size);
void check_text_add(check_text_t* text, const char* format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
