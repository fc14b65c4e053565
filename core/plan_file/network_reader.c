/*
 * A network from bytes that nobody vouches for. Counts are bounded by what is left to read, ids by
 * the tables that they index; what the tables say about one another is then checked as a whole, so
 * that what follows may trust it. Weights come out without their bytes: the caller sets `data`,
 * whose size is known here.
 */
#include "core/plan_file/network_reader.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/verify_rules.h"
#include "core/plan_file/dimension_file.h"
#include "core/plan_file/network_file.h"
#include "core/plan_file/operator_file.h"
#include "core/plan_file/program_file.h"
#include "core/tensor/layout.h"

typedef struct loading_t {
  tenon__file_reading_t parts;
  tenon__network_t* network;
  tenon__byte_reader_t* reader;
  const tenon_sink_t* sink;
  uint32_t operator_count;
  const tenon__operator_t** operators;
} loading_t;

/* Notes whether memory ran out, which is nobody's fault in the file. */
static bool check_memory(loading_t* loading, bool good) {
  loading->parts.out_of_memory = loading->parts.out_of_memory || !good;
  return good;
}

static void* allocate(loading_t* loading, size_t count, size_t size_bytes) {
  void* memory = tenon__arena_allocate(&loading->network->arena, count + 1, size_bytes);
  loading->reader->failed = loading->reader->failed || memory == NULL;
  check_memory(loading, memory != NULL);
  return memory;
}

/* An identity stands for one contract, and is listed once: nodes are written with the identity of
 * their operator alone. */
static bool read_operator(loading_t* loading, tenon__find_operator_t find, void* find_user,
                          tenon__string_map_t* names, const tenon__operator_t** out_operator) {
  return tenon__operator_read(&loading->parts, find, find_user, out_operator) &&
         tenon__string_map_find(names, (*out_operator)->name) == NULL &&
         check_memory(loading, tenon__string_map_set(names, (*out_operator)->name,
                                                     (tenon__map_value_t){.number = 1}));
}

static bool read_operators(loading_t* loading, tenon__find_operator_t find, void* find_user) {
  const uint32_t count = tenon__read_count(loading->reader, 45);
  tenon__string_map_t names;
  tenon__string_map_initialize(&names, loading->network->allocator);
  loading->operators = allocate(loading, count, sizeof(void*));
  while (!loading->reader->failed && loading->operator_count < count &&
         read_operator(loading, find, find_user, &names,
                       &loading->operators[loading->operator_count])) {
    ++loading->operator_count;
  }
  tenon__string_map_deinitialize(&names);
  return !loading->reader->failed && loading->operator_count == count;
}

/* Extents of weights and states. */
static const int64_t* read_extents(loading_t* loading, tenon_dtype_t dtype, uint32_t rank,
                                   size_t* out_size) {
  if (rank > TENON_RANK_LIMIT || tenon__dtype_bits(dtype) == 0) {
    return NULL;
  }
  int64_t* dims = allocate(loading, rank, sizeof(*dims));
  if (dims == NULL) {
    return NULL;
  }
  for (uint32_t d = 0; d < rank; ++d) {
    dims[d] = tenon__read_i64(loading->reader);
  }
  uint64_t count = 0;
  const bool good = !loading->reader->failed && tenon__element_count(rank, dims, &count) &&
                    tenon__dtype_bytes(dtype, count, out_size);
  return good ? dims : NULL;
}

static bool read_weights(loading_t* loading) {
  const uint32_t count = tenon__read_count(loading->reader, 18);
  for (uint32_t i = 0; i < count; ++i) {
    tenon__weights_t weights = {0};
    weights.name = tenon__read_string(loading->reader);
    weights.dtype = tenon__read_u32(loading->reader);
    weights.rank = tenon__read_u32(loading->reader);
    weights.dims = read_extents(loading, weights.dtype, weights.rank, &weights.size_bytes);
    weights.derivation = tenon__read_string(loading->reader);
    if (weights.derivation[0] == '\0') {
      weights.derivation = NULL;
    }
    uint32_t index = 0;
    if (weights.dims == NULL || loading->reader->failed ||
        !check_memory(loading,
                      tenon__network_add_weights(loading->network, &weights, &index) == TENON_OK)) {
      return false;
    }
  }
  return !loading->reader->failed;
}

static bool read_numbers(loading_t* loading) {
  tenon__network_t* network = loading->network;
  const uint32_t count = tenon__read_count(loading->reader, 12);
  if (!check_memory(loading, TENON_GROW(network->allocator, network->handles,
                                        network->handle_capacity, count))) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    network->handles[i].graph = tenon__read_u32(loading->reader);
    network->handles[i].value = tenon__read_u32(loading->reader);
    network->handles[i].axis = tenon__read_u32(loading->reader);
  }
  network->handle_count = count;
  return !loading->reader->failed;
}

static bool read_contents(loading_t* loading, tenon__value_node_t* value) {
  const uint32_t count = tenon__read_u32(loading->reader);
  if (count == TENON_NONE) {
    return !loading->reader->failed;
  }
  if (count > TENON_CONTENT_LIMIT) {
    return false;
  }
  tenon_dim_t* contents = allocate(loading, count, sizeof(*contents));
  if (contents == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    contents[i].id = tenon__read_u32(loading->reader);
    if (contents[i].id >= tenon__dim_pool_count(loading->network->pool)) {
      return false;
    }
  }
  value->type.contents = contents;
  value->type.content_count = count;
  return !loading->reader->failed;
}

static bool read_value(loading_t* loading, tenon__graph_t* graph, tenon__value_node_t* out_value) {
  tenon__byte_reader_t* reader = loading->reader;
  tenon__value_node_t value = {.name = "",
                               .producer = TENON_NONE,
                               .weights = TENON_NONE,
                               .state = TENON_NONE,
                               .handle = TENON_NONE};
  value.alive = tenon__read_u8(reader) != 0;
  if (value.alive) {
    if (!tenon__text_read(&loading->parts, &value.name) ||
        !check_memory(loading, tenon__string_map_set(&graph->value_names, value.name,
                                                     (tenon__map_value_t){.number = 2}))) {
      return false;
    }
    value.flags = tenon__read_u32(reader);
    value.type.kind = tenon__read_u32(reader);
    value.type.dtype = tenon__read_u32(reader);
    if (!tenon__shape_read(&loading->parts, true, &value.type.rank, &value.type.dims)) {
      return false;
    }
    value.producer = tenon__read_u32(reader);
    value.producer_output = tenon__read_u32(reader);
    value.weights = tenon__read_u32(reader);
    value.state = tenon__read_u32(reader);
    value.handle = tenon__read_u32(reader);
    if (!read_contents(loading, &value)) {
      return false;
    }
  }
  *out_value = value;
  return !reader->failed;
}

/* Attributes in the operator's order, those that the file lacks at their defaults; an operator that
 * lacks one of the file's is not the one that was used. */
static bool order_attributes(loading_t* loading, tenon__node_t* node,
                             const tenon__scope_attribute_t* attributes, uint32_t count) {
  node->attribute_count = count;
  node->attributes = attributes;
  if (node->op == NULL || node->op->is_missing) {
    return true;
  }
  const uint32_t declared = node->op->descriptor.attribute_count;
  tenon__scope_attribute_t* ordered = allocate(loading, declared, sizeof(*ordered));
  uint32_t used = 0;
  if (ordered == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < declared; ++i) {
    ordered[i] = node->op->defaults[i];
    for (uint32_t k = 0; k < count; ++k) {
      if (strcmp(attributes[k].name, ordered[i].name) == 0 &&
          attributes[k].kind == ordered[i].kind) {
        ordered[i] = attributes[k];
        ++used;
        break;
      }
    }
  }
  node->attribute_count = declared;
  node->attributes = ordered;
  return used == count;
}

static bool read_attributes(loading_t* loading, tenon__node_t* node) {
  const uint32_t count = tenon__read_count(loading->reader, 35);
  tenon__scope_attribute_t* attributes = allocate(loading, count, sizeof(*attributes));
  for (uint32_t i = 0; i < count; ++i) {
    if (loading->reader->failed || !tenon__attribute_read(&loading->parts, &attributes[i])) {
      return false;
    }
  }
  return !loading->reader->failed && order_attributes(loading, node, attributes, count);
}

static bool read_semantics(loading_t* loading, tenon__node_t* node) {
  tenon__byte_reader_t* reader = loading->reader;
  node->contents_only = tenon__read_u8(reader) != 0;
  if (tenon__read_u8(reader) != 0) {
    tenon__expression_t* expression = allocate(loading, 1, sizeof(*expression));
    const tenon_status_t status =
        expression == NULL
            ? TENON_ERROR_OUT_OF_MEMORY
            : tenon__expression_read(reader, loading->network->pool, &loading->network->arena,
                                     loading->sink, expression);
    if (status != TENON_OK) {
      check_memory(loading, status != TENON_ERROR_OUT_OF_MEMORY);
      return false;
    }
    node->expression = expression;
  }
  if (tenon__read_u8(reader) != 0) {
    tenon__index_map_t* maps = allocate(loading, node->output_count, sizeof(*maps));
    for (uint32_t i = 0; maps != NULL && i < node->output_count; ++i) {
      if (!tenon__index_map_read(&loading->parts, node->input_count, &maps[i])) {
        return false;
      }
    }
    node->maps = maps;
  }
  return !reader->failed;
}

static bool read_node(loading_t* loading, tenon__graph_t* graph, tenon__node_t* out_node) {
  tenon__byte_reader_t* reader = loading->reader;
  tenon__node_t node = {.name = ""};
  node.alive = tenon__read_u8(reader) != 0;
  if (node.alive) {
    uint32_t* bodies = NULL;
    if (!tenon__text_read(&loading->parts, &node.name) ||
        !check_memory(loading, tenon__string_map_set(&graph->node_names, node.name,
                                                     (tenon__map_value_t){.number = 2}))) {
      return false;
    }
    node.order = tenon__read_u32(reader);
    const uint8_t form = tenon__read_u8(reader);
    const uint32_t op = tenon__read_u32(reader);
    if (form > TENON_NODE_MOVE || (op >= loading->operator_count && op != TENON_NONE) ||
        (op == TENON_NONE) == (form == TENON_NODE_OPERATOR)) {
      return false;
    }
    node.form = (tenon__node_form_t)form;
    node.op = op == TENON_NONE ? NULL : loading->operators[op];
    if (!tenon__list_read(&loading->parts, graph->value_count, true, &node.input_count,
                          &node.inputs) ||
        !tenon__list_read(&loading->parts, graph->value_count, true, &node.output_count,
                          &node.outputs) ||
        !tenon__list_read(&loading->parts, TENON_NONE, false, &node.body_count, &bodies) ||
        !read_attributes(loading, &node) || !read_semantics(loading, &node)) {
      return false;
    }
    node.bodies = bodies;
  }
  *out_node = node;
  return !reader->failed;
}

static bool read_ends(loading_t* loading, tenon__graph_t* graph) {
  uint32_t count = 0;
  uint32_t* list = NULL;
  const uint32_t index = loading->network->graph_count - 1;
  if (!tenon__list_read(&loading->parts, graph->value_count, false, &count, &list)) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (!check_memory(loading,
                      tenon__graph_add_input(loading->network, index, list[i]) == TENON_OK)) {
      return false;
    }
  }
  if (!tenon__list_read(&loading->parts, graph->value_count, false, &count, &list)) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const char* name = tenon__read_string(loading->reader);
    if (loading->reader->failed ||
        !check_memory(
            loading, tenon__graph_add_output(loading->network, index, list[i], name) == TENON_OK)) {
      return false;
    }
  }
  return true;
}

/* The graph just added to the network. */
static bool read_tables(loading_t* loading, tenon__graph_t* graph) {
  const tenon_allocator_t allocator = loading->network->allocator;
  const uint32_t value_count = tenon__read_count(loading->reader, 1);
  if (!check_memory(loading,
                    TENON_GROW(allocator, graph->values, graph->value_capacity, value_count))) {
    return false;
  }
  for (; graph->value_count < value_count; ++graph->value_count) {
    if (!read_value(loading, graph, &graph->values[graph->value_count])) {
      return false;
    }
  }
  const uint32_t node_count = tenon__read_count(loading->reader, 1);
  if (!check_memory(loading,
                    TENON_GROW(allocator, graph->nodes, graph->node_capacity, node_count))) {
    return false;
  }
  for (; graph->node_count < node_count; ++graph->node_count) {
    if (!read_node(loading, graph, &graph->nodes[graph->node_count])) {
      return false;
    }
  }
  return read_ends(loading, graph);
}

/* Of a branch that cannot run: the status of who takes it, and why. */
static bool read_fault(loading_t* loading, tenon_status_t* out_status, const char** out_message) {
  const uint32_t status = tenon__read_u32(loading->reader);
  *out_status = (tenon_status_t)status;
  *out_message = NULL;
  if (status == (uint32_t)TENON_OK) {
    return !loading->reader->failed;
  }
  return status <= (uint32_t)TENON_ERROR_INTERNAL && tenon__text_read(&loading->parts, out_message);
}

/* What cannot run is a body, and nothing is left of it. */
static bool is_empty(const tenon__graph_t* graph) {
  bool empty = graph->parent != TENON_NONE && graph->output_count == 0;
  for (uint32_t n = 0; n < graph->node_count && empty; ++n) {
    empty = !graph->nodes[n].alive;
  }
  return empty;
}

static bool read_graphs(loading_t* loading) {
  const uint32_t count = tenon__read_count(loading->reader, 33);
  for (uint32_t g = 0; g < count; ++g) {
    const char* name = tenon__read_string(loading->reader);
    const uint32_t parent = tenon__read_u32(loading->reader);
    const uint32_t owner = tenon__read_u32(loading->reader);
    /* Parents come before their bodies, so there is no cycle among graphs. */
    const bool good = g == 0 ? parent == TENON_NONE && owner == TENON_NONE
                             : parent < g && (owner == TENON_NONE ||
                                              owner < loading->network->graphs[parent]->node_count);
    uint32_t index = 0;
    tenon_status_t fault_status = TENON_OK;
    const char* fault = NULL;
    if (!read_fault(loading, &fault_status, &fault) || !good ||
        !check_memory(loading, tenon__network_add_graph(loading->network, name, parent, &index) ==
                                   TENON_OK)) {
      return false;
    }
    loading->network->graphs[index]->owner = owner;
    loading->network->graphs[index]->fault = fault;
    loading->network->graphs[index]->fault_status = fault_status;
    if (!read_tables(loading, loading->network->graphs[index]) ||
        (fault != NULL && !is_empty(loading->network->graphs[index]))) {
      return false;
    }
  }
  return count > 0;
}

static bool read_states(loading_t* loading) {
  tenon__network_t* network = loading->network;
  const uint32_t count = tenon__read_count(loading->reader, 25);
  const uint32_t value_count = network->graphs[0]->value_count;
  if (!check_memory(loading, TENON_GROW(network->allocator, network->states,
                                        network->state_capacity, count))) {
    return false;
  }
  for (uint32_t i = 0; i < count; ++i) {
    tenon__state_node_t state = {0};
    size_t size = 0;
    if (!tenon__text_read(&loading->parts, &state.name)) {
      return false;
    }
    state.dtype = tenon__read_u32(loading->reader);
    state.rank = tenon__read_u32(loading->reader);
    state.dims = read_extents(loading, state.dtype, state.rank, &size);
    state.initial = tenon__read_u32(loading->reader);
    state.read = tenon__read_u32(loading->reader);
    state.update = tenon__read_u32(loading->reader);
    if (state.dims == NULL || loading->reader->failed || state.read >= value_count ||
        (state.update != TENON_NONE && state.update >= value_count) ||
        (state.initial != TENON_NONE && state.initial >= network->weights_count) ||
        state.dtype == TENON_DTYPE_STRING) { /* their texts would go with the run that made them */
      return false;
    }
    network->states[network->state_count++] = state;
  }
  network->next_number = tenon__read_u32(loading->reader);
  return !loading->reader->failed;
}

/* The tables in their order; the name of the first that is not good, NULL when all are. */
static const char* read_all(loading_t* loading, tenon__find_operator_t find, void* find_user) {
  return !read_operators(loading, find, find_user) ? "operators"
         : !read_weights(loading)                  ? "weights"
         : !read_numbers(loading)                  ? "numbers"
         : !read_graphs(loading)                   ? "graphs"
         : !read_states(loading)                   ? "states"
                                                   : NULL;
}

static tenon_status_t load(loading_t* loading, tenon__find_operator_t find, void* find_user) {
  const char* broken = read_all(loading, find, find_user);
  TENON_TRY_MEMORY(!loading->parts.out_of_memory &&
                   !tenon__dim_pool_failed(loading->network->pool));
  if (broken != NULL) {
    return tenon__fail(loading->sink, TENON_ERROR_INVALID_DATA,
                       "network: its %s are cut short or contradictory, at byte %zu", broken,
                       loading->reader->position);
  }
  return tenon__network_verify_structure(loading->network, TENON_ERROR_INVALID_DATA, loading->sink);
}

tenon_status_t tenon__network_read(tenon_allocator_t allocator, tenon__byte_reader_t* reader,
                                   tenon__find_operator_t find, void* find_user,
                                   const tenon_sink_t* sink, tenon__network_t** out_network) {
  tenon__network_t* network = tenon__allocate(allocator, 1, sizeof(*network));
  TENON_TRY_MEMORY(network != NULL);
  network->allocator = allocator;
  tenon__arena_initialize(&network->arena, allocator);
  loading_t loading = {
      .parts = {reader, network, sink, false}, .network = network, .reader = reader, .sink = sink};
  tenon_status_t status = tenon__dim_pool_read(allocator, reader, sink, &network->pool);
  if (status == TENON_OK) {
    status = load(&loading, find, find_user);
  }
  if (status != TENON_OK) {
    tenon__network_destroy(network);
    return status;
  }
  *out_network = network;
  return TENON_OK;
}
