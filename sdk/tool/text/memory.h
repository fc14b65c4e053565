/* Memory of the command. Nothing here returns NULL: when memory is out the command says so and
 * ends. Sizes that come from a file are checked against the file before they get here. */
#ifndef TOOL_TEXT_MEMORY_H_
#define TOOL_TEXT_MEMORY_H_

#include <stddef.h>

/* Zero-filled, aligned to 64 bytes; freed by tool_free. Ends the command when count * size
 * overflows. */
void* tool_allocate(size_t count, size_t size_bytes);
/* An array with room for at least `needed` elements; contents are kept. */
void* tool_grow(void* array, size_t* inout_capacity, size_t needed, size_t element_size);
char* tool_copy_text(const char* text);
char* tool_copy_bytes(const char* data, size_t size); /* ends with NUL */
char* tool_format(const char* format, ...) __attribute__((format(printf, 1, 2)));
void tool_free(void* block);

#endif
