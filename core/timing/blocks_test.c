#include "core/timing/blocks.h"

#include "core/base/allocator.h"
#include "core/base/test.h"

TENON_TEST(what_is_given_back_is_taken_again) {
  tenon__blocks_t blocks;
  tenon__blocks_initialize(&blocks, tenon__allocator_default());
  void* first = tenon__blocks_take(&blocks, 1000);
  void* second = tenon__blocks_take(&blocks, 1000);
  EXPECT(first != NULL && second != NULL && first != second);
  tenon__blocks_give_back(&blocks, first);
  EXPECT(tenon__blocks_take(&blocks, 900) == first);
  EXPECT(tenon__blocks_take(&blocks, 1000) != second);
  tenon__blocks_give_back(&blocks, NULL);
  tenon__blocks_deinitialize(&blocks);
}

TENON_TEST(of_several_the_smallest_that_fits_is_taken) {
  tenon__blocks_t blocks;
  tenon__blocks_initialize(&blocks, tenon__allocator_default());
  void* large = tenon__blocks_take(&blocks, 5000);
  void* small = tenon__blocks_take(&blocks, 2000);
  tenon__blocks_give_back(&blocks, large);
  tenon__blocks_give_back(&blocks, small);
  EXPECT(tenon__blocks_take(&blocks, 1500) == small);
  EXPECT(tenon__blocks_take(&blocks, 1500) == large);
  tenon__blocks_deinitialize(&blocks);
}

/* A trial of a few bytes does not hold what the next, of many, could use. */
TENON_TEST(a_much_larger_block_waits_for_others) {
  tenon__blocks_t blocks;
  tenon__blocks_initialize(&blocks, tenon__allocator_default());
  void* huge = tenon__blocks_take(&blocks, (size_t)64 << 20);
  tenon__blocks_give_back(&blocks, huge);
  EXPECT(tenon__blocks_take(&blocks, 16) != huge);
  tenon__blocks_deinitialize(&blocks);
}
