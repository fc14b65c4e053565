/* A binary heap in an array. */
#include "core/base/heap.h"

#include <assert.h>

bool tenon__heap_begin(tenon__heap_t* out_heap, uint32_t capacity, tenon__arena_t* arena) {
  *out_heap = (tenon__heap_t){.count = 0};
  out_heap->items = tenon__arena_allocate(arena, capacity, sizeof *out_heap->items);
  return out_heap->items != NULL;
}

void tenon__heap_push(tenon__heap_t* heap, uint32_t rank, uint32_t number) {
  const uint64_t item = (uint64_t)rank << 32 | number;
  uint32_t at = heap->count++;
  while (at > 0 && item < heap->items[(at - 1) / 2]) {
    heap->items[at] = heap->items[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  heap->items[at] = item;
}

uint32_t tenon__heap_pop(tenon__heap_t* heap) {
  assert(heap->count > 0);
  const uint32_t top = (uint32_t)heap->items[0];
  const uint64_t last = heap->items[--heap->count];
  uint32_t at = 0;
  uint32_t child = 1;
  while (child < heap->count) {
    child += child + 1 < heap->count && heap->items[child + 1] < heap->items[child] ? 1 : 0;
    if (last <= heap->items[child]) {
      break;
    }
    heap->items[at] = heap->items[child];
    at = child;
    child = 2 * at + 1;
  }
  heap->items[at] = last;
  return top;
}
