/*
 * Moves and expressions that change nothing vanish; a move of a move becomes one, which for a pair
 * of inverses is nothing. Only views are joined, and only where the first has no other reader: a
 * view costs nothing by itself.
 */
#include "core/base/status.h"
#include "core/network/verify_rules.h"
#include "core/optimizer/access.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

/* Do the rules of the operator leave a condition to the run? Then the node stays, since it says so.
 * A node whose extents are all known leaves none. */
static bool leaves_condition(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  const tenon__value_node_t* values = tenon__rewriter_graph(rewriter, graph)->values;
  int64_t extents[TENON_RANK_LIMIT];
  bool is_known = node->op == NULL;
  TENON_EACH_OUTPUT(k, node) {
    const tenon__type_t* type = &values[node->outputs[k]].type;
    is_known = is_known || (type->rank <= TENON_RANK_LIMIT &&
                            tenon__type_extents(rewriter->network->pool, type, extents));
  }
  return !is_known && tenon__node_requires(rewriter->network, graph, index);
}

/* What reads `value` reads `source`. What leaves the graph must be made in it, and leave it once:
 * else only the nodes that read it change. */
static tenon_status_t replace(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                              uint32_t value, uint32_t source) {
  const bool may_leave = !tenon__rewriter_leaves(rewriter, graph, value) ||
                         (tenon__rewriter_value(rewriter, graph, source)->producer != TENON_NONE &&
                          !tenon__rewriter_leaves(rewriter, graph, source));
  if (!tenon__patch_fits(rewriter, graph, value, source) ||
      (!may_leave && tenon__rewriter_first_use(rewriter, graph, value) == TENON_NONE) ||
      !tenon__patch_begin(rewriter, "cancel moves", graph, node)) {
    return TENON_OK;
  }
  if (may_leave) {
    tenon__patch_replace(rewriter, value, source);
  } else {
    tenon__patch_redirect(rewriter, value, source);
  }
  return tenon__patch_end(rewriter);
}

/* A move that is a view, and what it is a view of. */
typedef struct view_t {
  const tenon__index_map_t* map;
  uint32_t source;
} view_t;

/* The move that made a value, if it is a view. */
static bool view_behind(const tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value,
                        view_t* out_view) {
  const tenon__value_node_t* made = tenon__rewriter_value(rewriter, graph, value);
  if (made->producer == TENON_NONE) {
    return false;
  }
  const tenon__node_t* producer = tenon__rewriter_node(rewriter, graph, made->producer);
  if (producer->maps == NULL || leaves_condition(rewriter, graph, made->producer)) {
    return false;
  }
  const tenon__index_map_t* map = &producer->maps[made->producer_output];
  *out_view = (view_t){map, producer->inputs[map->sources[0].input]};
  return tenon__index_map_is_view(rewriter->network->pool, map);
}

/* One move instead of two. */
static tenon_status_t join(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t node,
                           uint32_t output, const view_t* inner) {
  const tenon__node_t* outer_node = tenon__rewriter_node(rewriter, graph, node);
  const uint32_t value = outer_node->outputs[output];
  const uint32_t between = outer_node->inputs[outer_node->maps[output].sources[0].input];
  tenon__dim_pool_t* pool = rewriter->network->pool;
  tenon__index_map_t map;
  const tenon_status_t status = tenon__index_map_compose(
      pool, &rewriter->scratch, &outer_node->maps[output], inner->map, &map);
  TENON_TRY_MEMORY(status != TENON_ERROR_OUT_OF_MEMORY);
  if (status != TENON_OK || map.source_count != 1) {
    return TENON_OK;
  }
  if (tenon__index_map_is_identity(pool, &map)) {
    return replace(rewriter, graph, node, value, inner->source);
  }
  if (tenon__rewriter_use_count(rewriter, graph, between) != 1 ||
      !tenon__index_map_is_view(pool, &map) ||
      !tenon__patch_begin(rewriter, "cancel moves", graph, node)) {
    return TENON_OK;
  }
  tenon__map_source_t from = map.sources[0];
  from.input = 0;
  map.sources = &from;
  uint32_t made = 0;
  const tenon__form_request_t request = {
      .inputs = &inner->source,
      .input_count = 1,
      .map = &map,
      .dtype = tenon__rewriter_value(rewriter, graph, value)->type.dtype};
  const tenon_status_t added = tenon__patch_add_form(rewriter, &request, &made);
  if (added == TENON_OK) {
    tenon__patch_replace(rewriter, value, tenon__rewriter_node(rewriter, graph, made)->outputs[0]);
    tenon__patch_swap_names(rewriter, made, node);
  }
  return tenon__patch_settle(rewriter, added);
}

static tenon_status_t cancel_move(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t index,
                                  uint32_t output) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  const tenon__index_map_t* map = &node->maps[output];
  tenon__dim_pool_t* pool = rewriter->network->pool;
  if (map->source_count != 1) {
    return TENON_OK;
  }
  const uint32_t from = node->inputs[map->sources[0].input];
  if (tenon__index_map_is_identity(pool, map)) {
    return replace(rewriter, graph, index, node->outputs[output], from);
  }
  view_t inner;
  if (!view_behind(rewriter, graph, from, &inner) || !tenon__index_map_is_view(pool, map)) {
    return TENON_OK;
  }
  return join(rewriter, graph, index, output, &inner);
}

tenon_status_t tenon__pass_cancel_moves(tenon__rewriter_t* rewriter, uint32_t graph,
                                        uint32_t index) {
  const tenon__node_t* node = tenon__rewriter_node(rewriter, graph, index);
  if (node->expression != NULL && node->output_count == 1 && node->outputs[0] != TENON_NONE &&
      tenon__rewriter_use_count(rewriter, graph, node->outputs[0]) > 0 &&
      tenon__expression_is_identity(rewriter->network->pool, node->expression)) {
    const uint32_t source = node->inputs[node->expression->program.operands[0].index];
    return replace(rewriter, graph, index, node->outputs[0], source);
  }
  const bool may = node->maps != NULL && !leaves_condition(rewriter, graph, index);
  const uint32_t output_count = may ? node->output_count : 0;
  for (uint32_t i = 0; i < output_count; ++i) {
    const uint32_t value = node->outputs[i];
    if (value != TENON_NONE && tenon__rewriter_use_count(rewriter, graph, value) > 0) {
      TENON_TRY(cancel_move(rewriter, graph, index, i));
      node = tenon__rewriter_node(rewriter, graph, index); /* the table may have moved */
    }
  }
  return TENON_OK;
}
