/* A priority queue of numbers with ranks: the lowest rank first, of equal ranks the smaller number.
 * So the output order does not depend on the order of insertion. */
#ifndef TENON_CORE_BASE_HEAP_H_
#define TENON_CORE_BASE_HEAP_H_

#include "core/base/arena.h"

/* A binary heap of (rank, number) in one word each; push and pop take logarithmic time. */
typedef struct tenon__heap_t {
  uint32_t count;
  uint64_t* items; /* rank in the upper half, number in the lower half */
} tenon__heap_t;

/* Begins an empty heap with space for `capacity` numbers, in the arena. Returns false if out of
 * memory. */
bool tenon__heap_begin(tenon__heap_t* out_heap, uint32_t capacity, tenon__arena_t* arena);
/* Adds a number. The caller ensures that the capacity is sufficient. */
void tenon__heap_push(tenon__heap_t* heap, uint32_t rank, uint32_t number);
/* Removes and returns the first number of a heap that is not empty. */
uint32_t tenon__heap_pop(tenon__heap_t* heap);

#endif
