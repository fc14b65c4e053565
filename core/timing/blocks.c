/* A list of blocks: the smallest free one that is large enough, and not much larger, is reused.
 * Else a new one is allocated. */
#include "core/timing/blocks.h"

#include "core/base/allocator.h"

/* A block that is much larger than what is asked for waits for others. */
static const size_t wasted_bytes = (size_t)1 << 20;

void tenon__blocks_initialize(tenon__blocks_t* out_blocks, tenon_allocator_t allocator) {
  *out_blocks = (tenon__blocks_t){.allocator = allocator};
}

void tenon__blocks_deinitialize(tenon__blocks_t* blocks) {
  for (size_t k = 0; k < blocks->count; ++k) {
    tenon__free(blocks->allocator, blocks->entries[k].data, blocks->entries[k].size_bytes);
  }
  tenon__free(blocks->allocator, blocks->entries, blocks->capacity * sizeof *blocks->entries);
  *blocks = (tenon__blocks_t){.allocator = blocks->allocator};
}

void* tenon__blocks_take(tenon__blocks_t* blocks, size_t size_bytes) {
  tenon__block_entry_t* best = NULL;
  const size_t wanted = size_bytes + 64;
  for (size_t k = 0; k < blocks->count; ++k) {
    tenon__block_entry_t* entry = &blocks->entries[k];
    const bool fits = !entry->is_taken && entry->size_bytes >= wanted &&
                      entry->size_bytes / 2 <= wanted + wasted_bytes;
    if (fits && (best == NULL || entry->size_bytes < best->size_bytes)) {
      best = entry;
    }
  }
  if (best != NULL) {
    best->is_taken = true;
    return best->data;
  }
  if (wanted < size_bytes ||
      !TENON_GROW(blocks->allocator, blocks->entries, blocks->capacity, blocks->count + 1)) {
    return NULL;
  }
  void* data = blocks->allocator.resize(blocks->allocator.user, NULL, 0, wanted);
  if (data != NULL) {
    blocks->entries[blocks->count++] = (tenon__block_entry_t){data, wanted, true};
  }
  return data;
}

void tenon__blocks_give_back(tenon__blocks_t* blocks, const void* data) {
  for (size_t k = 0; k < blocks->count; ++k) { /* none is at NULL */
    if (blocks->entries[k].data == data) {
      blocks->entries[k].is_taken = false;
      return;
    }
  }
}
