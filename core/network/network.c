/*
 * Tables of a network: making and growing them. What nodes mean is inferred in infer.c; how they
 * are ordered is in order.c. Names are made unique with a suffix; the map from a name holds the
 * next suffix to try, 0 if the name is free again.
 */
#include "core/network/network.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/tensor/layout.h"

tenon_status_t tenon__network_create(tenon_allocator_t allocator, tenon__network_t** out_network) {
  tenon__network_t* network = tenon__allocate(allocator, 1, sizeof(*network));
  TENON_TRY_MEMORY(network != NULL);
  network->allocator = allocator;
  tenon__arena_initialize(&network->arena, allocator);
  tenon_status_t status = tenon__dim_pool_create(allocator, &network->pool);
  if (status == TENON_OK) {
    uint32_t graph = 0;
    status = tenon__network_add_graph(network, "main", TENON_NONE, &graph);
  }
  if (status != TENON_OK) {
    tenon__network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}

static void graph_deinitialize(tenon_allocator_t allocator, tenon__graph_t* graph) {
  tenon__string_map_deinitialize(&graph->value_names);
  tenon__string_map_deinitialize(&graph->node_names);
  tenon__free(allocator, graph->values, graph->value_capacity * sizeof(*graph->values));
  tenon__free(allocator, graph->nodes, graph->node_capacity * sizeof(*graph->nodes));
  tenon__free(allocator, graph->inputs, graph->input_capacity * sizeof(*graph->inputs));
  tenon__free(allocator, graph->outputs, graph->output_capacity * sizeof(*graph->outputs));
  tenon__free(allocator, graph->output_names,
              graph->output_name_capacity * sizeof(*graph->output_names));
}

void tenon__network_destroy(tenon__network_t* network) {
  if (network == NULL) {
    return;
  }
  const tenon_allocator_t allocator = network->allocator;
  for (uint32_t i = 0; i < network->graph_count; ++i) {
    graph_deinitialize(allocator, network->graphs[i]);
  }
  for (uint32_t i = 0; i < network->weights_count; ++i) {
    if (network->weights[i].owned) {
      tenon__free(allocator, tenon__drop_const(network->weights[i].data),
                  network->weights[i].size_bytes);
    }
  }
  tenon__free(allocator, network->graphs, network->graph_capacity * sizeof(void*));
  tenon__free(allocator, network->weights, network->weights_capacity * sizeof(*network->weights));
  tenon__free(allocator, network->states, network->state_capacity * sizeof(*network->states));
  tenon__free(allocator, network->handles, network->handle_capacity * sizeof(*network->handles));
  tenon__dim_pool_destroy(network->pool);
  tenon__arena_deinitialize(&network->arena);
  tenon__free(allocator, network, sizeof(*network));
}

tenon_status_t tenon__network_add_graph(tenon__network_t* network, const char* name,
                                        uint32_t parent, uint32_t* out_graph) {
  tenon__graph_t* graph = tenon__arena_allocate(&network->arena, 1, sizeof(*graph));
  const char* copy = tenon__arena_copy_string(&network->arena, name == NULL ? "body" : name);
  TENON_TRY_MEMORY(graph != NULL && copy != NULL &&
                   TENON_GROW(network->allocator, network->graphs, network->graph_capacity,
                              network->graph_count + 1u));
  graph->name = copy;
  graph->parent = parent;
  graph->owner = TENON_NONE;
  tenon__string_map_initialize(&graph->value_names, network->allocator);
  tenon__string_map_initialize(&graph->node_names, network->allocator);
  network->graphs[network->graph_count] = graph;
  *out_graph = network->graph_count++;
  return TENON_OK;
}

/* NULL: the name is free. */
static const tenon__map_value_t* find_taken(const tenon__string_map_t* names, const char* name) {
  const tenon__map_value_t* taken = tenon__string_map_find(names, name);
  return taken == NULL || taken->number == 0 ? NULL : taken;
}

void tenon__name_release(tenon__string_map_t* names, const char* name) {
  /* The key is there, so nothing is allocated. */
  (void)tenon__string_map_set(names, name, (tenon__map_value_t){.number = 0});
}

const char* tenon__name_unique(tenon__network_t* network, tenon__string_map_t* names,
                               const char* name) {
  const tenon__map_value_t* taken = find_taken(names, name);
  const char* result = tenon__arena_copy_string(&network->arena, name);
  uint64_t suffix = taken == NULL ? 2 : taken->number;
  while (taken != NULL && result != NULL) {
    result = tenon__arena_format(&network->arena, "%s_%llu", name, (unsigned long long)suffix++);
    taken = result == NULL ? NULL : find_taken(names, result);
  }
  if (result == NULL ||
      !tenon__string_map_set(names, name, (tenon__map_value_t){.number = suffix}) ||
      (strcmp(result, name) != 0 &&
       !tenon__string_map_set(names, result, (tenon__map_value_t){.number = 2}))) {
    return NULL;
  }
  return result;
}

tenon_status_t tenon__graph_add_value(tenon__network_t* network, uint32_t graph_index,
                                      const char* name, uint32_t* out_value) {
  tenon__graph_t* graph = network->graphs[graph_index];
  char made[32];
  if (name == NULL || name[0] == '\0') {
    (void)snprintf(made, sizeof(made), "value_%u", graph->value_count);
    name = made;
  }
  TENON_TRY_MEMORY(TENON_GROW(network->allocator, graph->values, graph->value_capacity,
                              graph->value_count + 1u));
  const char* unique = tenon__name_unique(network, &graph->value_names, name);
  TENON_TRY_MEMORY(unique != NULL);
  graph->values[graph->value_count] = (tenon__value_node_t){
      .name = unique,
      .alive = true,
      .type.kind = TENON_ARGUMENT_TENSOR,
      .producer = TENON_NONE,
      .weights = TENON_NONE,
      .state = TENON_NONE,
      .handle = TENON_NONE,
  };
  *out_value = graph->value_count++;
  return TENON_OK;
}

static tenon_status_t append_index(tenon_allocator_t allocator, uint32_t** inout_list,
                                   size_t* inout_capacity, uint32_t* inout_count, uint32_t index) {
  TENON_TRY_MEMORY(TENON_GROW(allocator, *inout_list, *inout_capacity, *inout_count + 1u));
  (*inout_list)[(*inout_count)++] = index;
  return TENON_OK;
}

tenon_status_t tenon__graph_add_input(tenon__network_t* network, uint32_t graph_index,
                                      uint32_t value) {
  tenon__graph_t* graph = network->graphs[graph_index];
  TENON_TRY(append_index(network->allocator, &graph->inputs, &graph->input_capacity,
                         &graph->input_count, value));
  graph->values[value].flags |= TENON_VALUE_IS_INPUT;
  return TENON_OK;
}

const tenon__value_node_t* tenon__graph_input(const tenon__graph_t* graph, const char* name) {
  for (uint32_t i = 0; i < graph->input_count; ++i) {
    if (strcmp(graph->values[graph->inputs[i]].name, name) == 0) {
      return &graph->values[graph->inputs[i]];
    }
  }
  return NULL;
}

tenon_status_t tenon__graph_add_output(tenon__network_t* network, uint32_t graph_index,
                                       uint32_t value, const char* name) {
  tenon__graph_t* graph = network->graphs[graph_index];
  const char* copy =
      name == NULL ? graph->values[value].name : tenon__arena_copy_string(&network->arena, name);
  TENON_TRY_MEMORY(copy != NULL &&
                   TENON_GROW(network->allocator, graph->output_names, graph->output_name_capacity,
                              graph->output_count + 1u));
  graph->output_names[graph->output_count] = copy;
  TENON_TRY(append_index(network->allocator, &graph->outputs, &graph->output_capacity,
                         &graph->output_count, value));
  graph->values[value].flags |= TENON_VALUE_IS_OUTPUT;
  return TENON_OK;
}

tenon_status_t tenon__network_add_weights(tenon__network_t* network,
                                          const tenon__weights_t* weights, uint32_t* out_weights) {
  tenon__weights_t copy = *weights;
  copy.name = tenon__arena_copy_string(&network->arena, weights->name ? weights->name : "");
  copy.dims =
      tenon__arena_copy(&network->arena, weights->dims, weights->rank * sizeof(*weights->dims));
  copy.derivation = weights->derivation == NULL
                        ? NULL
                        : tenon__arena_copy_string(&network->arena, weights->derivation);
  const bool copied = copy.name != NULL && (copy.dims != NULL || weights->rank == 0) &&
                      (copy.derivation != NULL || weights->derivation == NULL);
  if (!copied || !TENON_GROW(network->allocator, network->weights, network->weights_capacity,
                             network->weights_count + 1u)) {
    if (weights->owned) {
      tenon__free(network->allocator, tenon__drop_const(weights->data), weights->size_bytes);
    }
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  network->weights[network->weights_count] = copy;
  *out_weights = network->weights_count++;
  return TENON_OK;
}

/* Is every element a number that contents hold: whole, and not beyond a signed 64-bit integer? */
static bool holds_contents(const tenon__weights_t* weights, uint64_t count) {
  const double exact_limit = 9007199254740992.0; /* 2^53 */
  const char type_class = tenon__dtype_class(weights->dtype);
  for (uint64_t i = 0; i < count; ++i) {
    const tenon__scalar_t scalar = tenon__element_load(weights->data, weights->dtype, i);
    if (type_class == 'f' && (!(scalar.f >= -exact_limit && scalar.f <= exact_limit) ||
                              (double)(int64_t)scalar.f != scalar.f)) {
      return false;
    }
    if (type_class == 'u' && scalar.i < 0) {
      return false;
    }
  }
  return true;
}

/* Integers, bools, and floats that are integers: their elements are contents. */
static tenon_status_t constant_contents(tenon__network_t* network, const tenon__weights_t* weights,
                                        tenon__type_t* inout_type) {
  uint64_t count = 0;
  const char type_class = tenon__dtype_class(weights->dtype);
  if (strchr("iubf", type_class) == NULL || weights->data == NULL ||
      !tenon__element_count(weights->rank, weights->dims, &count) || count > TENON_CONTENT_LIMIT ||
      !holds_contents(weights, count)) {
    return TENON_OK;
  }
  tenon_dim_t* contents = tenon__arena_allocate(&network->arena, count + 1, sizeof(*contents));
  TENON_TRY_MEMORY(contents != NULL);
  for (uint64_t i = 0; i < count; ++i) {
    const tenon__scalar_t scalar = tenon__element_load(weights->data, weights->dtype, i);
    contents[i] =
        tenon__dim_constant(network->pool, type_class == 'f' ? (int64_t)scalar.f : scalar.i);
  }
  inout_type->contents = contents;
  inout_type->content_count = (uint32_t)count;
  return TENON_OK;
}

tenon_status_t tenon__graph_add_constant(tenon__network_t* network, uint32_t graph,
                                         const char* name, uint32_t weights_index,
                                         uint32_t* out_value) {
  const tenon__weights_t* weights = &network->weights[weights_index];
  tenon_dim_t* dims = tenon__arena_allocate(&network->arena, weights->rank + 1u, sizeof(*dims));
  TENON_TRY_MEMORY(dims != NULL);
  for (uint32_t i = 0; i < weights->rank; ++i) {
    dims[i] = tenon__dim_constant(network->pool, weights->dims[i]);
  }
  tenon__type_t type = tenon__type_tensor(weights->dtype, weights->rank, dims);
  TENON_TRY(constant_contents(network, weights, &type));
  TENON_TRY_MEMORY(!tenon__dim_pool_failed(network->pool));
  uint32_t index = 0;
  TENON_TRY(tenon__graph_add_value(network, graph, name == NULL ? weights->name : name, &index));
  tenon__value_node_t* value = &network->graphs[graph]->values[index];
  value->type = type;
  value->weights = weights_index;
  *out_value = index;
  return TENON_OK;
}

static void digest_strings(tenon__digest_state_t* state, const tenon__weights_t* weights) {
  const tenon_string_view_t* strings = weights->data;
  for (size_t i = 0; i < weights->size_bytes / sizeof(*strings); ++i) {
    const uint64_t size = strings[i].size;
    tenon__digest_add(state, &size, sizeof(size));
    tenon__digest_add(state, strings[i].data, strings[i].size);
  }
}

const tenon__digest_t* tenon__weights_digest(tenon__network_t* network, uint32_t index) {
  tenon__weights_t* weights = &network->weights[index];
  if (!weights->digest_known) {
    bool is_whole = true;
    tenon__digest_state_t state;
    tenon__digest_begin(&state);
    tenon__digest_add(&state, &weights->dtype, sizeof(weights->dtype));
    tenon__digest_add(&state, &weights->rank, sizeof(weights->rank));
    tenon__digest_add(&state, weights->dims, weights->rank * sizeof(*weights->dims));
    if (weights->dtype == TENON_DTYPE_STRING) {
      digest_strings(&state, weights);
    } else {
      is_whole =
          tenon__digest_add_until(&state, weights->data, weights->size_bytes, network->interrupt);
    }
    weights->digest = tenon__digest_end(&state);
    weights->digest_known = is_whole; /* else the build ends before it matters */
  }
  return &weights->digest;
}

bool tenon__value_is_update(const tenon__network_t* network, uint32_t graph, uint32_t value) {
  const uint32_t count = graph == 0 ? network->state_count : 0;
  bool is_update = false;
  for (uint32_t k = 0; k < count && !is_update; ++k) {
    is_update = network->states[k].update == value;
  }
  return is_update;
}

tenon_status_t tenon__network_add_state(tenon__network_t* network, const tenon__state_node_t* state,
                                        const tenon_sink_t* sink, uint32_t* out_state) {
  for (uint32_t i = 0; i < network->state_count; ++i) {
    if (strcmp(network->states[i].name, state->name) == 0) {
      return tenon__fail(sink, TENON_ERROR_INVALID_ARGUMENT, "state '%s' is declared twice",
                         state->name);
    }
  }
  tenon__state_node_t copy = *state;
  copy.name = tenon__arena_copy_string(&network->arena, state->name);
  copy.dims = tenon__arena_copy(&network->arena, state->dims, state->rank * sizeof(*state->dims));
  TENON_TRY_MEMORY(copy.name != NULL && (copy.dims != NULL || state->rank == 0) &&
                   TENON_GROW(network->allocator, network->states, network->state_capacity,
                              network->state_count + 1u));
  network->states[network->state_count] = copy;
  network->graphs[0]->values[state->read].state = network->state_count;
  *out_state = network->state_count++;
  return TENON_OK;
}

bool tenon__graph_alive(const tenon__network_t* network, uint32_t graph) {
  while (graph != 0) {
    const tenon__graph_t* body = network->graphs[graph];
    if (body->parent == TENON_NONE || body->owner == TENON_NONE ||
        !network->graphs[body->parent]->nodes[body->owner].alive) {
      return false;
    }
    graph = body->parent;
  }
  return true;
}

tenon_status_t tenon__value_handle_reserve(tenon__network_t* network, uint32_t graph,
                                           uint32_t value, uint32_t axis, uint32_t* out_handle) {
  TENON_TRY_MEMORY(TENON_GROW(network->allocator, network->handles, network->handle_capacity,
                              network->handle_count + 1u));
  network->handles[network->handle_count] = (tenon__value_handle_t){graph, value, axis};
  *out_handle = network->handle_count++;
  return TENON_OK;
}

tenon_status_t tenon__value_handle(tenon__network_t* network, uint32_t graph, uint32_t value,
                                   uint32_t* out_handle) {
  uint32_t* handle = &network->graphs[graph]->values[value].handle;
  if (*handle == TENON_NONE) {
    TENON_TRY(tenon__value_handle_reserve(network, graph, value, TENON_NONE, handle));
  }
  *out_handle = *handle;
  return TENON_OK;
}

tenon_dim_t tenon__handle_extent(tenon__network_t* network, uint32_t handle, uint32_t axis,
                                 tenon_dim_t bound) {
  int64_t min = 0;
  tenon__symbol_t symbol = {.kind = TENON_SYMBOL_EXTENT, .a = handle, .b = axis, .bound = bound};
  tenon__dim_range(network->pool, bound, &min, &symbol.max);
  return tenon__dim_symbol(network->pool, &symbol);
}

tenon_status_t tenon__value_extent(tenon__network_t* network, uint32_t graph, uint32_t value,
                                   uint32_t axis, tenon_dim_t* out_dim) {
  uint32_t handle = 0;
  TENON_TRY(tenon__value_handle(network, graph, value, &handle));
  *out_dim = tenon__handle_extent(network, handle, axis, TENON_DIM_INVALID);
  return TENON_OK;
}

bool tenon__symbol_source(const tenon__network_t* network, const tenon__symbol_t* symbol,
                          uint32_t* out_graph, uint32_t* out_value, uint32_t* out_index) {
  const bool refers = symbol->kind == TENON_SYMBOL_CONTENT || symbol->kind == TENON_SYMBOL_EXTENT;
  if (!refers || symbol->a >= network->handle_count ||
      network->handles[symbol->a].value == TENON_NONE) {
    return false;
  }
  const tenon__value_handle_t* handle = &network->handles[symbol->a];
  *out_graph = handle->graph;
  *out_value = handle->value;
  *out_index =
      symbol->kind == TENON_SYMBOL_EXTENT && handle->axis != TENON_NONE ? handle->axis : symbol->b;
  return true;
}

/* The range of an integer type, as far as a symbol's range can hold it. */
static void integer_range(tenon_dtype_t dtype, int64_t* out_min, int64_t* out_max) {
  const uint32_t bits = tenon__dtype_bits(dtype);
  *out_min = INT64_MIN;
  *out_max = INT64_MAX;
  if (tenon__dtype_class(dtype) == 'b') {
    *out_min = 0;
    *out_max = 1;
  } else if (tenon__dtype_class(dtype) == 'u') {
    *out_min = 0;
    *out_max = bits < 64 ? (INT64_C(1) << bits) - 1 : INT64_MAX;
  } else if (bits < 64) {
    *out_min = -(INT64_C(1) << (bits - 1));
    *out_max = (INT64_C(1) << (bits - 1)) - 1;
  }
}

tenon_status_t tenon__value_make_contents(tenon__network_t* network, uint32_t graph,
                                          uint32_t index) {
  tenon__type_t* type = &network->graphs[graph]->values[index].type;
  const char type_class = tenon__dtype_class(type->dtype);
  int64_t count = 1;
  if (type->contents != NULL || type->kind != TENON_ARGUMENT_TENSOR || type->rank > 1 ||
      (type_class != 'i' && type_class != 'u' && type_class != 'b') ||
      (type->rank == 1 && !tenon__dim_known(network->pool, type->dims[0], &count)) ||
      count > TENON_CONTENT_LIMIT) {
    return TENON_OK;
  }
  uint32_t handle = 0;
  TENON_TRY(tenon__value_handle(network, graph, index, &handle));
  tenon_dim_t* contents =
      tenon__arena_allocate(&network->arena, (size_t)count + 1, sizeof(*contents));
  TENON_TRY_MEMORY(contents != NULL);
  tenon__symbol_t symbol = {.kind = TENON_SYMBOL_CONTENT, .a = handle, .bound = TENON_DIM_INVALID};
  integer_range(type->dtype, &symbol.min, &symbol.max);
  for (int64_t i = 0; i < count; ++i) {
    symbol.b = (uint32_t)i;
    contents[i] = tenon__dim_symbol(network->pool, &symbol);
  }
  TENON_TRY_MEMORY(!tenon__dim_pool_failed(network->pool));
  type->contents = contents;
  type->content_count = (uint32_t)count;
  return TENON_OK;
}

bool tenon__graph_can_run(const tenon__network_t* network, uint32_t graph) {
  bool can_run = tenon__graph_alive(network, graph);
  for (uint32_t at = graph; can_run && at != TENON_NONE; at = network->graphs[at]->parent) {
    can_run = network->graphs[at]->fault == NULL;
  }
  return can_run;
}
