/*
 * Placing blocks in one arena. Blocks are placed one after another, each in the tightest gap (or
 * the lowest) among those already placed that are alive with it; how good that is depends on the
 * order. So several orders are tried, each by a different idea of what is hard to place, and the
 * best is then improved: under a limit just below the best total, the block that did not fit moves
 * forward in the order and all are placed again. Lives give a lower bound; reaching it ends the
 * search. The effort is bounded by a count of comparisons, not by time, so the result is always the
 * same.
 */
#include "core/plan/memory_planner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"

#define ALIGNMENT_BYTES 64u
#define MOST_COMPARISONS (UINT64_C(120) * 1000 * 1000)
#define MOST_IMPROVEMENTS 2000u

/* A block that takes part: sizes rounded up, empty ones left out. */
typedef struct item_t {
  uint64_t size_bytes;
  uint64_t hardness; /* what the current order sorts by, largest first */
  uint32_t first_step;
  uint32_t last_step;
  uint32_t block;
} item_t;

/* An item that has its place. */
typedef struct placed_t {
  uint64_t begin;
  uint64_t end;
  uint32_t first_step;
  uint32_t last_step;
} placed_t;

typedef struct packing_t {
  uint32_t count;
  item_t* items;
  uint32_t* order;   /* of items */
  uint64_t* offsets; /* of items, as just placed */
  uint64_t* best_offsets;
  uint64_t best_total;
  uint64_t comparisons;
  uint32_t culprit; /* place in the order of the item that went past the limit */
  placed_t* placed; /* so far, by ascending begin */
} packing_t;

/* ---- Placing in one order ---- */

/* Where the item goes: the tightest gap, or the first one. */
static uint64_t find_gap(packing_t* p, const item_t* item, uint32_t placed_count, bool lowest) {
  uint64_t cursor = 0;
  uint64_t overlaps = 0;
  uint64_t found = UINT64_MAX;
  uint64_t found_gap = UINT64_MAX;
  for (uint32_t k = 0; k < placed_count; ++k) {
    const placed_t* other = &p->placed[k];
    if (other->first_step > item->last_step || other->last_step < item->first_step) {
      continue;
    }
    overlaps += 1;
    if (other->begin > cursor && other->begin - cursor >= item->size_bytes &&
        other->begin - cursor < found_gap) {
      found = cursor;
      found_gap = other->begin - cursor;
      if (lowest) {
        break;
      }
    }
    cursor = other->end > cursor ? other->end : cursor;
  }
  p->comparisons += placed_count + 2 * overlaps;
  return found == UINT64_MAX ? cursor : found;
}

static void insert_placed(packing_t* p, uint32_t item, uint32_t placed_count) {
  const placed_t placed = {.begin = p->offsets[item],
                           .end = p->offsets[item] + p->items[item].size_bytes,
                           .first_step = p->items[item].first_step,
                           .last_step = p->items[item].last_step};
  uint32_t low = 0;
  uint32_t high = placed_count;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (p->placed[middle].begin <= placed.begin) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  memmove(&p->placed[low + 1u], &p->placed[low], (placed_count - low) * sizeof *p->placed);
  p->placed[low] = placed;
}

/* Places all in the packing's order. False, with the culprit, as soon as one ends past `limit`. */
static bool place_all(packing_t* p, bool lowest, uint64_t limit) {
  uint64_t total = 0;
  for (uint32_t k = 0; k < p->count; ++k) {
    const uint32_t item = p->order[k];
    p->offsets[item] = find_gap(p, &p->items[item], k, lowest);
    const uint64_t end = p->offsets[item] + p->items[item].size_bytes;
    if (end > limit) {
      p->culprit = k;
      return false;
    }
    total = end > total ? end : total;
    insert_placed(p, item, k);
  }
  memcpy(p->best_offsets, p->offsets, p->count * sizeof *p->offsets);
  p->best_total = total;
  return true;
}

/* ---- Orders ---- */

typedef enum order_t {
  ORDER_SIZE,
  ORDER_AREA,  /* size times life */
  ORDER_LIFE,  /* long ones below */
  ORDER_TIME,  /* as they are written */
  ORDER_CROWD, /* those of the fullest step first */
  ORDER_COUNT
} order_t;

/* For each item the most bytes alive in any step of its life would need a range query; the fullest
 * of its first and last step is nearly as telling. `alive` has an entry for each step. */
static uint64_t hardness_of(const item_t* item, order_t order, const uint64_t* alive) {
  const uint64_t life = (uint64_t)item->last_step - item->first_step + 1u;
  switch (order) {
    case ORDER_AREA:
      return item->size_bytes / ALIGNMENT_BYTES > UINT64_MAX / life
                 ? UINT64_MAX
                 : item->size_bytes / ALIGNMENT_BYTES * life;
    case ORDER_LIFE:
      return life;
    case ORDER_TIME:
      return UINT32_MAX - (uint64_t)item->first_step;
    case ORDER_CROWD: {
      const uint64_t first = alive[item->first_step];
      const uint64_t last = alive[item->last_step];
      return first > last ? first : last;
    }
    case ORDER_SIZE:
    case ORDER_COUNT:
    default:
      return item->size_bytes;
  }
}

static int compare_items(const void* a, const void* b) {
  const item_t* x = a;
  const item_t* y = b;
  if (x->hardness != y->hardness) {
    return x->hardness > y->hardness ? -1 : 1;
  }
  if (x->size_bytes != y->size_bytes) {
    return x->size_bytes > y->size_bytes ? -1 : 1;
  }
  return x->block < y->block ? -1 : 1;
}

/* Sorts the items themselves; the order is then 0, 1, 2, ... `best_offsets` follow. */
static void sort_items(packing_t* p, order_t order, const uint64_t* alive, uint64_t* by_block) {
  for (uint32_t k = 0; k < p->count; ++k) {
    by_block[p->items[k].block] = p->best_offsets[k];
    p->items[k].hardness = hardness_of(&p->items[k], order, alive);
  }
  qsort(p->items, p->count, sizeof *p->items, compare_items);
  for (uint32_t k = 0; k < p->count; ++k) {
    p->best_offsets[k] = by_block[p->items[k].block];
    p->order[k] = k;
  }
}

static void try_orders(packing_t* p, uint64_t lower_bound, const uint64_t* alive,
                       uint64_t* by_block, order_t* out_best) {
  *out_best = ORDER_SIZE;
  for (uint32_t k = 0; k < ORDER_COUNT; ++k) {
    const order_t order = (order_t)k;
    if (p->best_total <= lower_bound || (k > 0 && p->comparisons > MOST_COMPARISONS)) {
      return;
    }
    sort_items(p, order, alive, by_block);
    if (place_all(p, false, p->best_total - 1) ||
        (p->best_total > lower_bound && place_all(p, true, p->best_total - 1))) {
      *out_best = order;
    }
  }
}

static uint32_t next_random(uint64_t* inout_state) {
  *inout_state = *inout_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)(*inout_state >> 33);
}

static void improve(packing_t* p, uint64_t lower_bound) {
  uint64_t random = 1;
  for (uint32_t k = 0;
       k < MOST_IMPROVEMENTS && p->best_total > lower_bound && p->comparisons <= MOST_COMPARISONS;
       ++k) {
    if (place_all(p, k % 2 != 0, p->best_total - 1) || p->culprit == 0) {
      continue;
    }
    const uint32_t item = p->order[p->culprit];
    const uint32_t target = next_random(&random) % p->culprit;
    memmove(&p->order[target + 1u], &p->order[target],
            (size_t)(p->culprit - target) * sizeof *p->order);
    p->order[target] = item;
  }
}

/* ---- The whole ---- */

/* Rounds sizes up, leaves empty blocks out. False when all sizes together overflow. */
static bool take_blocks(packing_t* p, const tenon__block_t* blocks, uint32_t block_count,
                        uint32_t* out_step_count) {
  uint64_t sum = 0;
  uint32_t steps = 0;
  for (uint32_t k = 0; k < block_count; ++k) {
    assert(blocks[k].first_step <= blocks[k].last_step && blocks[k].last_step < UINT32_MAX);
    const uint64_t size = blocks[k].size_bytes;
    if (size > UINT64_MAX / 4 - sum) {
      return false;
    }
    if (size == 0) {
      continue;
    }
    const uint64_t rounded = (size + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
    sum += rounded;
    p->items[p->count++] = (item_t){.size_bytes = rounded,
                                    .first_step = blocks[k].first_step,
                                    .last_step = blocks[k].last_step,
                                    .block = k};
    steps = blocks[k].last_step >= steps ? blocks[k].last_step + 1u : steps;
  }
  *out_step_count = steps;
  return true;
}

/* Bytes alive in each step; the largest is returned. */
static uint64_t count_alive(const packing_t* p, uint64_t* alive, uint32_t step_count) {
  /* Differences first; unsigned wrap-around undoes itself in the sum. */
  for (uint32_t k = 0; k < p->count; ++k) {
    alive[p->items[k].first_step] += p->items[k].size_bytes;
    alive[p->items[k].last_step + 1u] -= p->items[k].size_bytes;
  }
  uint64_t most = 0;
  for (uint32_t k = 0; k < step_count; ++k) {
    alive[k] += k > 0 ? alive[k - 1] : 0;
    most = alive[k] > most ? alive[k] : most;
  }
  return most;
}

static void pack(packing_t* p, uint64_t lower_bound, const uint64_t* alive, uint64_t* by_block) {
  p->best_total = UINT64_MAX;
  order_t best = ORDER_SIZE;
  try_orders(p, lower_bound, alive, by_block, &best);
  if (p->best_total > lower_bound) {
    sort_items(p, best, alive, by_block);
    improve(p, lower_bound);
  }
}

tenon_status_t tenon__memory_plan(tenon_allocator_t allocator, tenon__block_t* inout_blocks,
                                  uint32_t block_count, uint64_t* out_total, uint64_t* out_alive) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, allocator);
  packing_t p = {
      .items = tenon__arena_allocate(&arena, block_count, sizeof *p.items),
      .order = tenon__arena_allocate(&arena, block_count, sizeof *p.order),
      .offsets = tenon__arena_allocate(&arena, block_count, sizeof *p.offsets),
      .best_offsets = tenon__arena_allocate(&arena, block_count, sizeof *p.best_offsets),
      .placed = tenon__arena_allocate(&arena, (size_t)block_count + 1, sizeof *p.placed),
  };
  uint64_t* by_block = tenon__arena_allocate(&arena, block_count, sizeof *by_block);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  uint32_t step_count = 0;
  if (p.items != NULL && p.order != NULL && p.offsets != NULL && p.best_offsets != NULL &&
      p.placed != NULL && by_block != NULL &&
      take_blocks(&p, inout_blocks, block_count, &step_count)) {
    uint64_t* alive = tenon__arena_allocate(&arena, (size_t)step_count + 1, sizeof *alive);
    if (alive != NULL) {
      const uint64_t lower_bound = count_alive(&p, alive, step_count);
      if (p.count > 0) {
        pack(&p, lower_bound, alive, by_block);
      }
      for (uint32_t k = 0; k < block_count; ++k) {
        inout_blocks[k].offset = 0;
      }
      for (uint32_t k = 0; k < p.count; ++k) {
        inout_blocks[p.items[k].block].offset = p.best_offsets[k];
      }
      *out_total = p.best_total;
      *out_alive = lower_bound;
      status = TENON_OK;
    }
  }
  tenon__arena_deinitialize(&arena);
  return status;
}

tenon_status_t tenon__memory_alive(tenon_allocator_t allocator, const tenon__block_t* blocks,
                                   uint32_t block_count, uint64_t* out_alive) {
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, allocator);
  packing_t p = {.items = tenon__arena_allocate(&arena, block_count, sizeof *p.items)};
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  uint32_t step_count = 0;
  if (p.items != NULL && take_blocks(&p, blocks, block_count, &step_count)) {
    uint64_t* alive = tenon__arena_allocate(&arena, (size_t)step_count + 1, sizeof *alive);
    if (alive != NULL) {
      *out_alive = count_alive(&p, alive, step_count);
      status = TENON_OK;
    }
  }
  tenon__arena_deinitialize(&arena);
  return status;
}
