/* A network, item by item, as tenon_network_add and its companions would make it again. */
#include "sdk/library/library.h"

#include "core/network/builder_values.h"
#include "core/network/order.h"

typedef struct walk_t {
  tenon_network_t* network;
  tenon_visit_item_t visit;
  void* user;
  bool enters_bodies;
  tenon__arena_t* arena;
  /* Of the graph that is walked now. */
  uint32_t depth;
  uint32_t graph_index;
  const tenon__graph_t* graph;
  tenon_value_t* handles; /* one for each of its values */
  const uint32_t* order;
  uint32_t count;
} walk_t;

/* Values get handles of the builder, which tells their types and the bytes of constants. */
static tenon_status_t make_handles(walk_t* walk) {
  tenon_network_t* network = walk->network;
  const uint32_t count = walk->graph->value_count;
  walk->handles = tenon__arena_allocate(walk->arena, count + 1u, sizeof(*walk->handles));
  if (walk->handles == NULL) {
    return tenon__fail_memory(&network->registry->sink);
  }
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(tenon__builder_handle(network->builder, walk->graph_index, i, &walk->handles[i]));
  }
  return tenon__graph_order(network->network, walk->graph_index, walk->arena,
                            &network->registry->sink, &walk->order, &walk->count);
}

/* TENON_NONE is absent: id 0. NULL when memory is out. */
static const tenon_value_t* handles_of(walk_t* walk, const uint32_t* values, uint32_t count) {
  tenon_value_t* handles = tenon__arena_allocate(walk->arena, count + 1u, sizeof(*handles));
  if (handles != NULL) {
    for (uint32_t i = 0; i < count; ++i) {
      handles[i].id = values[i] == TENON_NONE ? 0 : walk->handles[values[i]].id;
    }
  }
  return handles;
}

/* All but tensors and bodies. */
static bool copy_attributes(walk_t* walk, const tenon__node_t* node, tenon_network_item_t* item) {
  tenon_attribute_t* attributes =
      tenon__arena_allocate(walk->arena, node->attribute_count + 1u, sizeof(*attributes));
  uint32_t count = 0;
  if (attributes == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    const tenon__scope_attribute_t* from = &node->attributes[i];
    if (from->kind >= TENON_ATTRIBUTE_INT && from->kind <= TENON_ATTRIBUTE_DTYPE) {
      attributes[count++] = (tenon_attribute_t){.name = from->name,
                                                .kind = from->kind,
                                                .integer = from->integer,
                                                .number = from->number,
                                                .string = from->string,
                                                .integers = from->integers,
                                                .numbers = from->numbers,
                                                .strings = from->strings,
                                                .count = from->count};
    }
  }
  item->attributes = (tenon_list_t){attributes, count, sizeof(*attributes)};
  return true;
}

static tenon_status_t describe_node(walk_t* walk, const tenon__node_t* node,
                                    tenon_network_item_t* out_item) {
  tenon_network_item_t item = TENON_OPTIONS(tenon_network_item_t);
  item.kind = TENON_ITEM_NODE;
  item.name = node->name;
  item.op = node->op == NULL ? NULL : node->op->name;
  item.inputs = handles_of(walk, node->inputs, node->input_count);
  item.input_count = node->input_count;
  item.outputs = handles_of(walk, node->outputs, node->output_count);
  item.output_count = node->output_count;
  item.body_count = node->body_count;
  item.bodies = node->bodies;
  item.depth = walk->depth;
  if (node->op == NULL && node->source != NULL) {
    item.text = node->source->text.source;
    item.input_names = node->source->input_names;
  }
  if (item.inputs == NULL || item.outputs == NULL || !copy_attributes(walk, node, &item)) {
    return tenon__fail_memory(&walk->network->registry->sink);
  }
  *out_item = item;
  return TENON_OK;
}

static tenon_status_t visit_ends(walk_t* walk, uint32_t kind) {
  const bool is_input = kind == TENON_ITEM_INPUT;
  const uint32_t count = is_input ? walk->graph->input_count : walk->graph->output_count;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < count && status == TENON_OK; ++i) {
    const uint32_t value = is_input ? walk->graph->inputs[i] : walk->graph->outputs[i];
    tenon_network_item_t item = TENON_OPTIONS(tenon_network_item_t);
    item.kind = kind;
    item.name = is_input || walk->graph_index != 0 ? walk->graph->values[value].name
                                                   : walk->graph->output_names[i];
    item.depth = walk->depth;
    item.inputs = is_input ? NULL : &walk->handles[value];
    item.input_count = is_input ? 0 : 1;
    item.outputs = is_input ? &walk->handles[value] : NULL;
    item.output_count = is_input ? 1 : 0;
    status = walk->visit(walk->user, &item);
  }
  return status;
}

static tenon_status_t visit_nodes(walk_t* walk);

static tenon_status_t visit_bodies(const walk_t* walk, const tenon__node_t* node) {
  if (walk->enters_bodies) {
    for (uint32_t i = 0; i < node->body_count; ++i) {
      walk_t body = *walk;
      ++body.depth;
      body.graph_index = node->bodies[i];
      body.graph = walk->network->network->graphs[body.graph_index];
      TENON_TRY(make_handles(&body));
      TENON_TRY(visit_nodes(&body));
    }
  }
  return TENON_OK;
}

static tenon_status_t visit_nodes(walk_t* walk) {
  for (uint32_t i = 0; i < walk->count; ++i) {
    const tenon__node_t* node = &walk->graph->nodes[walk->order[i]];
    tenon_network_item_t item;
    TENON_TRY(describe_node(walk, node, &item));
    TENON_TRY(walk->visit(walk->user, &item));
    TENON_TRY(visit_bodies(walk, node));
  }
  return TENON_OK;
}

static tenon_status_t visit_all(walk_t* walk) {
  TENON_TRY(make_handles(walk));
  TENON_TRY(visit_ends(walk, TENON_ITEM_INPUT));
  TENON_TRY(visit_ends(walk, TENON_ITEM_OUTPUT));
  return visit_nodes(walk);
}

/* How deep a graph lies. */
static uint32_t depth_of(const tenon__network_t* network, uint32_t graph) {
  uint32_t depth = 0;
  for (; graph != 0; graph = network->graphs[graph]->parent) {
    ++depth;
  }
  return depth;
}

static tenon_status_t start(const char* function, tenon_network_t* network, uint32_t graph,
                            bool enters_bodies, tenon_visit_item_t visit, void* user) {
  tenon__arena_t arena;
  TENON_TRY(tenon__enter(function, "network", network != NULL));
  TENON_TRY(tenon__need(&network->registry->sink, function, "visit", visit != NULL));
  tenon__arena_initialize(&arena, network->registry->allocator);
  walk_t walk = {.network = network,
                 .visit = visit,
                 .user = user,
                 .enters_bodies = enters_bodies,
                 .arena = &arena,
                 .depth = depth_of(network->network, graph),
                 .graph_index = graph,
                 .graph = network->network->graphs[graph]};
  const tenon_status_t status = visit_all(&walk);
  tenon__arena_deinitialize(&arena);
  return tenon__tell(&network->registry->sink, function, status);
}

tenon_status_t tenon_network_walk(tenon_network_t* network, tenon_visit_item_t visit, void* user) {
  return start(__func__, network, 0, false, visit, user);
}

tenon_status_t tenon_network_walk_bodies(tenon_network_t* network, tenon_visit_item_t visit,
                                         void* user) {
  return start(__func__, network, 0, true, visit, user);
}

tenon_status_t tenon_network_walk_body(tenon_network_t* network, uint32_t body,
                                       tenon_visit_item_t visit, void* user) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  if (body == 0 || body >= network->network->graph_count) {
    return tenon__tell(&network->registry->sink, __func__,
                       tenon__fail(&network->registry->sink, TENON_ERROR_INVALID_ARGUMENT,
                                   "%u is the number of no body", body));
  }
  return start(__func__, network, body, false, visit, user);
}
