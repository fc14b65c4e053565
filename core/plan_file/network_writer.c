/*
 * A network as bytes: pool, operators, weights (by reference), numbers, graphs, states. Dead values
 * and nodes keep their places as a single zero, because ids are indices.
 */
#include "core/plan_file/network_writer.h"

#include "core/base/allocator.h"
#include "core/plan_file/dimension_file.h"
#include "core/plan_file/network_file.h"
#include "core/plan_file/operator_file.h"
#include "core/plan_file/program_file.h"

typedef struct writing_t {
  const tenon__network_t* network;
  tenon__byte_writer_t* writer;
  uint32_t operator_count;
  size_t operator_capacity;
  const tenon__operator_t** operators;
  tenon__string_map_t operator_numbers;
} writing_t;

static bool collect_operator(writing_t* writing, const tenon__operator_t* op) {
  if (op == NULL || tenon__string_map_find(&writing->operator_numbers, op->name) != NULL) {
    return true;
  }
  if (!TENON_GROW(writing->network->allocator, writing->operators, writing->operator_capacity,
                  writing->operator_count + 1u) ||
      !tenon__string_map_set(&writing->operator_numbers, op->name,
                             (tenon__map_value_t){.number = writing->operator_count})) {
    return false;
  }
  writing->operators[writing->operator_count++] = op;
  return true;
}

static bool collect_operators(writing_t* writing) {
  for (uint32_t g = 0; g < writing->network->graph_count; ++g) {
    const tenon__graph_t* graph = writing->network->graphs[g];
    for (uint32_t n = 0; n < graph->node_count; ++n) {
      if (graph->nodes[n].alive && !collect_operator(writing, graph->nodes[n].op)) {
        return false;
      }
    }
  }
  return true;
}

static void write_weights(const writing_t* writing) {
  const tenon__network_t* network = writing->network;
  tenon__write_u32(writing->writer, network->weights_count);
  for (uint32_t i = 0; i < network->weights_count; ++i) {
    const tenon__weights_t* weights = &network->weights[i];
    tenon__write_string(writing->writer, weights->name);
    tenon__write_u32(writing->writer, weights->dtype);
    tenon__write_u32(writing->writer, weights->rank);
    for (uint32_t d = 0; d < weights->rank; ++d) {
      tenon__write_i64(writing->writer, weights->dims[d]);
    }
    tenon__write_string(writing->writer, weights->derivation);
  }
}

static void write_value(const writing_t* writing, const tenon__value_node_t* value) {
  tenon__byte_writer_t* writer = writing->writer;
  tenon__write_u8(writer, value->alive ? 1 : 0);
  if (!value->alive) {
    return;
  }
  tenon__write_string(writer, value->name);
  tenon__write_u32(writer, value->flags);
  tenon__write_u32(writer, value->type.kind);
  tenon__write_u32(writer, value->type.dtype);
  tenon__shape_write(value->type.rank, value->type.dims, writer);
  tenon__write_u32(writer, value->producer);
  tenon__write_u32(writer, value->producer_output);
  tenon__write_u32(writer, value->weights);
  tenon__write_u32(writer, value->state);
  tenon__write_u32(writer, value->handle);
  if (value->type.contents == NULL) {
    tenon__write_u32(writer, TENON_NONE);
    return;
  }
  tenon__write_u32(writer, value->type.content_count);
  for (uint32_t i = 0; i < value->type.content_count; ++i) {
    tenon__write_u32(writer, value->type.contents[i].id);
  }
}

static void write_node(const writing_t* writing, const tenon__node_t* node) {
  tenon__byte_writer_t* writer = writing->writer;
  tenon__write_u8(writer, node->alive ? 1 : 0);
  if (!node->alive) {
    return;
  }
  tenon__write_string(writer, node->name);
  tenon__write_u32(writer, node->order);
  tenon__write_u8(writer, (uint8_t)node->form);
  const tenon__map_value_t* number =
      node->op == NULL ? NULL : tenon__string_map_find(&writing->operator_numbers, node->op->name);
  tenon__write_u32(writer, number == NULL ? TENON_NONE : (uint32_t)number->number);
  tenon__list_write(node->inputs, node->input_count, writer);
  tenon__list_write(node->outputs, node->output_count, writer);
  tenon__list_write(node->bodies, node->body_count, writer);
  tenon__write_u32(writer, node->attribute_count);
  for (uint32_t i = 0; i < node->attribute_count; ++i) {
    tenon__attribute_write(&node->attributes[i], writer);
  }
  tenon__write_u8(writer, node->contents_only ? 1 : 0);
  tenon__write_u8(writer, node->expression != NULL ? 1 : 0);
  if (node->expression != NULL) {
    tenon__expression_write(node->expression, writer);
  }
  tenon__write_u8(writer, node->maps != NULL ? 1 : 0);
  for (uint32_t i = 0; node->maps != NULL && i < node->output_count; ++i) {
    tenon__index_map_write(&node->maps[i], writer);
  }
}

static void write_graph(const writing_t* writing, const tenon__graph_t* graph) {
  tenon__byte_writer_t* writer = writing->writer;
  tenon__write_string(writer, graph->name);
  tenon__write_u32(writer, graph->parent);
  tenon__write_u32(writer, graph->owner);
  tenon__write_u32(writer,
                   graph->fault == NULL ? (uint32_t)TENON_OK : (uint32_t)graph->fault_status);
  if (graph->fault != NULL) {
    tenon__write_string(writer, graph->fault);
  }
  tenon__write_u32(writer, graph->value_count);
  for (uint32_t i = 0; i < graph->value_count; ++i) {
    write_value(writing, &graph->values[i]);
  }
  tenon__write_u32(writer, graph->node_count);
  for (uint32_t i = 0; i < graph->node_count; ++i) {
    write_node(writing, &graph->nodes[i]);
  }
  tenon__list_write(graph->inputs, graph->input_count, writer);
  tenon__list_write(graph->outputs, graph->output_count, writer);
  for (uint32_t i = 0; i < graph->output_count; ++i) {
    tenon__write_string(writer, graph->output_names[i]);
  }
}

static void write_states(const writing_t* writing) {
  const tenon__network_t* network = writing->network;
  tenon__write_u32(writing->writer, network->state_count);
  for (uint32_t i = 0; i < network->state_count; ++i) {
    const tenon__state_node_t* state = &network->states[i];
    tenon__write_string(writing->writer, state->name);
    tenon__write_u32(writing->writer, state->dtype);
    tenon__write_u32(writing->writer, state->rank);
    for (uint32_t d = 0; d < state->rank; ++d) {
      tenon__write_i64(writing->writer, state->dims[d]);
    }
    tenon__write_u32(writing->writer, state->initial);
    tenon__write_u32(writing->writer, state->read);
    tenon__write_u32(writing->writer, state->update);
  }
}

void tenon__network_write(const tenon__network_t* network, tenon__byte_writer_t* writer) {
  writing_t writing = {.network = network, .writer = writer};
  tenon__string_map_initialize(&writing.operator_numbers, network->allocator);
  if (!collect_operators(&writing)) {
    writer->failed = true;
  }
  tenon__dim_pool_write(network->pool, writer);
  tenon__write_u32(writer, writing.operator_count);
  for (uint32_t i = 0; i < writing.operator_count; ++i) {
    tenon__operator_write(writing.operators[i], writer);
  }
  write_weights(&writing);
  tenon__write_u32(writer, network->handle_count);
  for (uint32_t i = 0; i < network->handle_count; ++i) {
    tenon__write_u32(writer, network->handles[i].graph);
    tenon__write_u32(writer, network->handles[i].value);
    tenon__write_u32(writer, network->handles[i].axis);
  }
  tenon__write_u32(writer, network->graph_count);
  for (uint32_t i = 0; i < network->graph_count; ++i) {
    write_graph(&writing, network->graphs[i]);
  }
  write_states(&writing);
  tenon__write_u32(writer, network->next_number);
  tenon__string_map_deinitialize(&writing.operator_numbers);
  tenon__free(network->allocator, writing.operators, writing.operator_capacity * sizeof(void*));
}
