/*
 * Of nodes, and of constants, that always have the same value one remains. A table from hashes
 * holds what was seen; a node that changed since is found out because it is compared again.
 */
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

typedef struct tenon__equals_t {
  seen_t* slots;
  size_t slot_count; /* a power of two */
  size_t used;
} equals_t;

static void place(equals_t* equals, const seen_t* seen) {
  size_t at = seen->hash & (equals->slot_count - 1);
  while (equals->slots[at].graph != TENON_NONE) {
    at = (at + 1) & (equals->slot_count - 1);
  }
  equals->slots[at] = *seen;
  ++equals->used;
}

static bool grow(tenon__rewriter_t* rewriter, equals_t* equals) {
  const equals_t old = *equals;
  const size_t count = old.slot_count == 0 ? 1024 : old.slot_count * 2;
  seen_t* slots = tenon__arena_allocate(&rewriter->arena, count, sizeof(*slots));
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
  return true;
}

static equals_t* table_of(tenon__rewriter_t* rewriter) {
  if (rewriter->equals == NULL) {
    rewriter->equals = tenon__arena_allocate(&rewriter->arena, 1, sizeof(equals_t));
  }
  equals_t* equals = rewriter->equals;
  if (equals != NULL && (equals->used + 1) * 2 > equals->slot_count && !grow(rewriter, equals)) {
    equals = NULL;
  }
  rewriter->is_out_of_memory = rewriter->is_out_of_memory || equals == NULL;
  return equals;
}

static bool is_same(const tenon__rewriter_t* rewriter, const seen_t* seen, const seen_t* wanted) {
  if (seen->hash != wanted->hash || seen->graph != wanted->graph ||
      seen->is_value != wanted->is_value || seen->index == wanted->index) {
    return false;
  }
  if (seen->is_value) {
    const tenon__weights_t* a = tenon__rewriter_constant(rewriter, seen->graph, seen->index);
    const tenon__weights_t* b = tenon__rewriter_constant(rewriter, seen->graph, wanted->index);
    return tenon__rewriter_value(rewriter, seen->graph, seen->index)->alive && a != NULL &&
           b != NULL && tenon__weights_equal(a, b);
  }
  const tenon__node_t* a = tenon__rewriter_node(rewriter, seen->graph, seen->index);
  return a->alive &&
         tenon__node_equal(a, tenon__rewriter_node(rewriter, seen->graph, wanted->index));
}

/* What equals `wanted` and came before it; else `wanted` is remembered and TENON_NONE returned. */
static uint32_t find_or_add(tenon__rewriter_t* rewriter, const seen_t* wanted) {
  equals_t* equals = table_of(rewriter);
  if (equals == NULL) {
    return TENON_NONE;
  }
  bool is_known = false;
  size_t at = wanted->hash & (equals->slot_count - 1);
  for (; equals->slots[at].graph != TENON_NONE; at = (at + 1) & (equals->slot_count - 1)) {
    const seen_t* seen = &equals->slots[at];
    if (is_same(rewriter, seen, wanted)) {
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
static tenon_status_t merge_constants(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index,
                                      bool* out_done) {
  for (uint32_t i = 0; i < tenon__rewriter_node(rewriter, graph, index)->input_count; ++i) {
    const uint32_t value = tenon__rewriter_node(rewriter, graph, index)->inputs[i];
    const tenon__weights_t* weights = tenon__rewriter_constant(rewriter, graph, value);
    if (weights == NULL || tenon__rewriter_leaves(rewriter, graph, value)) {
      continue;
    }
    const seen_t wanted = {tenon__weights_hash(weights), graph, value, true};
    const uint32_t other = find_or_add(rewriter, &wanted);
    if (other != TENON_NONE) {
      if (!tenon__patch_begin(rewriter, "merge equal", graph, index)) {
        return TENON_OK;
      }
      tenon__patch_replace(rewriter, value, other);
      *out_done = true;
      TENON_TRY(tenon__patch_end(rewriter));
    }
  }
  return TENON_OK;
}

/* Every output that is made here is made there, and what leaves the graph leaves it once. */
static bool can_replace(const tenon__rewriter_t* rewriter, uint32_t graph,
                        const tenon__node_t* node, const tenon__node_t* other) {
  for (uint32_t i = 0; i < node->output_count; ++i) {
    const uint32_t own = node->outputs[i];
    const uint32_t its = other->outputs[i];
    const bool good =
        own == TENON_NONE || (its != TENON_NONE && tenon__patch_fits(rewriter, graph, own, its) &&
                              !(tenon__rewriter_leaves(rewriter, graph, own) &&
                                tenon__rewriter_leaves(rewriter, graph, its)));
    if (!good) {
      return false;
    }
  }
  return true;
}

tenon_status_t tenon__pass_merge_equal(tenon__rewriter_t* rewriter, uint32_t graph,
                                       uint32_t index) {
  bool done = false;
  TENON_TRY(merge_constants(rewriter, graph, index, &done));
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  if (done || node->body_count > 0 || (node->op != NULL && node->op->traits.impure)) {
    return TENON_OK;
  }
  const seen_t wanted = {tenon__node_hash(node), graph, index, false};
  const uint32_t found = find_or_add(rewriter, &wanted);
  if (found == TENON_NONE) {
    return TENON_OK;
  }
  const tenon__node_t* other = tenon__rewriter_node(rewriter, graph, found);
  if (!can_replace(rewriter, graph, node, other) ||
      !tenon__patch_begin(rewriter, "merge equal", graph, index)) {
    return TENON_OK;
  }
  TENON_EACH_OUTPUT(i, node) {
    tenon__patch_replace(rewriter, node->outputs[i], other->outputs[i]);
  }
  tenon__patch_remove(rewriter, index);
  return tenon__patch_end(rewriter);
}
