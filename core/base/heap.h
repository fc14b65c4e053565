/* What is ready and waits for its turn: numbers with a rank each, the least rank first, of equal
 * ranks the smaller number. So the order of what comes out does not hang on the order in. */
#ifndef TENON_CORE_BASE_HEAP_H_
#define TENON_CORE_BASE_HEAP_H_

#include "core/base/arena.h"

/* A binary heap of (rank, number) in one word each; push and pop cost the logarithm of count. */
typedef struct tenon__heap_t {
  uint32_t count;
  uint64_t* items; /* rank above, number below */
} tenon__heap_t;

/* Empty, with room for so many at a time; in the arena. False when memory is out. */
bool tenon__heap_begin(tenon__heap_t* out_heap, uint32_t capacity, tenon__arena_t* arena);
/* No more than the capacity at a time: that is for the caller to know. */
void tenon__heap_push(tenon__heap_t* heap, uint32_t rank, uint32_t number);
/* Of a heap that is not empty. */
uint32_t tenon__heap_pop(tenon__heap_t* heap);

#endif
