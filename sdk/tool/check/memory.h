/*
 * Guarded memory for the inputs and outputs of a run. The tensor ends at most 15 bytes before 1 MiB
 * that nobody may touch, and begins behind such memory. The rest of its pages has a pattern. Inputs are
 * read-only during a run.
 */
#ifndef TOOL_CHECK_MEMORY_H_
#define TOOL_CHECK_MEMORY_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct check_memory_t {
  void* data; /* at a multiple of 16 bytes */
  size_t size_bytes;
  uint8_t* pages;
  size_t pages_bytes; /* without the guards */
} check_memory_t;

/* False: no memory. */
bool check_memory_make(size_t size_bytes, check_memory_t* out_memory);
void check_memory_free(check_memory_t* memory);
void check_memory_protect(const check_memory_t* memory, bool read_only);
/* Fills the tensor with a byte and its surroundings with the pattern. */
void check_memory_poison(const check_memory_t* memory, uint8_t byte);
/* Returns 0, or the distance in bytes of the first changed byte outside: negative in front of the
 * tensor, positive behind its end. */
int64_t check_memory_overrun(const check_memory_t* memory);

#endif
