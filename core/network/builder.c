/*
 * The builder behind tenon_builder_table_t: a stack of graphs being built, each with at most one
 * node begun. A node that fails when it ends is dropped; the caller may go on.
 */
#include "core/network/builder.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/c_locale.h"
#include "core/base/status.h"
#include "core/network/builder_bodies.h"
#include "core/network/builder_parts.h"
#include "core/network/builder_values.h"
#include "core/network/node.h"
#include "core/network/node_forms.h"
#include "core/operator/attribute.h"

/* All that is said passes here, so that it can be diverted. */
static void pass_on(void* user, int32_t severity, const char* message) {
  const tenon_builder_t* builder = user;
  tenon__report(builder->next_sink, severity, "%s", message);
}

tenon_status_t tenon__builder_create(tenon__network_t* network, tenon__find_operator_t find,
                                     void* find_user, const tenon_sink_t* sink,
                                     tenon_builder_t** out_builder) {
  tenon_builder_t* builder = tenon__allocate(network->allocator, 1, sizeof(*builder));
  TENON_TRY_MEMORY(builder != NULL);
  builder->network = network;
  builder->find = find;
  builder->find_user = find_user;
  builder->own_sink = (tenon_sink_t){builder, pass_on};
  builder->sink = &builder->own_sink;
  builder->next_sink = sink;
  tenon__arena_initialize(&builder->arena, network->allocator);
  if (!TENON_GROW(network->allocator, builder->frames, builder->frame_capacity, 1)) {
    tenon__builder_destroy(builder);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  builder->frames[builder->frame_count++] = (tenon__open_graph_t){0};
  *out_builder = builder;
  return TENON_OK;
}

const tenon_sink_t* tenon__builder_divert(tenon_builder_t* builder, const tenon_sink_t* sink) {
  const tenon_sink_t* before = builder->next_sink;
  builder->next_sink = sink;
  return before;
}

void tenon__builder_set_suggest(tenon_builder_t* builder, tenon__suggest_operator_t suggest) {
  builder->suggest = suggest;
}

void tenon__builder_destroy(tenon_builder_t* builder) {
  if (builder == NULL) {
    return;
  }
  const tenon_allocator_t allocator = builder->network->allocator;
  for (uint32_t i = 0; i < builder->frame_count; ++i) {
    tenon__builder_drop_node(&builder->frames[i].node);
  }
  tenon__free(allocator, builder->frames, builder->frame_capacity * sizeof(*builder->frames));
  tenon__free(allocator, builder->handles, builder->handle_capacity * sizeof(*builder->handles));
  tenon__arena_deinitialize(&builder->arena);
  tenon__free(allocator, builder, sizeof(*builder));
}

bool tenon__builder_look_up(const tenon_builder_t* builder, tenon_value_t value,
                            uint32_t* out_graph, uint32_t* out_value) {
  if (value.id == 0 || value.id > builder->handle_count) {
    return false;
  }
  *out_graph = builder->handles[value.id - 1].graph;
  *out_value = builder->handles[value.id - 1].value;
  return true;
}

void tenon__builder_set_graph(tenon_builder_t* builder, uint32_t graph) {
  builder->frames[0].graph = graph;
  builder->is_fixed = true;
}

void tenon__builder_give_inputs(tenon_builder_t* builder, tenon__given_input_t* given,
                                uint32_t count) {
  builder->given = given;
  builder->given_count = count;
}

tenon_status_t tenon__builder_finish(tenon_builder_t* builder) {
  const tenon__open_graph_t* frame = tenon__builder_frame(builder);
  if (frame->node.op != NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE, "node '%s' (%s) was not ended",
                       frame->node.name == NULL ? "" : frame->node.name, frame->node.op->name);
  }
  if (builder->frame_count > 1) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE, "body '%s' was not ended",
                       builder->network->graphs[frame->graph]->name);
  }
  return TENON_OK;
}

static tenon_status_t need_node(const tenon_builder_t* builder, tenon__pending_node_t** out_node) {
  *out_node = &tenon__builder_frame(builder)->node;
  return (*out_node)->op != NULL
             ? TENON_OK
             : tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE, "no node was begun");
}

static tenon_status_t fail_unknown_operator(const tenon_builder_t* builder, const char* op_name,
                                            const char* node_name) {
  char message[TENON_NEAREST_BYTES];
  tenon__nearest_t nearest = {0};
  if (builder->suggest != NULL) {
    builder->suggest(builder->find_user, op_name, &nearest);
  }
  return tenon__fail(
      builder->sink, TENON_ERROR_UNSUPPORTED, "node '%s': no plugin offers operator %s%s",
      node_name == NULL ? "" : node_name, op_name, tenon__nearest_text(&nearest, message));
}

static tenon_status_t build_begin(tenon_builder_t* builder, const char* op_name, const char* name) {
  tenon__pending_node_t* node = &tenon__builder_frame(builder)->node;
  if (node->op != NULL) {
    return tenon__fail(builder->sink, TENON_ERROR_INVALID_STATE,
                       "'%s' is begun while '%s' was not ended", op_name, node->op->name);
  }
  const tenon__operator_t* op = builder->find(builder->find_user, op_name);
  if (op == NULL) {
    return fail_unknown_operator(builder, op_name, name);
  }
  memset(node, 0, sizeof(*node));
  tenon__arena_initialize(&node->arena, builder->network->allocator);
  if (name != NULL) {
    node->name = tenon__arena_copy_string(&node->arena, name);
    if (node->name == NULL) {
      tenon__arena_deinitialize(&node->arena);
      return TENON_ERROR_OUT_OF_MEMORY;
    }
  }
  node->op = op;
  return TENON_OK;
}

/* Copied again when the node is made; until then the caller's may go. */
static tenon_status_t add_attribute(tenon_builder_t* builder,
                                    const tenon__scope_attribute_t* attribute) {
  tenon__pending_node_t* node = NULL;
  TENON_TRY(need_node(builder, &node));
  tenon__scope_attribute_t copy;
  const char* name = tenon__arena_copy_string(&node->arena, attribute->name);
  TENON_TRY_MEMORY(name != NULL &&
                   TENON_ARENA_GROW(&node->arena, node->attributes, node->attribute_capacity,
                                    node->attribute_count + 1) &&
                   tenon__attribute_copy(&node->arena, attribute, &copy) == TENON_OK);
  copy.name = name;
  node->attributes[node->attribute_count++] = copy;
  return TENON_OK;
}

static tenon_status_t build_attribute_int(tenon_builder_t* builder, const char* name,
                                          int64_t value) {
  return add_attribute(builder, &(tenon__scope_attribute_t){
                                    .name = name, .kind = TENON_ATTRIBUTE_INT, .integer = value});
}

static tenon_status_t build_attribute_float(tenon_builder_t* builder, const char* name,
                                            double value) {
  return add_attribute(builder, &(tenon__scope_attribute_t){
                                    .name = name, .kind = TENON_ATTRIBUTE_FLOAT, .number = value});
}

static tenon_status_t build_attribute_string(tenon_builder_t* builder, const char* name,
                                             const char* value) {
  return add_attribute(builder, &(tenon__scope_attribute_t){.name = name,
                                                            .kind = TENON_ATTRIBUTE_STRING,
                                                            .string = value == NULL ? "" : value});
}

static tenon_status_t build_attribute_ints(tenon_builder_t* builder, const char* name,
                                           const int64_t* values, size_t count) {
  return add_attribute(
      builder, &(tenon__scope_attribute_t){
                   .name = name, .kind = TENON_ATTRIBUTE_INTS, .integers = values, .count = count});
}

static tenon_status_t build_attribute_floats(tenon_builder_t* builder, const char* name,
                                             const double* values, size_t count) {
  return add_attribute(
      builder,
      &(tenon__scope_attribute_t){
          .name = name, .kind = TENON_ATTRIBUTE_FLOATS, .numbers = values, .count = count});
}

static tenon_status_t build_attribute_strings(tenon_builder_t* builder, const char* name,
                                              const char* const* values, size_t count) {
  return add_attribute(
      builder,
      &(tenon__scope_attribute_t){
          .name = name, .kind = TENON_ATTRIBUTE_STRINGS, .strings = values, .count = count});
}

static tenon_status_t build_attribute_dtype(tenon_builder_t* builder, const char* name,
                                            tenon_dtype_t value) {
  return add_attribute(builder,
                       &(tenon__scope_attribute_t){
                           .name = name, .kind = TENON_ATTRIBUTE_DTYPE, .integer = (int64_t)value});
}

static tenon_status_t build_add_input(tenon_builder_t* builder, tenon_value_t handle) {
  tenon__pending_node_t* node = NULL;
  TENON_TRY(need_node(builder, &node));
  uint32_t value = TENON_NONE;
  if (handle.id != 0) {
    TENON_TRY(tenon__builder_resolve(builder, handle, &value));
  }
  TENON_TRY_MEMORY(
      TENON_ARENA_GROW(&node->arena, node->inputs, node->input_capacity, node->input_count + 1));
  node->inputs[node->input_count++] = value;
  return TENON_OK;
}

static tenon_status_t build_add_body(tenon_builder_t* builder, uint32_t body) {
  tenon__pending_node_t* node = NULL;
  TENON_TRY(need_node(builder, &node));
  TENON_TRY_MEMORY(
      TENON_ARENA_GROW(&node->arena, node->bodies, node->body_capacity, node->body_count + 1));
  node->bodies[node->body_count++] = body;
  return TENON_OK;
}

static tenon_status_t build_output_count(tenon_builder_t* builder, uint32_t count) {
  tenon__pending_node_t* node = NULL;
  TENON_TRY(need_node(builder, &node));
  node->output_count = count;
  return TENON_OK;
}

/* Outputs as asked for: so many of a variadic port, else as many as the caller has room for. */
static uint32_t asked_outputs(const tenon__pending_node_t* node, uint32_t capacity) {
  const uint32_t declared = node->op->descriptor.output_count;
  if (node->output_count != 0 || node->op->descriptor.control != NULL) {
    return node->output_count;
  }
  return capacity < declared ? capacity : declared;
}

/* Trailing inputs that are absent are not passed on. */
static uint32_t present_inputs(const tenon__pending_node_t* node) {
  uint32_t count = node->input_count;
  while (count > 0 && node->inputs[count - 1] == TENON_NONE) {
    --count;
  }
  return count;
}

static tenon_status_t end_node(tenon_builder_t* builder, tenon__pending_node_t* node,
                               tenon_value_t* out_values, uint32_t capacity) {
  static const bool none = false;
  const uint32_t graph = tenon__builder_graph(builder);
  const uint32_t asked = asked_outputs(node, capacity);
  const tenon__node_request_t request = {
      .op = node->op,
      .name = node->name,
      .input_count = present_inputs(node),
      .inputs = node->inputs,
      .output_count = asked,
      /* Nothing wanted still gives what is not optional. */
      .wanted = asked == 0 && node->op->descriptor.control == NULL ? &none : NULL,
      .attribute_count = node->attribute_count,
      .attributes = node->attributes,
      .body_count = node->body_count,
      .bodies = node->bodies,
  };
  uint32_t index = 0;
  TENON_TRY(tenon__graph_add_node(builder->network, graph, &request, builder->sink, &index));
  const tenon__node_t* made = &builder->network->graphs[graph]->nodes[index];
  tenon_status_t status = TENON_OK;
  for (uint32_t i = 0; status == TENON_OK && i < capacity; ++i) {
    const bool there = i < made->output_count && made->outputs[i] != TENON_NONE;
    out_values[i].id = 0;
    if (there) {
      status = tenon__builder_handle(builder, graph, made->outputs[i], &out_values[i]);
    }
  }
  return status;
}

static tenon_status_t build_end(tenon_builder_t* builder, tenon_value_t* out_values,
                                uint32_t capacity) {
  tenon__pending_node_t* node = NULL;
  TENON_TRY(need_node(builder, &node));
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status = end_node(builder, node, out_values, capacity);
  tenon__c_locale_leave(outer);
  tenon__builder_drop_node(node);
  return status;
}

static void build_cancel(tenon_builder_t* builder) {
  tenon__builder_drop_node(&tenon__builder_frame(builder)->node);
}

static tenon_status_t build_expression(tenon_builder_t* builder, const char* text,
                                       const char* const* names, const tenon_value_t* inputs,
                                       uint32_t input_count, const char* node_name,
                                       tenon_value_t* out_value) {
  const uint32_t graph = tenon__builder_graph(builder);
  uint32_t* values = tenon__arena_allocate(&builder->arena, input_count + 1u, sizeof(*values));
  TENON_TRY_MEMORY(values != NULL);
  for (uint32_t i = 0; i < input_count; ++i) {
    TENON_TRY(tenon__builder_resolve(builder, inputs[i], &values[i]));
  }
  const tenon__form_request_t request = {.name = node_name,
                                         .inputs = values,
                                         .input_count = input_count,
                                         .text = text,
                                         .input_names = names};
  uint32_t node = 0;
  const locale_t outer = tenon__c_locale_enter();
  const tenon_status_t status =
      tenon__graph_add_form(builder->network, graph, &request, builder->sink, &node);
  tenon__c_locale_leave(outer);
  TENON_TRY(status);
  return tenon__builder_handle(builder, graph,
                               builder->network->graphs[graph]->nodes[node].outputs[0], out_value);
}

static int32_t build_has_operator(tenon_builder_t* builder, const char* op) {
  return builder->find(builder->find_user, op) != NULL;
}

static const tenon_sink_t* build_sink(tenon_builder_t* builder) {
  return builder->sink;
}

const tenon_builder_table_t* tenon__builder_table(void) {
  static const tenon_builder_table_t table = {
      .size = sizeof(tenon_builder_table_t),
      .input = tenon__build_input,
      .input_container = tenon__build_input_container,
      .output = tenon__build_output,
      .constant = tenon__build_constant,
      .begin = build_begin,
      .attribute_int = build_attribute_int,
      .attribute_float = build_attribute_float,
      .attribute_string = build_attribute_string,
      .attribute_ints = build_attribute_ints,
      .attribute_floats = build_attribute_floats,
      .attribute_strings = build_attribute_strings,
      .attribute_dtype = build_attribute_dtype,
      .add_input = build_add_input,
      .add_body = build_add_body,
      .output_count = build_output_count,
      .end = build_end,
      .cancel = build_cancel,
      .expression = build_expression,
      .begin_body = tenon__build_begin_body,
      .body_parameter = tenon__build_body_parameter,
      .body_parameter_like = tenon__build_body_parameter_like,
      .body_result = tenon__build_body_result,
      .end_body = tenon__build_end_body,
      .cancel_body = tenon__build_cancel_body,
      .add_state = tenon__build_add_state,
      .write_state = tenon__build_write_state,
      .type = tenon__build_type,
      .content = tenon__build_content,
      .set_name = tenon__build_set_name,
      .has_operator = build_has_operator,
      .sink = build_sink,
      .divert = tenon__builder_divert,
      .fail_body = tenon__build_fail_body,
  };
  return &table;
}
