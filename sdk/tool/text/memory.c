/* See memory.h. */
#include "text/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, EXIT_MEMORY = 3 };

static void end_without_memory(size_t size_bytes) {
  (void)fprintf(stderr, "error: out of memory (%zu bytes were wanted)\n", size_bytes);
  exit(EXIT_MEMORY);
}

void* tool_allocate(size_t count, size_t size_bytes) {
  size_t total = 0;
  if (__builtin_mul_overflow(count, size_bytes, &total) || total > SIZE_MAX - ALIGNMENT) {
    end_without_memory(SIZE_MAX);
  }
  total = total == 0 ? 1 : total;
  void* block = NULL;
  if (posix_memalign(&block, ALIGNMENT, total) != 0) {
    end_without_memory(total);
  }
  memset(block, 0, total);
  return block;
}

void* tool_grow(void* array, size_t* inout_capacity, size_t needed, size_t element_size) {
  if (needed <= *inout_capacity) {
    return array;
  }
  size_t capacity = *inout_capacity < 8 ? 8 : *inout_capacity;
  while (capacity < needed) {
    capacity += capacity / 2;
  }
  void* larger = tool_allocate(capacity, element_size);
  if (array != NULL) {
    memcpy(larger, array, *inout_capacity * element_size);
    tool_free(array);
  }
  *inout_capacity = capacity;
  return larger;
}

char* tool_copy_bytes(const char* data, size_t size) {
  char* copy = tool_allocate(size + 1, 1);
  if (size > 0) {
    memcpy(copy, data, size);
  }
  return copy;
}

char* tool_copy_text(const char* text) {
  return tool_copy_bytes(text, strlen(text));
}

static char* format_list(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char* text = tool_allocate(length < 0 ? 1 : (size_t)length + 1, 1);
  if (length > 0) {
    (void)vsnprintf(text, (size_t)length + 1, format, arguments);
  }
  return text;
}

char* tool_format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* text = format_list(format, arguments);
  va_end(arguments);
  return text;
}

void tool_append(char** inout_text, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char* end = format_list(format, arguments);
  va_end(arguments);
  char* longer = tool_format("%s%s", *inout_text == NULL ? "" : *inout_text, end);
  tool_free(end);
  tool_free(*inout_text);
  *inout_text = longer;
}

char* tool_take_line(const char** inout_text) {
  const char* text = *inout_text;
  const size_t length = text == NULL ? 0 : strcspn(text, "\n");
  if (text == NULL || *text == '\0') {
    return NULL;
  }
  *inout_text = text + length + (text[length] == '\n' ? 1 : 0);
  return tool_copy_bytes(text, length);
}

void tool_free(void* block) {
  free(block);
}

void tool_text_add(void* text, const char* piece) {
  tool_text_t* to = text;
  const size_t length = strlen(piece);
  to->data = tool_grow(to->data, &to->capacity, to->size + length + 1, 1);
  memcpy(to->data + to->size, piece, length + 1);
  to->size += length;
}

char* tool_text_take(tool_text_t* text) {
  char* data = text->data != NULL ? text->data : tool_copy_text("");
  *text = (tool_text_t){0};
  return data;
}
