/* A text that grows: what kernels are written into. After a failure nothing is added, and `failed`
 * says so once for all. */
#ifndef PLUGINS_CUDA_TEXT_H_
#define PLUGINS_CUDA_TEXT_H_

#include <stdbool.h>

#include "tenon/plugin.h"

typedef struct tenon__cuda_text_t {
  tenon_allocator_t allocator;
  char* data; /* ends with NUL once something was added */
  size_t size;
  size_t capacity;
  bool failed; /* no memory */
} tenon__cuda_text_t;

void tenon__cuda_text_add(tenon__cuda_text_t* text, const char* format, ...)
    __attribute__((format(printf, 2, 3)));
/* As it is, however long. */
void tenon__cuda_text_copy(tenon__cuda_text_t* text, const char* words);
void tenon__cuda_text_free(tenon__cuda_text_t* text);

#endif
