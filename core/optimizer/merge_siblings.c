/*
 * Nodes of one operator, alike but for their constants, that read one value become one node with
 * the constants of all, one behind the other, where the operator declares that its outputs then lie
 * so too. What each of them made is a view of that. Where it is asked for alone: whether it is
 * faster is for the build to find out.
 *
 * What the operator declares is tried before it is used: the one node's output must come out as
 * long along its axis as those of all together, and otherwise the same.
 */
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/node.h"
#include "core/optimizer/node_equal.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"
#include "core/optimizer/siblings.h"

enum { MOST_SIBLINGS = 8 };

typedef struct merging_t {
  tenon__rewriter_t* rewriter;
  uint32_t graph;
  uint32_t count;
  uint32_t nodes[MOST_SIBLINGS]; /* the first in the network first */
} merging_t;

static const tenon__node_t* node_of(const merging_t* m, uint32_t k) {
  return tenon__rewriter_node(m->rewriter, m->graph, m->nodes[k]);
}

static const tenon__type_t* type_of(const merging_t* m, uint32_t value) {
  return &tenon__rewriter_value(m->rewriter, m->graph, value)->type;
}

static const tenon__weights_t* constant_of(const merging_t* m, uint32_t k, uint32_t input) {
  return tenon__rewriter_constant(m->rewriter, m->graph, node_of(m, k)->inputs[input]);
}

static bool wrap(int32_t axis, uint32_t rank, uint32_t* out_axis) {
  const int64_t wrapped = axis < 0 ? axis + (int64_t)rank : axis;
  *out_axis = (uint32_t)wrapped;
  return rank != TENON_NONE && wrapped >= 0 && wrapped < (int64_t)rank;
}

/* ---- Who are siblings ---- */

/* Everything but the first input is a constant that has the axis. */
static bool has_constants(const tenon__rewriter_t* rewriter, uint32_t graph,
                          const tenon__node_t* node) {
  bool is_any = false;
  for (uint32_t i = 1; i < node->input_count; ++i) {
    const tenon__weights_t* weights = tenon__rewriter_constant(rewriter, graph, node->inputs[i]);
    uint32_t axis = 0;
    if (node->inputs[i] == TENON_NONE) {
      continue;
    }
    if (weights == NULL || weights->dtype == TENON_DTYPE_STRING ||
        tenon__dtype_bits(weights->dtype) < 8 ||
        !wrap(node->op->traits.concatenable_axis, weights->rank, &axis)) {
      return false;
    }
    is_any = true;
  }
  return is_any;
}

static bool may_be_sibling(const tenon__rewriter_t* rewriter, uint32_t graph,
                           const tenon__node_t* node) {
  return node->alive && tenon__node_is_concatenable(node) && node->output_count == 1 &&
         node->outputs[0] != TENON_NONE &&
         tenon__rewriter_use_count(rewriter, graph, node->outputs[0]) > 0 &&
         has_constants(rewriter, graph, node) &&
         tenon__rewriter_constant(rewriter, graph, node->inputs[0]) == NULL;
}

/* Constants alike but along the axis. */
static bool are_alike(const tenon__weights_t* a, const tenon__weights_t* b, uint32_t axis) {
  bool alike = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t d = 0; alike && d < a->rank; ++d) {
    alike = d == axis || a->dims[d] == b->dims[d];
  }
  return alike;
}

static bool is_sibling(const merging_t* m, const tenon__node_t* other) {
  const tenon__node_t* first = node_of(m, 0);
  if (other->op != first->op || other->input_count != first->input_count ||
      !tenon__node_same_attributes(first, other) || !may_be_sibling(m->rewriter, m->graph, other)) {
    return false;
  }
  for (uint32_t i = 1; i < first->input_count; ++i) {
    const tenon__weights_t* a = constant_of(m, 0, i);
    const tenon__weights_t* b = tenon__rewriter_constant(m->rewriter, m->graph, other->inputs[i]);
    uint32_t axis = 0;
    if ((a == NULL) != (b == NULL) ||
        (a != NULL &&
         (!wrap(first->op->traits.concatenable_axis, a->rank, &axis) || !are_alike(a, b, axis)))) {
      return false;
    }
  }
  return true;
}

/* In the order of their numbers. False where the node is not the first of several. */
static bool find_siblings(merging_t* m, uint32_t index) {
  const uint32_t value = tenon__rewriter_node(m->rewriter, m->graph, index)->inputs[0];
  m->nodes[0] = index;
  m->count = 1;
  for (uint32_t use = tenon__rewriter_first_use(m->rewriter, m->graph, value); use != TENON_NONE;
       use = tenon__rewriter_use(m->rewriter, use)->next) {
    const tenon__use_t* u = tenon__rewriter_use(m->rewriter, use);
    if (u->input != 0 || u->node == index ||
        !is_sibling(m, tenon__rewriter_node(m->rewriter, m->graph, u->node))) {
      continue;
    }
    if (u->node < index || m->count == MOST_SIBLINGS) {
      return false;
    }
    uint32_t at = m->count++;
    for (; m->nodes[at - 1] > u->node; --at) {
      m->nodes[at] = m->nodes[at - 1];
    }
    m->nodes[at] = u->node;
  }
  return m->count > 1;
}

/* ---- The one node ---- */

/* Slices of all, turn by turn. */
static void copy_slices(const merging_t* m, uint32_t input, uint32_t axis, char* to) {
  const tenon__weights_t* like = constant_of(m, 0, input);
  size_t element = tenon__dtype_bits(like->dtype) / 8;
  size_t outer = 1;
  for (uint32_t d = 0; d < like->rank; ++d) {
    outer *= d < axis ? (size_t)like->dims[d] : 1;
    element *= d > axis ? (size_t)like->dims[d] : 1;
  }
  for (size_t o = 0; o < outer; ++o) {
    for (uint32_t k = 0; k < m->count; ++k) {
      const tenon__weights_t* from = constant_of(m, k, input);
      const size_t bytes = (size_t)from->dims[axis] * element;
      memcpy(to, (const char*)from->data + o * bytes, bytes);
      to += bytes;
    }
  }
}

static tenon_status_t add_constant(const merging_t* m, uint32_t input, uint32_t* out_value) {
  tenon__weights_t weights = *constant_of(m, 0, input);
  uint32_t axis = 0;
  (void)wrap(node_of(m, 0)->op->traits.concatenable_axis, weights.rank, &axis);
  int64_t* dims = tenon__arena_allocate(&m->rewriter->scratch, weights.rank + 1u, sizeof *dims);
  TENON_TRY_MEMORY(dims != NULL);
  memcpy(dims, weights.dims, weights.rank * sizeof *dims);
  dims[axis] = 0;
  weights.size_bytes = 0;
  for (uint32_t k = 0; k < m->count; ++k) {
    dims[axis] += constant_of(m, k, input)->dims[axis];
    weights.size_bytes += constant_of(m, k, input)->size_bytes;
  }
  char* data = tenon__allocate(m->rewriter->network->allocator, weights.size_bytes, 1);
  TENON_TRY_MEMORY(data != NULL);
  copy_slices(m, input, axis, data);
  weights.derivation = tenon__arena_format(&m->rewriter->scratch, "'%s' and those of %u siblings",
                                           weights.name, m->count - 1);
  weights.data = data;
  weights.dims = dims;
  weights.owned = true;
  weights.digest_known = false;
  return tenon__patch_add_constant(m->rewriter, &weights, out_value);
}

static tenon_status_t add_node(const merging_t* m, uint32_t* out_node) {
  const uint32_t count = node_of(m, 0)->input_count;
  uint32_t* inputs = tenon__arena_allocate(&m->rewriter->scratch, count, sizeof *inputs);
  TENON_TRY_MEMORY(inputs != NULL);
  for (uint32_t i = 0; i < count; ++i) {
    inputs[i] = node_of(m, 0)->inputs[i];
    if (i > 0 && inputs[i] != TENON_NONE) {
      TENON_TRY(add_constant(m, i, &inputs[i]));
    }
  }
  return tenon__patch_add_again(m->rewriter, m->graph, m->nodes[0], inputs, count, out_node);
}

/* Is the one output as long along the axis as all of theirs, and otherwise as each? */
static bool is_as_declared(const merging_t* m, const tenon__type_t* whole, uint32_t axis) {
  tenon__dim_pool_t* pool = m->rewriter->network->pool;
  tenon_dim_t total = tenon__dim_constant(pool, 0);
  for (uint32_t k = 0; k < m->count; ++k) {
    const tenon__type_t* own = type_of(m, node_of(m, k)->outputs[0]);
    if (own->rank != whole->rank || own->dtype != whole->dtype || own->contents != NULL) {
      return false;
    }
    for (uint32_t d = 0; d < own->rank; ++d) {
      if (d != axis && !tenon__dim_equal(own->dims[d], whole->dims[d])) {
        return false;
      }
    }
    total = tenon__dim_add(pool, total, own->dims[axis]);
  }
  return tenon__dim_equal(total, whole->dims[axis]);
}

/* What sibling k made, as a view that begins at `begin`. */
static tenon_status_t add_view(const merging_t* m, uint32_t k, uint32_t whole, uint32_t axis,
                               tenon_dim_t begin, uint32_t* out_node) {
  tenon__dim_pool_t* pool = m->rewriter->network->pool;
  const tenon__type_t own = *type_of(m, node_of(m, k)->outputs[0]);
  const tenon__type_t from = *type_of(m, whole);
  tenon_dim_t coordinates[TENON_RANK_LIMIT];
  for (uint32_t d = 0; d < own.rank; ++d) {
    const tenon_dim_t at = tenon__dim_coordinate(pool, d, own.dims[d]);
    coordinates[d] = d == axis ? tenon__dim_add(pool, at, begin) : at;
  }
  const tenon__map_source_t source = {
      .rank = from.rank, .dims = from.dims, .coordinates = coordinates};
  tenon__index_map_t map = {
      .rank = own.rank, .dims = own.dims, .source_count = 1, .sources = &source};
  tenon__index_map_classify(pool, &map);
  const tenon__form_request_t request = {
      .inputs = &whole, .input_count = 1, .map = &map, .dtype = own.dtype};
  return tenon__patch_add_form(m->rewriter, &request, out_node);
}

/* All that is new; nothing is replaced yet. */
static tenon_status_t add_all(const merging_t* m, uint32_t* out_node,
                              uint32_t views[MOST_SIBLINGS]) {
  uint32_t axis = 0;
  TENON_TRY(add_node(m, out_node));
  const uint32_t whole = tenon__rewriter_node(m->rewriter, m->graph, *out_node)->outputs[0];
  const tenon__type_t* type = type_of(m, whole);
  if (!wrap(node_of(m, 0)->op->traits.concatenable_output_axis, type->rank, &axis) ||
      type->rank > TENON_RANK_LIMIT || !is_as_declared(m, type, axis)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon_dim_t begin = tenon__dim_constant(m->rewriter->network->pool, 0);
  for (uint32_t k = 0; k < m->count; ++k) {
    TENON_TRY(add_view(m, k, whole, axis, begin, &views[k]));
    begin = tenon__dim_add(m->rewriter->network->pool, begin,
                           type_of(m, node_of(m, k)->outputs[0])->dims[axis]);
  }
  return TENON_OK;
}

static void replace_all(const merging_t* m, uint32_t made, const uint32_t views[MOST_SIBLINGS]) {
  tenon__patch_swap_names(m->rewriter, made, m->nodes[0]);
  for (uint32_t k = 0; k < m->count; ++k) {
    tenon__patch_replace(m->rewriter, node_of(m, k)->outputs[0],
                         tenon__rewriter_node(m->rewriter, m->graph, views[k])->outputs[0]);
    tenon__patch_remove(m->rewriter, m->nodes[k]);
  }
}

tenon_status_t tenon__pass_merge_siblings(tenon__rewriter_t* rewriter, uint32_t graph,
                                          uint32_t index) {
  merging_t m = {.rewriter = rewriter, .graph = graph};
  uint32_t views[MOST_SIBLINGS];
  uint32_t made = 0;
  if (!rewriter->options->merges_siblings || rewriter->options->strict ||
      !may_be_sibling(rewriter, graph, tenon__rewriter_node(rewriter, graph, index)) ||
      !find_siblings(&m, index) || !tenon__patch_begin(rewriter, "merge siblings", graph, index)) {
    return TENON_OK;
  }
  const tenon_status_t status = add_all(&m, &made, views);
  if (status == TENON_OK) {
    replace_all(&m, made, views);
  }
  return tenon__patch_settle(rewriter, status);
}
