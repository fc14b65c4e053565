/* Large blocks that trials use one after the other: fresh memory from the system costs more than
 * many a trial. What a block holds is whatever was there before. */
#ifndef TENON_CORE_CANDIDATE_BLOCKS_H_
#define TENON_CORE_CANDIDATE_BLOCKS_H_

#include <stdbool.h>

#include "tenon/plugin.h"

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
/* At least so many bytes, aligned to 64; NULL when memory is out. */
void* tenon__blocks_take(tenon__blocks_t* blocks, size_t size_bytes);
/* NULL is fine. */
void tenon__blocks_give_back(tenon__blocks_t* blocks, const void* data);

#endif
