/* Memory of the command. Nothing here returns NULL: when memory is out the command says so and
 * ends. Sizes that come from a file are checked against the file before they get here. */
#ifndef TOOL_TEXT_MEMORY_H_
#define TOOL_TEXT_MEMORY_H_

#include <stddef.h>

/* Zero-filled, aligned to 64 bytes; freed by tool_free. Ends the command when count * size
 * overflows. */
void* tool_allocate(size_t count, size_t size_bytes);
/* An array with room for at least `needed` elements; contents are kept, what is new is zero. */
void* tool_grow(void* array, size_t* inout_capacity, size_t needed, size_t element_size);
char* tool_copy_text(const char* text);
char* tool_copy_bytes(const char* data, size_t size); /* ends with NUL */
char* tool_format(const char* format, ...) __attribute__((format(printf, 1, 2)));
/* Adds to the end of *inout_text, which tool_free frees; NULL is "". */
void tool_append(char** inout_text, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* A copy of the next line without its end, freed by tool_free; NULL at the end of the text. */
char* tool_take_line(const char** inout_text);
void tool_free(void* block);

/* A text that grows; empty when zero-filled. */
typedef struct tool_text_t {
  char* data; /* ends with NUL, where there is any */
  size_t size;
  size_t capacity;
} tool_text_t;
/* A tenon_write_t: `text`, a tool_text_t, gets longer by `piece`. */
void tool_text_add(void* text, const char* piece);
/* The whole, freed by tool_free; the text is empty again. */
char* tool_text_take(tool_text_t* text);

#endif
