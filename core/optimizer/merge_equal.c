/*
 * Of nodes, and of constants, that always have the same value one remains. A table from hashes
 * holds what was seen; a node that changed since is found out because it is compared again.
 */
#include "core/optimizer/merge_equal.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/optimizer/node_equal.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

typedef struct seen_t {
  uint64_t hash;
  uint32_t graph; /* TENON_NONE: free */
  uint32_t index; /* node, or value */
  bool is_value;
} seen_t;

typedef struct equals_t {
  seen_t* slots;
  size_t slot_count; /* a power of two */
  size_t used;
} equals_t;

void tenon__equals_destroy(tenon__bench_t* bench) {
  equals_t* equals = bench->equals;
  if (equals != NULL) {
    const tenon_allocator_t allocator = bench->network->allocator;
    tenon__free(allocator, equals->slots, equals->slot_count * sizeof(*equals->slots));
    tenon__free(allocator, equals, sizeof(*equals));
    bench->equals = NULL;
  }
}

static void place(equals_t* equals, const seen_t* seen) {
  size_t at = seen->hash & (equals->slot_count - 1);
  while (equals->slots[at].graph != TENON_NONE) {
    at = (at + 1) & (equals->slot_count - 1);
  }
  equals->slots[at] = *seen;
  ++equals->used;
}

static bool grow(tenon__bench_t* bench, equals_t* equals) {
  const equals_t old = *equals;
  const size_t count = old.slot_count == 0 ? 1024 : old.slot_count * 2;
  seen_t* slots = tenon__allocate(bench->network->allocator, count, sizeof(*slots));
  if (slots == NULL) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    slots[i].graph = TENON_NONE;
  }
  *equals = (equals_t){.slots = slots, .slot_count = count};
  for (size_t i = 0; i < old.slot_count; ++i) {
    if (old.slots[i].graph != TENON_NONE) {
      place(equals, &old.slots[i]);
    }
  }
  tenon__free(bench->network->allocator, old.slots, old.slot_count * sizeof(*old.slots));
  return true;
}

static equals_t* table_of(tenon__bench_t* bench) {
  if (bench->equals == NULL) {
    bench->equals = tenon__allocate(bench->network->allocator, 1, sizeof(equals_t));
  }
  equals_t* equals = bench->equals;
  if (equals != NULL && (equals->used + 1) * 2 > equals->slot_count && !grow(bench, equals)) {
    equals = NULL;
  }
  bench->is_out_of_memory = bench->is_out_of_memory || equals == NULL;
  return equals;
}

static bool is_same(const tenon__bench_t* bench, const seen_t* seen, const seen_t* wanted) {
  if (seen->hash != wanted->hash || seen->graph != wanted->graph ||
      seen->is_value != wanted->is_value || seen->index == wanted->index) {
    return false;
  }
  if (seen->is_value) {
    const tenon__weights_t* a = tenon__bench_constant(bench, seen->graph, seen->index);
    const tenon__weights_t* b = tenon__bench_constant(bench, seen->graph, wanted->index);
    return tenon__bench_value(bench, seen->graph, seen->index)->alive && a != NULL && b != NULL &&
           tenon__weights_equal(a, b);
  }
  const tenon__node_t* a = tenon__bench_node(bench, seen->graph, seen->index);
  return a->alive && tenon__node_equal(a, tenon__bench_node(bench, seen->graph, wanted->index));
}

/* What equals `wanted` and came before it; else `wanted` is remembered and TENON_NONE returned. */
static uint32_t find_or_add(tenon__bench_t* bench, const seen_t* wanted) {
  equals_t* equals = table_of(bench);
  if (equals == NULL) {
    return TENON_NONE;
  }
  bool is_known = false;
  size_t at = wanted->hash & (equals->slot_count - 1);
  for (; equals->slots[at].graph != TENON_NONE; at = (at + 1) & (equals->slot_count - 1)) {
    const seen_t* seen = &equals->slots[at];
    if (is_same(bench, seen, wanted)) {
      return seen->index;
    }
    is_known = is_known || (seen->hash == wanted->hash && seen->graph == wanted->graph &&
                            seen->index == wanted->index && seen->is_value == wanted->is_value);
  }
  if (!is_known) {
    place(equals, wanted);
  }
  return TENON_NONE;
}

/* One constant for equal ones that a node reads: for all in one go, as there may be many. */
static tenon_status_t merge_constants(tenon__bench_t* bench, uint32_t graph, uint32_t index,
                                      bool* out_done) {
  for (uint32_t i = 0; i < tenon__bench_node(bench, graph, index)->input_count; ++i) {
    const uint32_t value = tenon__bench_node(bench, graph, index)->inputs[i];
    const tenon__weights_t* weights = tenon__bench_constant(bench, graph, value);
    if (weights == NULL || tenon__bench_leaves(bench, graph, value)) {
      continue;
    }
    const seen_t wanted = {tenon__weights_hash(weights), graph, value, true};
    const uint32_t other = find_or_add(bench, &wanted);
    if (other != TENON_NONE) {
      if (!tenon__patch_begin(bench, "merge equal", graph, index)) {
        return TENON_OK;
      }
      tenon__patch_replace(bench, value, other);
      *out_done = true;
      TENON_TRY(tenon__patch_end(bench));
    }
  }
  return TENON_OK;
}

/* Every output that is made here is made there, and what leaves the graph leaves it once. */
static bool can_replace(const tenon__bench_t* bench, uint32_t graph, const tenon__node_t* node,
                        const tenon__node_t* other) {
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const uint32_t own = node->outputs[i];
    const uint32_t its = other->outputs[i];
    const bool good =
        own == TENON_NONE ||
        (its != TENON_NONE && tenon__patch_fits(bench, graph, own, its) &&
         !(tenon__bench_leaves(bench, graph, own) && tenon__bench_leaves(bench, graph, its)));
    if (!good) {
      return false;
    }
  }
  return true;
}

tenon_status_t tenon__pass_merge_equal(tenon__bench_t* bench, uint32_t graph, uint32_t index) {
  bool done = false;
  TENON_TRY(merge_constants(bench, graph, index, &done));
  const tenon__node_t* node = tenon__bench_node(bench, graph, index);
  if (done || node->body_count > 0 || (node->op != NULL && node->op->traits.impure)) {
    return TENON_OK;
  }
  const seen_t wanted = {tenon__node_hash(node), graph, index, false};
  const uint32_t found = find_or_add(bench, &wanted);
  if (found == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__node_t* other = tenon__bench_node(bench, graph, found);
  if (!can_replace(bench, graph, node, other) ||
      !tenon__patch_begin(bench, "merge equal", graph, index)) {
    return TENON_OK;
  }
  for (uint32_t i = 0; i < node->output_count; ++i) {
    if (node->outputs[i] != TENON_NONE) {
      tenon__patch_replace(bench, node->outputs[i], other->outputs[i]);
    }
  }
  tenon__patch_remove(bench, index);
  return tenon__patch_end(bench);
}
