/* A text that grows. */
#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool reserve(tenon__cuda_text_t* text, size_t more) {
  if (text->failed || text->size + more < text->capacity) {
    return !text->failed;
  }
  const size_t capacity = (text->size + more + 1) * 2;
  char* data = text->allocator.resize(text->allocator.user, text->data, text->capacity, capacity);
  text->failed = data == NULL;
  if (data != NULL) {
    text->data = data;
    text->capacity = capacity;
  }
  return !text->failed;
}

void tenon__cuda_text_copy(tenon__cuda_text_t* text, const char* words) {
  const size_t length = strlen(words);
  if (reserve(text, length)) {
    memcpy(text->data + text->size, words, length + 1);
    text->size += length;
  }
}

void tenon__cuda_text_add(tenon__cuda_text_t* text, const char* format, ...) {
  va_list arguments;
  va_list again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  if (length >= 0 && reserve(text, (size_t)length)) {
    (void)vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
    text->size += (size_t)length;
  }
  va_end(again);
  va_end(arguments);
}

void tenon__cuda_text_free(tenon__cuda_text_t* text) {
  if (text->data != NULL) {
    (void)text->allocator.resize(text->allocator.user, text->data, text->capacity, 0);
  }
  text->data = NULL;
}
