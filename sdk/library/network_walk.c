/* A network, item by item, as tenon_network_add and its companions would make it again. */
#include "sdk/library/library.h"

#include "core/network/builder_handles.h"
#include "core/network/order.h"

typedef struct walk_t {
  const tenon__network_t* network;
  const tenon__graph_t* graph;
  tenon__arena_t arena;
  tenon_value_t* handles; /* one for each value of the main graph */
  const uint32_t* order;
  uint32_t count;
} walk_t;

/* Values get handles of the builder, which tells their types and the bytes of constants. */
static tenon_status_t make_handles(tenon_network_t* network, walk_t* walk) {
  const uint32_t count = walk->graph->value_count;
  walk->handles = tenon__arena_allocate(&walk->arena, count + 1u, sizeof(*walk->handles));
  if (walk->handles == NULL) {
    return tenon__fail_memory(&network->registry->sink);
  }
  for (uint32_t i = 0; i < count; ++i) {
    TENON_TRY(tenon__builder_handle(network->builder, 0, i, &walk->handles[i]));
  }
  return tenon__graph_order(network->network, 0, &walk->arena, &network->registry->sink,
                            &walk->order, &walk->count);
}

/* TENON_NONE is absent: id 0. NULL when memory is out. */
static const tenon_value_t* handles_of(walk_t* walk, const uint32_t* values, uint32_t count) {
  tenon_value_t* handles = tenon__arena_allocate(&walk->arena, count + 1u, sizeof(*handles));
  for (uint32_t i = 0; handles != NULL && i < count; ++i) {
    handles[i].id = values[i] == TENON_NONE ? 0 : walk->handles[values[i]].id;
  }
  return handles;
}

/* Those of kinds that tenon_attribute_t holds. */
static bool copy_attributes(walk_t* walk, const tenon__node_t* node, tenon_network_item_t* item) {
  tenon_attribute_t* attributes =
      tenon__arena_allocate(&walk->arena, node->attribute_count + 1u, sizeof(*attributes));
  for (uint32_t i = 0; attributes != NULL && i < node->attribute_count; ++i) {
    const tenon__scope_attribute_t* from = &node->attributes[i];
    if (from->kind >= TENON_ATTRIBUTE_INT && from->kind <= TENON_ATTRIBUTE_DTYPE &&
        from->kind != TENON_ATTRIBUTE_STRINGS) {
      attributes[item->attribute_count++] = (tenon_attribute_t){.name = from->name,
                                                                .kind = from->kind,
                                                                .integer = from->integer,
                                                                .number = from->number,
                                                                .string = from->string,
                                                                .integers = from->integers,
                                                                .numbers = from->numbers,
                                                                .count = from->count};
    }
  }
  item->attributes = attributes;
  return attributes != NULL;
}

static tenon_status_t describe_node(tenon_network_t* network, walk_t* walk, uint32_t index,
                                    tenon_network_item_t* out_item) {
  const tenon__node_t* node = &walk->graph->nodes[index];
  tenon_network_item_t item = TENON_OPTIONS(tenon_network_item_t);
  item.kind = TENON_ITEM_NODE;
  item.name = node->name;
  item.op = node->op == NULL ? NULL : node->op->name;
  item.inputs = handles_of(walk, node->inputs, node->input_count);
  item.input_count = node->input_count;
  item.outputs = handles_of(walk, node->outputs, node->output_count);
  item.output_count = node->output_count;
  item.body_count = node->body_count;
  if (node->op == NULL && node->source != NULL) {
    item.text = node->source->text.source;
    item.input_names = node->source->input_names;
  }
  if (item.inputs == NULL || item.outputs == NULL || !copy_attributes(walk, node, &item)) {
    return tenon__fail_memory(&network->registry->sink);
  }
  *out_item = item;
  return TENON_OK;
}

static tenon_status_t visit_ends(walk_t* walk, uint32_t kind, tenon_visit_item_t visit,
                                 void* user) {
  const bool is_input = kind == TENON_ITEM_INPUT;
  const uint32_t count = is_input ? walk->graph->input_count : walk->graph->output_count;
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; i < count && status == TENON_OK; ++i) {
    const uint32_t value = is_input ? walk->graph->inputs[i] : walk->graph->outputs[i];
    tenon_network_item_t item = TENON_OPTIONS(tenon_network_item_t);
    item.kind = kind;
    item.name = is_input ? walk->graph->values[value].name : walk->graph->output_names[i];
    item.inputs = is_input ? NULL : &walk->handles[value];
    item.input_count = is_input ? 0 : 1;
    item.outputs = is_input ? &walk->handles[value] : NULL;
    item.output_count = is_input ? 1 : 0;
    status = visit(user, &item);
  }
  return status;
}

static tenon_status_t visit_all(tenon_network_t* network, walk_t* walk, tenon_visit_item_t visit,
                                void* user) {
  TENON_TRY(make_handles(network, walk));
  TENON_TRY(visit_ends(walk, TENON_ITEM_INPUT, visit, user));
  TENON_TRY(visit_ends(walk, TENON_ITEM_OUTPUT, visit, user));
  for (uint32_t i = 0; i < walk->count; ++i) {
    tenon_network_item_t item;
    TENON_TRY(describe_node(network, walk, walk->order[i], &item));
    TENON_TRY(visit(user, &item));
  }
  return TENON_OK;
}

tenon_status_t tenon_network_walk(tenon_network_t* network, tenon_visit_item_t visit, void* user) {
  TENON_TRY(tenon__enter(__func__, "network", network != NULL));
  TENON_TRY(tenon__need(&network->registry->sink, __func__, "visit", visit != NULL));
  walk_t walk = {.network = network->network, .graph = network->network->graphs[0]};
  tenon__arena_initialize(&walk.arena, network->registry->allocator);
  const tenon_status_t status = visit_all(network, &walk, visit, user);
  tenon__arena_deinitialize(&walk.arena);
  return tenon__tell(&network->registry->sink, __func__, status);
}
