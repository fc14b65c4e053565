/*
 * Nodes: attributes, adding with inference, inferring again. Everything that can be refused is
 * refused before a table changes; what remains after that is memory.
 */
#include "core/network/node.h"

#include <stdio.h>
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/nearest.h"
#include "core/network/infer.h"
#include "core/network/order.h"
#include "core/operator/attribute.h"

tenon_status_t tenon__node_work_begin(tenon__node_work_t* out_work, tenon__network_t* network,
                                      uint32_t graph, const tenon__operator_t* op, const char* name,
                                      const tenon_sink_t* sink) {
  memset(out_work, 0, sizeof(*out_work));
  tenon__arena_initialize(&out_work->scratch, network->allocator);
  const char* prefix =
      tenon__arena_format(&out_work->scratch, "%s '%s': ", op == NULL ? "expression" : op->name,
                          name == NULL ? "" : name);
  if (prefix == NULL) {
    tenon__arena_deinitialize(&out_work->scratch);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon__prefix_sink_initialize(&out_work->prefixed, sink, prefix);
  tenon__inference_t* inference = &out_work->inference;
  inference->network = network;
  inference->graph = graph;
  inference->op = op;
  inference->name = name;
  inference->sink = &out_work->prefixed.sink;
  inference->scratch = &out_work->scratch;
  inference->infer_graph = tenon__graph_infer;
  return TENON_OK;
}

void tenon__node_work_end(tenon__node_work_t* work) {
  tenon__arena_deinitialize(&work->scratch);
}

void tenon__node_work_load(tenon__node_work_t* work, const tenon__node_t* node) {
  tenon__inference_t* inference = &work->inference;
  inference->input_count = node->input_count;
  inference->inputs = node->inputs;
  inference->attribute_count = node->attribute_count;
  inference->attributes = node->attributes;
  inference->body_count = node->body_count;
  inference->bodies = node->bodies;
  inference->output_count = node->output_count;
}

static tenon_status_t set_attribute(tenon__arena_t* arena,
                                    const tenon_attribute_descriptor_t* descriptor,
                                    const tenon__scope_attribute_t* given, const tenon_sink_t* sink,
                                    tenon__scope_attribute_t* out_value) {
  const tenon_status_t status = tenon__attribute_convert(arena, given, descriptor->kind, out_value);
  TENON_TRY_MEMORY(status != TENON_ERROR_OUT_OF_MEMORY);
  if (status != TENON_OK) {
    return tenon__fail(sink, status, "attribute '%s' is of kind %s, %s is given", descriptor->name,
                       tenon__attribute_kind_name(descriptor->kind),
                       tenon__attribute_kind_name(given->kind));
  }
  out_value->name = descriptor->name;
  out_value->defined = true;
  if (tenon__attribute_allowed(descriptor->choices, out_value) != 1) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "attribute '%s' must be one of %s, is %s",
                       descriptor->name, descriptor->choices,
                       tenon__attribute_text(out_value, arena));
  }
  return TENON_OK;
}

/* Names that are like it, or all there are. */
static tenon_status_t fail_unknown_attribute(const tenon__descriptor_t* op, const char* name,
                                             const tenon_sink_t* sink) {
  char message[TENON_NEAREST_BYTES];
  tenon__nearest_t nearest = {0};
  for (uint32_t i = 0; i < op->attribute_count; ++i) {
    tenon__nearest_offer_word(&nearest, name, op->attributes[i].name);
  }
  if (tenon__nearest_text(&nearest, message)[0] == '\0') {
    size_t used = (size_t)snprintf(message, sizeof(message), "%s",
                                   op->attribute_count == 0 ? "; there are none" : "; there are: ");
    for (uint32_t i = 0; i < op->attribute_count && used < sizeof(message); ++i) {
      used += (size_t)snprintf(message + used, sizeof(message) - used, "%s%s", i == 0 ? "" : ", ",
                               op->attributes[i].name);
    }
  }
  return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "there is no attribute '%s'%s", name, message);
}

/* Those of the request checked against the operator, the others at their defaults. In the network's
 * arena. */
static tenon_status_t make_attributes(tenon__network_t* network, const tenon__operator_t* op,
                                      const tenon__node_request_t* request,
                                      const tenon_sink_t* sink,
                                      const tenon__scope_attribute_t** out_attributes) {
  const tenon__descriptor_t* descriptor = &op->descriptor;
  tenon__scope_attribute_t* values = tenon__arena_copy(
      &network->arena, op->defaults, descriptor->attribute_count * sizeof(*values));
  TENON_TRY_MEMORY(values != NULL);
  for (uint32_t i = 0; i < request->attribute_count; ++i) {
    const tenon__scope_attribute_t* given = &request->attributes[i];
    const uint32_t index = tenon__operator_attribute(descriptor, given->name);
    if (index == TENON_NONE) {
      return fail_unknown_attribute(descriptor, given->name, sink);
    }
    TENON_TRY(set_attribute(&network->arena, &descriptor->attributes[index], given, sink,
                            &values[index]));
  }
  for (uint32_t i = 0; i < descriptor->attribute_count; ++i) {
    const tenon_attribute_descriptor_t* attribute = &descriptor->attributes[i];
    if ((attribute->flags & TENON_ATTRIBUTE_REQUIRED) != 0 && !values[i].defined &&
        attribute->kind != TENON_ATTRIBUTE_BODY) {
      return tenon__fail(sink, TENON_ERROR_INVALID_DATA, "attribute '%s' is missing",
                         attribute->name);
    }
  }
  *out_attributes = values;
  return TENON_OK;
}

/* "word_12" for "domain.word/1". */
static const char* made_name(tenon__network_t* network, const tenon__inference_t* inference,
                             tenon__node_form_t form) {
  const char* word = form == TENON_NODE_MOVE ? "move" : "expression";
  size_t length = strlen(word);
  if (inference->op != NULL) {
    const char* dot = strrchr(inference->op->name, '.');
    word = dot == NULL ? inference->op->name : dot + 1;
    length = strcspn(word, "/");
  }
  return tenon__arena_format(&network->arena, "%.*s_%u", (int)length, word, network->next_number++);
}

static bool is_wanted(const tenon__node_commit_t* commit, uint32_t output) {
  const tenon__operator_t* op = commit->inference->op;
  const bool may_lack = op != NULL && output < op->descriptor.output_count &&
                        (op->descriptor.outputs[output].flags & TENON_PORT_OPTIONAL) != 0 &&
                        (op->descriptor.outputs[output].flags & TENON_PORT_VARIADIC) == 0;
  if (!may_lack || (commit->wanted_count == 0 && commit->wanted == NULL)) {
    return true;
  }
  return output < commit->wanted_count && (commit->wanted == NULL || commit->wanted[output]);
}

static void set_value(const tenon__inferred_value_t* inferred, tenon__value_node_t* value) {
  value->type = inferred->type;
  if (inferred->handle != TENON_NONE) {
    value->handle = inferred->handle;
  }
}

static void place_numbers(const tenon__inference_t* inference, const uint32_t* outputs) {
  for (uint32_t i = 0; i < inference->pending_count; ++i) {
    const tenon__pending_handle_t* pending = &inference->pending[i];
    if (pending->output < inference->output_count) {
      inference->network->handles[pending->handle].value = outputs[pending->output];
    }
  }
}

static tenon_status_t add_outputs(const tenon__node_commit_t* commit, const char* node_name,
                                  uint32_t node, uint32_t* outputs) {
  const tenon__inference_t* inference = commit->inference;
  tenon__graph_t* graph = inference->network->graphs[inference->graph];
  for (uint32_t i = 0; i < inference->output_count; ++i) {
    outputs[i] = TENON_NONE;
    if (!is_wanted(commit, i)) {
      continue;
    }
    const char* name =
        commit->output_names == NULL || i >= commit->wanted_count ? NULL : commit->output_names[i];
    if (name == NULL || name[0] == '\0') {
      name = inference->output_count == 1
                 ? node_name
                 : tenon__arena_format(inference->scratch, "%s:%u", node_name, i);
    }
    TENON_TRY_MEMORY(name != NULL && tenon__graph_add_value(inference->network, inference->graph,
                                                            name, &outputs[i]) == TENON_OK);
    tenon__value_node_t* value = &graph->values[outputs[i]];
    value->producer = node;
    value->producer_output = i;
    set_value(&inference->outputs[i], value);
  }
  return TENON_OK;
}

static tenon_status_t build_node(const tenon__node_commit_t* commit, tenon__node_t* out_node) {
  const tenon__inference_t* inference = commit->inference;
  tenon__network_t* network = inference->network;
  tenon__graph_t* graph = network->graphs[inference->graph];
  const char* name = commit->name;
  if (name == NULL || name[0] == '\0') {
    name = made_name(network, inference, commit->form);
  }
  name = name == NULL ? NULL : tenon__name_unique(network, &graph->node_names, name);
  uint32_t* inputs = tenon__arena_copy(&network->arena, inference->inputs,
                                       inference->input_count * sizeof(*inputs));
  uint32_t* outputs =
      tenon__arena_allocate(&network->arena, inference->output_count + 1u, sizeof(*outputs));
  uint32_t* bodies = tenon__arena_copy(&network->arena, inference->bodies,
                                       inference->body_count * sizeof(*bodies));
  TENON_TRY_MEMORY(name != NULL && inputs != NULL && outputs != NULL && bodies != NULL);
  *out_node = (tenon__node_t){
      .name = name,
      .alive = true,
      .order = graph->node_count,
      .form = commit->form,
      .op = inference->op,
      .input_count = inference->input_count,
      .inputs = inputs,
      .output_count = inference->output_count,
      .outputs = outputs,
      .attribute_count = inference->attribute_count,
      .attributes = inference->attributes,
      .body_count = inference->body_count,
      .bodies = bodies,
      .expression = inference->expression,
      .maps = inference->maps,
      .contents_only = inference->contents_only,
      .source = commit->source,
  };
  return TENON_OK;
}

tenon_status_t tenon__node_commit(const tenon__node_commit_t* commit, uint32_t* out_node) {
  const tenon__inference_t* inference = commit->inference;
  tenon__network_t* network = inference->network;
  tenon__graph_t* graph = network->graphs[inference->graph];
  tenon__node_t node;
  TENON_TRY_MEMORY(
      TENON_GROW(network->allocator, graph->nodes, graph->node_capacity, graph->node_count + 1u) &&
      build_node(commit, &node) == TENON_OK);
  const uint32_t value_count = graph->value_count;
  if (add_outputs(commit, node.name, graph->node_count, node.outputs) != TENON_OK) {
    graph->value_count = value_count;
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  place_numbers(inference, node.outputs);
  for (uint32_t i = 0; i < node.body_count; ++i) {
    network->graphs[node.bodies[i]]->owner = graph->node_count;
  }
  graph->nodes[graph->node_count] = node;
  *out_node = graph->node_count++;
  return TENON_OK;
}

/* Results become the types of a node's values. */
static void update_node(const tenon__inference_t* inference, tenon__node_t* node) {
  tenon__graph_t* graph = inference->network->graphs[inference->graph];
  place_numbers(inference, node->outputs);
  TENON_EACH_OUTPUT(i, node) {
    set_value(&inference->outputs[i], &graph->values[node->outputs[i]]);
  }
  node->expression = inference->expression;
  node->maps = inference->maps;
  node->contents_only = inference->contents_only;
}

static tenon_status_t check_request(const tenon__inference_t* inference) {
  const tenon__graph_t* graph = inference->network->graphs[inference->graph];
  for (uint32_t i = 0; i < inference->input_count; ++i) {
    if (inference->inputs[i] != TENON_NONE && (inference->inputs[i] >= graph->value_count ||
                                               !graph->values[inference->inputs[i]].alive)) {
      return tenon__fail(inference->sink, TENON_ERROR_INVALID_ARGUMENT,
                         "input %u is no value of graph '%s'", i, graph->name);
    }
  }
  return TENON_OK;
}

/* How many output items: as asked for, but all ports that are not variadic. */
static tenon_status_t count_outputs(tenon__inference_t* inference, uint32_t asked) {
  const tenon__descriptor_t* op = &inference->op->descriptor;
  const bool is_variadic = (op->outputs[op->output_count - 1].flags & TENON_PORT_VARIADIC) != 0;
  uint32_t count = op->output_count;
  if (op->control != NULL) {
    TENON_TRY(tenon__control_output_count(inference, &count));
  } else if (is_variadic && asked != 0) {
    count = asked;
  }
  const bool too_few = is_variadic && op->control == NULL && count < op->output_count;
  if (asked > count || too_few) {
    return tenon__fail(inference->sink, TENON_ERROR_INVALID_DATA, "has %u outputs, not %u", count,
                       asked);
  }
  inference->output_count = count;
  return TENON_OK;
}

static tenon_status_t add_node(tenon__node_work_t* work, const tenon__node_request_t* request,
                               uint32_t* out_node) {
  tenon__inference_t* inference = &work->inference;
  inference->input_count = request->input_count;
  inference->inputs = request->inputs;
  inference->body_count = request->body_count;
  inference->bodies = request->bodies;
  inference->attribute_count = request->op->descriptor.attribute_count;
  TENON_TRY(check_request(inference));
  TENON_TRY(make_attributes(inference->network, request->op, request, inference->sink,
                            &inference->attributes));
  TENON_TRY(count_outputs(inference, request->output_count));
  TENON_TRY(tenon__infer_bind(inference));
  TENON_TRY(tenon__infer_node(inference));
  const tenon__node_commit_t commit = {
      .inference = inference,
      .form = TENON_NODE_OPERATOR,
      .name = request->name,
      .output_names = request->output_names,
      .wanted = request->wanted,
      .wanted_count = request->output_count,
  };
  return tenon__node_commit(&commit, out_node);
}

tenon_status_t tenon__graph_add_node(tenon__network_t* network, uint32_t graph,
                                     const tenon__node_request_t* request, const tenon_sink_t* sink,
                                     uint32_t* out_node) {
  tenon__node_work_t work;
  TENON_TRY(tenon__node_work_begin(&work, network, graph, request->op, request->name, sink));
  const tenon_status_t status = add_node(&work, request, out_node);
  tenon__node_work_end(&work);
  return status;
}

static tenon_status_t infer_again(tenon__node_work_t* work, tenon__node_t* node) {
  tenon__inference_t* inference = &work->inference;
  tenon__node_work_load(work, node);
  if (node->form == TENON_NODE_OPERATOR) {
    TENON_TRY(tenon__infer_bind(inference));
    TENON_TRY(tenon__infer_node(inference));
  } else if (node->source != NULL) {
    TENON_TRY(tenon__infer_text(inference, node->source));
  } else {
    return TENON_OK; /* its shapes were given with it */
  }
  update_node(inference, node);
  return TENON_OK;
}

tenon_status_t tenon__graph_infer(tenon__network_t* network, uint32_t graph_index,
                                  const tenon_sink_t* sink) {
  tenon__graph_t* graph = network->graphs[graph_index];
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, network->allocator);
  const uint32_t* order = NULL;
  uint32_t count = 0;
  tenon_status_t status = tenon__graph_order(network, graph_index, &arena, sink, &order, &count);
  for (uint32_t i = 0; status == TENON_OK && i < count; ++i) {
    tenon__node_t* node = &graph->nodes[order[i]];
    tenon__node_work_t work;
    status = tenon__node_work_begin(&work, network, graph_index, node->op, node->name, sink);
    if (status == TENON_OK) {
      status = infer_again(&work, node);
      tenon__node_work_end(&work);
    }
  }
  tenon__arena_deinitialize(&arena);
  return status;
}

const tenon__scope_attribute_t* tenon__node_attribute(const tenon__node_t* node, const char* name) {
  return tenon__attribute_find(node->attributes, node->attribute_count, name);
}

tenon_status_t tenon__node_scope(tenon__network_t* network, uint32_t graph_index,
                                 uint32_t node_index, tenon__arena_t* arena,
                                 tenon__scope_t* out_scope) {
  const tenon__graph_t* graph = network->graphs[graph_index];
  const tenon__node_t* node = &graph->nodes[node_index];
  if (node->op == NULL) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon__node_work_t work = {.inference = {.network = network,
                                           .graph = graph_index,
                                           .op = node->op,
                                           .name = node->name,
                                           .scratch = arena,
                                           .infer_graph = tenon__graph_infer}};
  tenon__node_work_load(&work, node);
  TENON_TRY(tenon__infer_bind(&work.inference));
  for (uint32_t i = 0; i < node->output_count; ++i) {
    if (node->outputs[i] != TENON_NONE) {
      work.inference.output_values[i] =
          tenon__infer_scope_value(network, graph_index, node->outputs[i], i);
    } else {
      work.inference.output_values[i].present = false;
    }
  }
  *out_scope = work.inference.scope;
  return TENON_OK;
}
