/*
 * Mark and sweep. A live value keeps its producer, a live node its inputs, outputs and the results
 * of its bodies; and each keeps the values from which symbols in its shapes, contents and meaning
 * are read. One pass over everything, with a stack.
 */
#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/order.h"
#include "core/optimizer/passes.h"
#include "core/optimizer/patch.h"

typedef struct sweep_t {
  tenon__rewriter_t* rewriter;
  tenon__arena_t arena;
  uint8_t** live_values; /* for each graph */
  uint8_t** live_nodes;
  uint8_t* live_dims;
  uint32_t dim_count;
  uint64_t* stack; /* values: graph << 32 | value; dimensions: TENON_NONE << 32 | id */
  size_t stack_count;
  size_t stack_capacity;
  bool failed;
} sweep_t;

/* Once: `inout_live` says whether it was seen. */
static void mark(sweep_t* sweep, uint32_t graph, uint32_t id, uint8_t* inout_live) {
  if (*inout_live != 0) {
    return;
  }
  *inout_live = 1;
  if (!TENON_GROW(sweep->arena.allocator, sweep->stack, sweep->stack_capacity,
                  sweep->stack_count + 1)) {
    sweep->failed = true;
    return;
  }
  sweep->stack[sweep->stack_count++] = ((uint64_t)graph << 32) | id;
}

static void mark_value(sweep_t* sweep, uint32_t graph, uint32_t value) {
  if (value != TENON_NONE) {
    mark(sweep, graph, value, &sweep->live_values[graph][value]);
  }
}

static void mark_dim(sweep_t* sweep, tenon_dim_t dim) {
  if (dim.id < sweep->dim_count) {
    mark(sweep, TENON_NONE, dim.id, &sweep->live_dims[dim.id]);
  }
}

static void mark_dims(sweep_t* sweep, uint32_t count, const tenon_dim_t* dims) {
  if (dims == NULL || count == TENON_NONE) {
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    mark_dim(sweep, dims[i]);
  }
}

/* Its operands, and what its symbol is read from. */
static void follow_dim(sweep_t* sweep, tenon_dim_t dim) {
  const tenon__network_t* network = sweep->rewriter->network;
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  mark_dims(sweep, view.operand_count, view.operands);
  if (view.kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, view.index);
    uint32_t graph = 0;
    uint32_t value = 0;
    uint32_t index = 0;
    mark_dim(sweep, symbol->bound);
    if (tenon__symbol_source(network, symbol, &graph, &value, &index)) {
      mark_value(sweep, graph, value);
    }
  }
}

static void mark_semantics(sweep_t* sweep, const tenon__node_t* node) {
  const tenon__expression_t* expression = node->expression;
  if (expression != NULL) {
    mark_dims(sweep, expression->program.rank, expression->space);
    for (uint32_t k = 0; k < expression->program.operand_count; ++k) {
      mark_dims(sweep, expression->accesses[k].rank, expression->accesses[k].coordinates);
    }
  }
  for (uint32_t o = 0; node->maps != NULL && o < node->output_count; ++o) {
    const tenon__index_map_t* map = &node->maps[o];
    mark_dims(sweep, map->rank, map->dims);
    for (uint32_t s = 0; s < map->source_count; ++s) {
      mark_dims(sweep, map->sources[s].rank, map->sources[s].dims);
      mark_dims(sweep, map->sources[s].rank, map->sources[s].coordinates);
    }
  }
}

static void mark_border(sweep_t* sweep, uint32_t index) {
  const tenon__graph_t* graph = tenon__rewriter_graph(sweep->rewriter, index);
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    mark_value(sweep, index, graph->inputs[i]);
  }
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    mark_value(sweep, index, graph->outputs[i]);
  }
}

static void mark_node(sweep_t* sweep, uint32_t graph, uint32_t index) {
  if (sweep->live_nodes[graph][index] != 0) {
    return;
  }
  sweep->live_nodes[graph][index] = 1;
  const tenon__node_t* node = tenon__rewriter_node(sweep->rewriter, graph, index);
  for (uint32_t i = 0; i < node->input_count; ++i) {
    mark_value(sweep, graph, node->inputs[i]);
  }
  for (uint32_t i = 0; i < node->output_count; ++i) {
    mark_value(sweep, graph, node->outputs[i]);
  }
  mark_semantics(sweep, node);
  for (uint32_t b = 0; b < node->body_count; ++b) {
    mark_border(sweep, node->bodies[b]);
  }
}

static void follow_value(sweep_t* sweep, uint32_t graph, uint32_t index) {
  const tenon__value_node_t* value = tenon__rewriter_value(sweep->rewriter, graph, index);
  mark_dims(sweep, value->type.rank, value->type.dims);
  mark_dims(sweep, value->type.content_count, value->type.contents);
  if (value->producer != TENON_NONE) {
    mark_node(sweep, graph, value->producer);
  }
}

static void mark_all(sweep_t* sweep) {
  const tenon__network_t* network = sweep->rewriter->network;
  mark_border(sweep, 0);
  for (uint32_t i = 0; i < network->state_count; ++i) {
    mark_value(sweep, 0, network->states[i].read);
    mark_value(sweep, 0, network->states[i].update);
  }
  while (sweep->stack_count > 0 && !sweep->failed) {
    const uint64_t item = sweep->stack[--sweep->stack_count];
    const uint32_t graph = (uint32_t)(item >> 32);
    if (graph == TENON_NONE) {
      follow_dim(sweep, (tenon_dim_t){(uint32_t)item});
    } else {
      follow_value(sweep, graph, (uint32_t)item);
    }
  }
}

static bool has_dead(const sweep_t* sweep, uint32_t graph) {
  const tenon__graph_t* tables = tenon__rewriter_graph(sweep->rewriter, graph);
  for (uint32_t i = 0; i < tables->node_count; ++i) {
    if (tables->nodes[i].alive && sweep->live_nodes[graph][i] == 0) {
      return true;
    }
  }
  return false;
}

/* Consumers before producers. Constants that nobody reads go without a patch: no node sees them. */
static tenon_status_t sweep_graph(sweep_t* sweep, uint32_t graph, bool* inout_changed) {
  tenon__rewriter_t* rewriter = sweep->rewriter;
  if (has_dead(sweep, graph)) {
    const uint32_t* order = NULL;
    uint32_t count = 0;
    TENON_TRY(tenon__graph_order(rewriter->network, graph, &sweep->arena, rewriter->sink, &order,
                                 &count));
    if (!tenon__patch_begin(rewriter, "remove unused", graph, TENON_NONE)) {
      return TENON_OK;
    }
    for (uint32_t i = count; i > 0; --i) {
      if (sweep->live_nodes[graph][order[i - 1]] == 0) {
        rewriter->patch_node = tenon__rewriter_node(rewriter, graph, order[i - 1])->name;
        tenon__patch_remove(rewriter, order[i - 1]);
      }
    }
    *inout_changed = true;
    TENON_TRY(tenon__patch_end(rewriter));
  }
  tenon__graph_t* tables = tenon__rewriter_graph(rewriter, graph);
  for (uint32_t i = 0; i < tables->value_count; ++i) {
    if (tables->values[i].alive && sweep->live_values[graph][i] == 0 &&
        tenon__rewriter_use_count(rewriter, graph, i) == 0 &&
        tables->values[i].producer == TENON_NONE) {
      tables->values[i].alive = false;
    }
  }
  return TENON_OK;
}

static tenon_status_t prepare(sweep_t* sweep) {
  const tenon__network_t* network = sweep->rewriter->network;
  sweep->live_values = tenon__arena_allocate(&sweep->arena, network->graph_count, sizeof(uint8_t*));
  sweep->live_nodes = tenon__arena_allocate(&sweep->arena, network->graph_count, sizeof(uint8_t*));
  sweep->dim_count = tenon__dim_pool_count(network->pool);
  sweep->live_dims = tenon__arena_allocate(&sweep->arena, sweep->dim_count + 1u, 1);
  bool good = sweep->live_values != NULL && sweep->live_nodes != NULL && sweep->live_dims != NULL;
  for (uint32_t g = 0; good && g < network->graph_count; ++g) {
    const tenon__graph_t* graph = network->graphs[g];
    sweep->live_values[g] = tenon__arena_allocate(&sweep->arena, graph->value_count + 1u, 1);
    sweep->live_nodes[g] = tenon__arena_allocate(&sweep->arena, graph->node_count + 1u, 1);
    good = sweep->live_values[g] != NULL && sweep->live_nodes[g] != NULL;
  }
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

/* A number that led to what is gone leads nowhere. */
static void forget_numbers(const sweep_t* sweep) {
  tenon__network_t* network = sweep->rewriter->network;
  for (uint32_t i = 0; i < network->handle_count; ++i) {
    tenon__value_handle_t* handle = &network->handles[i];
    if (handle->value != TENON_NONE &&
        !network->graphs[handle->graph]->values[handle->value].alive) {
      handle->value = TENON_NONE;
    }
  }
}

tenon_status_t tenon__sweep(tenon__rewriter_t* rewriter, bool* out_changed) {
  sweep_t sweep = {.rewriter = rewriter};
  tenon__arena_initialize(&sweep.arena, rewriter->network->allocator);
  *out_changed = false;
  tenon_status_t status = prepare(&sweep);
  if (status == TENON_OK) {
    mark_all(&sweep);
    status = sweep.failed ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
  }
  for (uint32_t g = 0; status == TENON_OK && g < rewriter->network->graph_count; ++g) {
    if (tenon__graph_alive(rewriter->network, g)) {
      status = sweep_graph(&sweep, g, out_changed);
    }
  }
  if (status == TENON_OK) {
    forget_numbers(&sweep);
  }
  tenon__free(rewriter->network->allocator, sweep.stack,
              sweep.stack_capacity * sizeof(*sweep.stack));
  tenon__arena_deinitialize(&sweep.arena);
  return status;
}
