/*
 * Large blocks that trials reuse, because fresh memory from the system costs more than many trials.
 * A block's contents are undefined. Used by the build's thread only. Blocks are freed with the
 * tuning, so a build holds as much memory as its largest trial.
 */
#ifndef TENON_CORE_TIMING_BLOCKS_H_
#define TENON_CORE_TIMING_BLOCKS_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Entries stay until the end. A free one is reused for a request that it fits without much
 * waste. */
typedef struct tenon__block_entry_t {
  void* data;
  size_t size_bytes;
  bool is_taken;
} tenon__block_entry_t;

typedef struct tenon__blocks_t {
  tenon_allocator_t allocator;
  tenon__block_entry_t* entries;
  size_t count;
  size_t capacity;
} tenon__blocks_t;

void tenon__blocks_initialize(tenon__blocks_t* out_blocks, tenon_allocator_t allocator);
void tenon__blocks_deinitialize(tenon__blocks_t* blocks);
/* Returns at least `size_bytes`, aligned to 64 bytes; NULL if out of memory. Linear in the few
 * blocks. */
void* tenon__blocks_take(tenon__blocks_t* blocks, size_t size_bytes);
/* Returns the block for reuse; its contents stay. NULL and unknown addresses are ignored. */
void tenon__blocks_give_back(tenon__blocks_t* blocks, const void* data);

#endif
