#include "core/plan/memory_planner.h"

#include <stdlib.h>
#include <time.h>

#include "core/base/test.h"

#define MOST_BLOCKS 10000u

typedef struct scene_t {
  tenon__block_t blocks[MOST_BLOCKS];
  uint32_t count;
  uint64_t total;
  uint64_t alive;
} scene_t;

static scene_t scene;

static void add(uint64_t size_bytes, uint32_t first_step, uint32_t last_step) {
  scene.blocks[scene.count++] = (tenon__block_t){
      .size_bytes = size_bytes, .first_step = first_step, .last_step = last_step, .offset = 1};
}

static void start(void) {
  memset(&scene, 0, sizeof scene);
}

/* Blocks alive together share no byte, all are aligned and within the total, and the total is not
 * below what must be alive at once. Quadratic: for small scenes. */
static bool is_valid(void) {
  if (scene.total < scene.alive) {
    return false;
  }
  for (uint32_t a = 0; a < scene.count; ++a) {
    const tenon__block_t* x = &scene.blocks[a];
    if (x->offset % 64 != 0 || x->offset + x->size_bytes > scene.total) {
      return false;
    }
    for (uint32_t b = 0; b < a; ++b) {
      const tenon__block_t* y = &scene.blocks[b];
      const bool together = x->first_step <= y->last_step && y->first_step <= x->last_step;
      const bool apart =
          x->offset + x->size_bytes <= y->offset || y->offset + y->size_bytes <= x->offset;
      if (together && !apart) {
        return false;
      }
    }
  }
  return true;
}

static tenon_status_t plan(void) {
  return tenon__memory_plan(tenon__allocator_default(), scene.blocks, scene.count, &scene.total,
                            &scene.alive);
}

static uint32_t random_below(uint64_t* inout_state, uint32_t limit) {
  *inout_state = *inout_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*inout_state >> 33) % limit;
}

#define EXPECT_WITHIN_FIVE_PERCENT()                                                      \
  do {                                                                                    \
    EXPECT_STATUS(plan(), TENON_OK);                                                      \
    EXPECT(is_valid());                                                                   \
    if ((double)scene.total > 1.05 * (double)scene.alive) {                               \
      tenon__test_fail(__FILE__, __LINE__, "%llu bytes for %llu alive",                   \
                       (unsigned long long)scene.total, (unsigned long long)scene.alive); \
    }                                                                                     \
  } while (0)

TENON_TEST(nothing_needs_nothing) {
  start();
  EXPECT_STATUS(plan(), TENON_OK);
  EXPECT_INT(scene.total, 0);
  EXPECT_INT(scene.alive, 0);
  add(0, 0, 5);
  EXPECT_STATUS(plan(), TENON_OK);
  EXPECT_INT(scene.total, 0);
  EXPECT_INT(scene.blocks[0].offset, 0);
}

TENON_TEST(a_chain_alternates_between_two_blocks) {
  start();
  for (uint32_t k = 0; k < 100; ++k) {
    add(1000, k, k + 1);
  }
  EXPECT_WITHIN_FIVE_PERCENT();
  EXPECT_INT(scene.total, 2048);
}

TENON_TEST(sizes_are_rounded_to_the_alignment) {
  start();
  add(1, 0, 0);
  add(65, 0, 0);
  EXPECT_STATUS(plan(), TENON_OK);
  EXPECT_INT(scene.alive, 192);
  EXPECT_INT(scene.total, 192);
}

/* Residual networks: in every unit the input waits for the end of three convolutions. */
TENON_TEST(residual_chains_are_tight) {
  start();
  static const uint32_t units[4] = {3, 4, 6, 3};
  uint32_t step = 0;
  uint64_t size = UINT64_C(56) * 56 * 256 * 4;
  for (uint32_t stage = 0; stage < 4; ++stage) {
    for (uint32_t unit = 0; unit < units[stage]; ++unit) {
      const uint64_t inner = size / 4;
      if (unit == 0) {
        add(size, step, step + 3); /* projected shortcut */
      }
      add(unit == 0 && stage > 0 ? inner * 4 : inner, step, step + 1);
      add(inner, step + 1, step + 2);
      add(size, step + 2, step + 3);
      add(size, step + 3, step + 7); /* sum: read by the next unit's first and last step */
      step += 4;
    }
    size /= 2;
  }
  EXPECT_WITHIN_FIVE_PERCENT();
}

/* Encoder outputs wait for the decoder, the first one longest. */
TENON_TEST(u_net_skips_are_tight) {
  for (uint32_t depth = 2; depth < 8; ++depth) {
    start();
    uint64_t size = UINT64_C(512) * 512 * 64 * 4;
    uint32_t step = 0;
    const uint32_t last = depth * 6;
    for (uint32_t level = 0; level < depth; ++level) {
      add(size, step, step + 1);                 /* first convolution */
      add(size, step + 1, last - level * 3 - 3); /* second: the skip */
      add(size / 4, step + 2, step + 3);         /* pooled */
      step += 3;
      size /= 2;
    }
    for (uint32_t level = depth; level > 0; --level) {
      size *= 2;
      add(size, step, step + 1);     /* upsampled */
      add(2 * size, step, step + 1); /* concatenated */
      add(size, step + 1, step + 2);
      add(size, step + 2, step + 3);
      step += 3;
    }
    EXPECT_WITHIN_FIVE_PERCENT();
  }
}

/* Four branches of different sizes meet in a concatenation, nine times. */
TENON_TEST(inception_branches_are_tight) {
  start();
  static const uint64_t widths[9] = {256, 480, 512, 512, 512, 528, 832, 832, 1024};
  uint32_t step = 0;
  for (uint32_t module = 0; module < 9; ++module) {
    const uint64_t pixels = module < 2 ? 28 * 28 * 4 : module < 7 ? 14 * 14 * 4 : 7 * 7 * 4;
    const uint64_t width = widths[module];
    add(pixels * width / 4, step, step + 7);     /* 1x1 */
    add(pixels * width / 3, step + 1, step + 2); /* reduce */
    add(pixels * width / 2, step + 2, step + 7); /* 3x3 */
    add(pixels * width / 16, step + 3, step + 4);
    add(pixels * width / 8, step + 4, step + 7); /* 5x5 */
    add(pixels * width, step + 5, step + 6);     /* pool */
    add(pixels * width / 8, step + 6, step + 7);
    add(pixels * width, step + 7, step + 14); /* concatenation, read by all of the next */
    step += 8;
  }
  EXPECT_WITHIN_FIVE_PERCENT();
}

/* Attention: three projections, scores that dwarf them, a residual stream; all layers alike. */
TENON_TEST(transformer_layers_are_tight) {
  start();
  const uint64_t stream = UINT64_C(384) * 768 * 4;
  uint32_t step = 0;
  for (uint32_t layer = 0; layer < 24; ++layer) {
    add(stream, step, step + 6); /* residual */
    add(stream, step, step + 3);
    add(stream, step + 1, step + 3);
    add(stream, step + 2, step + 4);
    add(UINT64_C(12) * 384 * 384 * 4, step + 3, step + 4);
    add(stream, step + 4, step + 5);
    add(stream, step + 5, step + 6);
    add(stream, step + 6, step + 9);
    add(4 * stream, step + 7, step + 8);
    add(stream, step + 8, step + 9);
    step += 9;
  }
  EXPECT_WITHIN_FIVE_PERCENT();
}

TENON_TEST(dense_blocks_keep_everything) {
  start();
  for (uint32_t layer = 0; layer < 64; ++layer) {
    add(UINT64_C(32) * 784 * 4, 2 * layer, 128);                   /* grown channels */
    add(UINT64_C(4) * 32 * 784 * 4, 2 * layer + 1, 2 * layer + 2); /* bottleneck */
    add((UINT64_C(64) + UINT64_C(32) * layer) * 784 * 4, 2 * layer,
        2 * layer + 1); /* concatenation */
  }
  EXPECT_WITHIN_FIVE_PERCENT();
}

TENON_TEST(random_lives_never_overlap) {
  uint64_t random = 7;
  for (uint32_t round = 0; round < 200; ++round) {
    start();
    const uint32_t count = 1 + random_below(&random, 150);
    const uint32_t steps = 1 + random_below(&random, 100);
    const uint32_t life = 1 + random_below(&random, 30);
    for (uint32_t k = 0; k < count; ++k) {
      const uint32_t first = random_below(&random, steps);
      add(random_below(&random, 100000), first, first + random_below(&random, life));
    }
    EXPECT_STATUS(plan(), TENON_OK);
    EXPECT(is_valid());
  }
}

TENON_TEST(the_same_blocks_give_the_same_offsets) {
  static uint64_t before[300];
  for (int round = 0; round < 2; ++round) {
    uint64_t random = 11;
    start();
    for (uint32_t k = 0; k < 300; ++k) {
      const uint32_t first = random_below(&random, 200);
      add(random_below(&random, 5000), first, first + random_below(&random, 20));
    }
    EXPECT_STATUS(plan(), TENON_OK);
    for (uint32_t k = 0; k < 300; ++k) {
      if (round == 0) {
        before[k] = scene.blocks[k].offset;
      } else {
        EXPECT(before[k] == scene.blocks[k].offset);
      }
    }
  }
}

/* How long is told, not judged: other work may share the machine. The effort itself is bounded. */
TENON_TEST(ten_thousand_blocks_are_placed) {
  for (uint32_t life = 5; life <= 5000; life *= 10) {
    uint64_t random = 3;
    start();
    for (uint32_t k = 0; k < MOST_BLOCKS; ++k) {
      const uint32_t first = random_below(&random, MOST_BLOCKS);
      add(1 + random_below(&random, 1000000), first, first + random_below(&random, life));
    }
    const clock_t begin = clock();
    EXPECT_STATUS(plan(), TENON_OK);
    (void)printf("lives up to %u steps: %.3f s, %.1f %% above what is alive\n", life,
                 (double)(clock() - begin) / CLOCKS_PER_SEC,
                 100.0 * ((double)scene.total / (double)scene.alive - 1.0));
    EXPECT(scene.total >= scene.alive);
  }
}

TENON_TEST(refuses_sizes_that_overflow) {
  start();
  add(UINT64_MAX / 3, 0, 1);
  EXPECT_STATUS(plan(), TENON_ERROR_OUT_OF_MEMORY);
  scene.blocks[0].size_bytes = UINT64_MAX;
  EXPECT_STATUS(plan(), TENON_ERROR_OUT_OF_MEMORY);
}

static bool plan_with(tenon_allocator_t allocator, void* user) {
  (void)user;
  return tenon__memory_plan(allocator, scene.blocks, scene.count, &scene.total, &scene.alive) ==
         TENON_OK;
}

TENON_TEST(every_failing_allocation_is_reported) {
  start();
  for (uint32_t k = 0; k < 50; ++k) {
    add(1000 + UINT64_C(64) * k, k, k + 3);
  }
  tenon__test_each_allocation(plan_with, NULL);
}
