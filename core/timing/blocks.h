/*
 * Large blocks that trials use one after the other: fresh memory from the system costs more than
 * many a trial. What a block holds is whatever was there before. One thread, that of the build.
 * Blocks go back to the system with the tuning, so a build holds as much as its largest trial took.
 */
#ifndef TENON_CORE_TIMING_BLOCKS_H_
#define TENON_CORE_TIMING_BLOCKS_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Entries stay until the end; a free one is taken again by a request that it fits without much
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
/* At least so many bytes, aligned to 64; NULL when memory is out. Linear in the blocks, of which
 * there are a handful. */
void* tenon__blocks_take(tenon__blocks_t* blocks, size_t size_bytes);
/* The block can be taken again and keeps what it holds. NULL, and what is no block, are left alone.
 */
void tenon__blocks_give_back(tenon__blocks_t* blocks, const void* data);

#endif
