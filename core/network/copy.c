/*
 * A copy of a network. What never changes once it is made (names, dimensions, attributes, programs,
 * maps, the bytes of weights) is shared with the source, which outlives the copy; weights that are
 * not aligned, tables, and the lists of inputs, outputs and bodies that passes change, are copied.
 * The pool of dimensions is copied through its file form, which keeps ids.
 */
#include "core/network/copy.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/dense.h"

static bool copy_array(tenon_allocator_t allocator, const void* source, size_t count,
                       size_t item_size, void* out_array, size_t* out_capacity) {
  void* copy = NULL;
  *out_capacity = 0;
  if (count > 0 && !tenon__grow(allocator, &copy, out_capacity, count, item_size)) {
    return false;
  }
  memcpy(out_array, &copy, sizeof(copy));
  if (count > 0) {
    memcpy(copy, source, count * item_size);
  }
  return true;
}
/* The array of that name, of a source into what is made of it, with its capacity. */
#define COPY_ARRAY(source, target, array, count, capacity)                          \
  copy_array(allocator, (source)->array, (source)->count, sizeof(*(source)->array), \
             &(target)->array, &(target)->capacity)

static bool copy_map(const tenon__string_map_t* source, tenon__string_map_t* target) {
  for (size_t i = 0; i < tenon__string_map_count(source); ++i) {
    if (!tenon__string_map_set(target, tenon__string_map_key(source, i),
                               tenon__string_map_value(source, i))) {
      return false;
    }
  }
  return true;
}

static bool copy_nodes(tenon__network_t* network, tenon__graph_t* graph) {
  tenon__arena_t* arena = &network->arena;
  bool good = true;
  for (uint32_t i = 0; good && i < graph->node_count; ++i) {
    tenon__node_t* node = &graph->nodes[i];
    node->inputs = tenon__arena_copy(arena, node->inputs, node->input_count * sizeof(uint32_t));
    node->outputs = tenon__arena_copy(arena, node->outputs, node->output_count * sizeof(uint32_t));
    node->bodies = tenon__arena_copy(arena, node->bodies, node->body_count * sizeof(uint32_t));
    good = node->inputs != NULL && node->outputs != NULL && node->bodies != NULL;
  }
  return good;
}

static tenon_status_t copy_graph(tenon__network_t* network, const tenon__graph_t* source) {
  const tenon_allocator_t allocator = network->allocator;
  uint32_t index = 0;
  TENON_TRY(tenon__network_add_graph(network, source->name, source->parent, &index));
  tenon__graph_t* graph = network->graphs[index];
  graph->owner = source->owner;
  graph->fault = source->fault;
  graph->fault_status = source->fault_status;
  bool good = COPY_ARRAY(source, graph, values, value_count, value_capacity) &&
              COPY_ARRAY(source, graph, nodes, node_count, node_capacity) &&
              COPY_ARRAY(source, graph, inputs, input_count, input_capacity) &&
              COPY_ARRAY(source, graph, outputs, output_count, output_capacity) &&
              COPY_ARRAY(source, graph, output_names, output_count, output_name_capacity) &&
              copy_map(&source->value_names, &graph->value_names) &&
              copy_map(&source->node_names, &graph->node_names);
  if (good) {
    graph->value_count = source->value_count;
    graph->node_count = source->node_count;
    graph->input_count = source->input_count;
    graph->output_count = source->output_count;
    good = copy_nodes(network, graph);
  }
  return good ? TENON_OK : TENON_ERROR_OUT_OF_MEMORY;
}

static tenon_status_t copy_tables(const tenon__network_t* source, tenon__network_t* network) {
  const tenon_allocator_t allocator = network->allocator;
  TENON_TRY_MEMORY(COPY_ARRAY(source, network, weights, weights_count, weights_capacity) &&
                   COPY_ARRAY(source, network, states, state_count, state_capacity) &&
                   COPY_ARRAY(source, network, handles, handle_count, handle_capacity));
  network->weights_count = source->weights_count;
  network->state_count = source->state_count;
  network->handle_count = source->handle_count;
  network->next_number = source->next_number;
  for (uint32_t i = 0; i < network->weights_count; ++i) {
    network->weights[i].owned = false;
  }
  for (uint32_t i = 0; i < network->weights_count; ++i) {
    tenon__weights_t* weights = &network->weights[i];
    if (weights->data != NULL && !tenon__weights_are_aligned(weights->dtype, weights->data)) {
      TENON_TRY(tenon__weights_align(network, weights));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__network_copy(const tenon__network_t* source, tenon__network_t** out_network) {
  tenon__network_t* network = tenon__allocate(source->allocator, 1, sizeof(*network));
  TENON_TRY_MEMORY(network != NULL);
  network->allocator = source->allocator;
  tenon__arena_initialize(&network->arena, source->allocator);
  tenon_status_t status = tenon__dim_pool_copy(network->allocator, source->pool, &network->pool);
  for (uint32_t i = 0; status == TENON_OK && i < source->graph_count; ++i) {
    status = copy_graph(network, source->graphs[i]);
  }
  if (status == TENON_OK) {
    status = copy_tables(source, network);
  }
  if (status != TENON_OK) {
    tenon__network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}

/* ---- Expressions and maps ---- */

/* `copy` notes a failure instead of returning it. */
typedef struct copier_t {
  tenon__arena_t* arena;
  bool failed;
} copier_t;

static const void* copy(copier_t* copier, const void* data, size_t count, size_t size_bytes) {
  if (data == NULL || count == 0) {
    return NULL;
  }
  const void* copied = tenon__arena_copy(copier->arena, data, count * size_bytes);
  copier->failed = copier->failed || copied == NULL;
  return copied;
}

static const tenon__access_t* copy_accesses(copier_t* copier,
                                            const tenon__expression_t* expression) {
  const uint32_t count = expression->program.operand_count;
  tenon__access_t* accesses = tenon__arena_allocate(copier->arena, count + 1u, sizeof(*accesses));
  if (accesses == NULL) {
    copier->failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    accesses[i] = expression->accesses[i];
    if (accesses[i].rank != TENON_NONE) {
      accesses[i].coordinates =
          copy(copier, accesses[i].coordinates, accesses[i].rank, sizeof(tenon_dim_t));
    }
  }
  return accesses;
}

static const uint32_t* const* copy_output_axes(copier_t* copier,
                                               const tenon__expression_t* expression) {
  const uint32_t count = expression->program.output_count;
  const uint32_t** axes = tenon__arena_allocate(copier->arena, count + 1u, sizeof(*axes));
  if (axes == NULL) {
    copier->failed = true;
    return NULL;
  }
  for (uint32_t i = 0; i < count; ++i) {
    axes[i] =
        copy(copier, expression->output_axes[i], expression->output_ranks[i], sizeof(uint32_t));
  }
  return axes;
}

tenon_status_t tenon__expression_copy(tenon__arena_t* arena, const tenon__expression_t* expression,
                                      tenon__expression_t* out_expression) {
  copier_t copier = {arena, false};
  const tenon_program_t* program = &expression->program;
  tenon__expression_t result = *expression;
  result.program.instructions = copy(&copier, program->instructions, program->instruction_count,
                                     sizeof(*program->instructions));
  result.program.operands =
      copy(&copier, program->operands, program->operand_count, sizeof(*program->operands));
  result.program.outputs =
      copy(&copier, program->outputs, program->output_count, sizeof(*program->outputs));
  result.program.coordinates =
      copy(&copier, program->coordinates, program->coordinate_count, sizeof(uint32_t));
  result.space = copy(&copier, expression->space, program->rank, sizeof(tenon_dim_t));
  result.output_ranks =
      copy(&copier, expression->output_ranks, program->output_count, sizeof(uint32_t));
  result.accesses = copy_accesses(&copier, expression);
  result.output_axes = copy_output_axes(&copier, expression);
  TENON_TRY_MEMORY(!copier.failed);
  *out_expression = result;
  return TENON_OK;
}

tenon_status_t tenon__index_map_copy(tenon__arena_t* arena, const tenon__index_map_t* map,
                                     tenon__index_map_t* out_map) {
  copier_t copier = {arena, false};
  tenon__index_map_t result = *map;
  result.dims = copy(&copier, map->dims, map->rank, sizeof(tenon_dim_t));
  tenon__map_source_t* sources =
      tenon__arena_allocate(arena, map->source_count + 1u, sizeof(*sources));
  TENON_TRY_MEMORY(sources != NULL);
  for (uint32_t i = 0; i < map->source_count; ++i) {
    sources[i] = map->sources[i];
    sources[i].dims = copy(&copier, map->sources[i].dims, sources[i].rank, sizeof(tenon_dim_t));
    sources[i].coordinates =
        copy(&copier, map->sources[i].coordinates, sources[i].rank, sizeof(tenon_dim_t));
  }
  result.sources = sources;
  TENON_TRY_MEMORY(!copier.failed && sources != NULL);
  *out_map = result;
  return TENON_OK;
}
