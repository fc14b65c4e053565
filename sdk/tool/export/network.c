/* Walks a network, writes the nodes that ONNX has, and lists all others at once. */
#include "export/network.h"

#include <stdio.h>
#include <string.h>

#include "text/console.h"
#include "text/memory.h"

static tool_export_value_t* value_of(tool_export_network_t* network, tenon_value_t value) {
  if (value.id >= network->value_count) {
    network->values = tool_grow(network->values, &network->value_capacity, value.id + 1u,
                                sizeof(*network->values));
    memset(network->values + network->value_count, 0,
           (value.id + 1u - network->value_count) * sizeof(*network->values));
    network->value_count = value.id + 1u;
  }
  return &network->values[value.id];
}

tenon_value_type_t tool_export_type_of(tool_export_network_t* network, tenon_value_t value) {
  tenon_value_type_t type = {.size = sizeof(type), .kind = TENON_ARGUMENT_ABSENT};
  if (value.id == 0 || network->build->type(network->builder, value, &type) != TENON_OK) {
    type = (tenon_value_type_t){.kind = TENON_ARGUMENT_ABSENT};
  }
  return type;
}

bool tool_export_contents(tool_export_network_t* network, tenon_value_t value, int64_t* out_values,
                          uint32_t* out_count) {
  const tenon_value_type_t type = tool_export_type_of(network, value);
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == TENON_NONE ||
      !tool_element_count(type.rank, type.dims, type.dtype, &count, &bytes) ||
      count > TENON_RANK_LIMIT || (count > 0 && type.has_contents == 0)) {
    return false;
  }
  for (uint32_t i = 0; i < (uint32_t)count; ++i) {
    if (network->build->content(network->builder, value, i, &out_values[i]) != 1) {
      return false;
    }
  }
  *out_count = (uint32_t)count;
  return true;
}

/* ---- Names ---- */

/* The name, or the first of name_1, name_2 ... that nothing has: nothing else gets it. */
char* tool_export_new_name(tool_export_network_t* network, const char* stem) {
  char* name = tool_copy_text(stem);
  for (uint32_t i = 1; !tool_names_add(&network->names, name); ++i) {
    tool_free(name);
    name = tool_format("%s_%u", stem, i);
  }
  return name;
}

const char* tool_export_target(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index) {
  tool_export_value_t* value = value_of(network, item->outputs[index]);
  if (value->name == NULL) {
    value->name = value->wanted != NULL ? tool_copy_text(value->wanted)
                                        : tool_export_new_name(network, item->name);
  }
  return value->name;
}

char* tool_export_aside(tool_export_network_t* network, const tenon_network_item_t* item,
                        const char* what) {
  char* stem = tool_format("%s_%s", item->name, what);
  char* name = tool_export_new_name(network, stem);
  tool_free(stem);
  return name;
}

/* Writes a constant when a node reads it first. */
static const char* write_constant(tool_export_network_t* network, tenon_value_t handle,
                                  const tenon_value_type_t* type) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (tool_onnx_dtype(type->dtype) == 0 ||
      !tool_element_count(type->rank, type->dims, type->dtype, &count, &bytes)) {
    network->reason = "ONNX has no constants of that type";
    return NULL;
  }
  char* stem = tool_format("constant_%u", handle.id);
  char* name = tool_export_new_name(network, stem);
  value_of(network, handle)->name = name;
  tool_onnx_tensor(network->file, name, type, (size_t)bytes);
  tool_free(stem);
  return name;
}

const char* tool_export_source(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index) {
  const tenon_value_t handle = index < item->input_count ? item->inputs[index] : (tenon_value_t){0};
  if (handle.id == 0) {
    network->reason = "it lacks an input that ONNX needs";
    return NULL;
  }
  const tool_export_value_t* value = value_of(network, handle);
  if (value->name != NULL && !value->is_lacking) {
    return value->name;
  }
  const tenon_value_type_t type = tool_export_type_of(network, handle);
  if (!value->is_lacking && type.constant_data != NULL) {
    return write_constant(network, handle, &type);
  }
  network->reason = NULL; /* the node that makes it is listed */
  return NULL;
}

/* ---- Items ---- */

/* "standard.cast/1 'name': reason". */
static char* describe(const tool_export_network_t* network, const tenon_network_item_t* item) {
  const char* what = item->op != NULL ? item->op : item->text != NULL ? item->text : "a move";
  const bool has_reason = network->reason != NULL && network->reason[0] != '\0';
  return tool_format("%s '%s'%s%s", what, item->name, has_reason ? ": " : "",
                     has_reason ? network->reason : "");
}

/* The line of the first lacking input. NULL if none is lacking. */
static const char* line_of_inputs(tool_export_network_t* network,
                                  const tenon_network_item_t* item) {
  const char* line = NULL;
  for (uint32_t i = 0; i < item->input_count && line == NULL; ++i) {
    line = item->inputs[i].id == 0 ? NULL : value_of(network, item->inputs[i])->line;
  }
  return line;
}

/* Lists a node that cannot be written, once. Nodes that read its outputs inherit its line, and the
 * control nodes around them report it. */
static tenon_status_t visit_node(tool_export_network_t* network, const tenon_network_item_t* item) {
  network->reason = "";
  if (network->write_node(network, item)) {
    return TENON_OK;
  }
  const char* inherited = line_of_inputs(network, item);
  const bool is_own = network->reason != NULL || inherited == NULL;
  char* line = is_own ? describe(network, item) : tool_copy_text(inherited);
  if (is_own && network->body_depth == 0) {
    tool_append(&network->lacking, "\n  %s", line);
  }
  for (uint32_t i = 0; i < item->output_count; ++i) {
    if (item->outputs[i].id != 0) {
      tool_export_call(network, item->outputs[i], NULL, line);
    }
  }
  tool_free(line);
  return TENON_OK;
}

static tenon_status_t visit_input(tool_export_network_t* network,
                                  const tenon_network_item_t* item) {
  const tenon_value_type_t type = tool_export_type_of(network, item->outputs[0]);
  tool_export_value_t* value = value_of(network, item->outputs[0]);
  value->name = tool_copy_text(item->name);
  (void)tool_names_add(&network->names, value->name);
  if (tool_onnx_dtype(type.dtype) == 0) {
    return tool_fail(TENON_ERROR_UNSUPPORTED, "input '%s': ONNX has no inputs of that type",
                     item->name);
  }
  return TENON_OK;
}

/* Kept for the end; the name is not given to anything else. */
static tenon_status_t visit_output(tool_export_network_t* network,
                                   const tenon_network_item_t* item) {
  tool_export_value_t* value = value_of(network, item->inputs[0]);
  network->outputs = tool_grow(network->outputs, &network->output_capacity,
                               network->output_count + 1, sizeof(*network->outputs));
  tool_export_output_t* output = &network->outputs[network->output_count++];
  *output = (tool_export_output_t){item->inputs[0], tool_copy_text(item->name)};
  (void)tool_names_add(&network->names, output->name);
  if (value->wanted == NULL) {
    value->wanted = output->name;
  }
  return TENON_OK;
}

static int32_t visit(void* user, const tenon_network_item_t* item) {
  tool_export_network_t* network = user;
  return item->kind == TENON_ITEM_INPUT    ? visit_input(network, item)
         : item->kind == TENON_ITEM_OUTPUT ? visit_output(network, item)
                                           : visit_node(network, item);
}

/* ---- Bodies ---- */

static int32_t visit_body(void* user, const tenon_network_item_t* item) {
  tool_export_body_t* body = user;
  if (item->kind == TENON_ITEM_NODE) {
    return body->is_refused ? TENON_OK : visit_node(body->network, item);
  }
  if (item->kind == TENON_ITEM_INPUT) {
    body->is_refused =
        body->is_refused || !body->parameter(body->user, body->parameter_count, item->outputs[0]);
    ++body->parameter_count;
    return TENON_OK;
  }
  body->results = tool_grow(body->results, &body->result_capacity, body->result_count + 1,
                            sizeof(*body->results));
  body->results[body->result_count++] = item->inputs[0];
  return TENON_OK;
}

bool tool_export_write_body(tool_export_body_t* body, uint32_t number) {
  ++body->network->body_depth;
  const tenon_status_t status =
      tenon_network_walk_body(body->network->network, number, visit_body, body);
  --body->network->body_depth;
  return status == TENON_OK && !body->is_refused;
}

void tool_export_call(tool_export_network_t* network, tenon_value_t handle, const char* name,
                      const char* line) {
  tool_export_value_t* value = value_of(network, handle);
  value->is_lacking = name == NULL;
  if (name == NULL) {
    value->line = tool_copy_text(line);
  } else {
    value->name = tool_copy_text(name);
  }
}

const char* tool_export_result(tool_export_network_t* network, tenon_value_t value) {
  const tenon_network_item_t item = {.inputs = &value, .input_count = 1};
  const char* name = tool_export_source(network, &item, 0);
  const char* line = name == NULL ? value_of(network, value)->line : NULL;
  if (line != NULL) {
    (void)snprintf(network->message, sizeof(network->message), "in its body, %s", line);
    network->reason = network->message;
  }
  return name;
}

/* ---- The whole ---- */

/* Gives outputs the application's names, also if an output is an input or a constant. False if one
 * is lacking. */
static bool name_outputs(tool_export_network_t* network) {
  bool are_there = true;
  for (size_t i = 0; i < network->output_count; ++i) {
    const tool_export_output_t* output = &network->outputs[i];
    const tenon_network_item_t item = {.inputs = &output->value, .input_count = 1};
    const char* source = tool_export_source(network, &item, 0);
    are_there = are_there && source != NULL;
    if (source != NULL && strcmp(source, output->name) != 0) {
      tool_onnx_alias(network->file, output->name, source);
    }
  }
  return are_there;
}

void tool_export_free(tool_export_network_t* network) {
  for (size_t i = 0; i < network->value_count; ++i) {
    tool_free(network->values[i].name);
    tool_free(network->values[i].line);
  }
  for (size_t i = 0; i < network->output_count; ++i) {
    tool_free(network->outputs[i].name);
  }
  tool_free(network->values);
  tool_free(network->outputs);
  tool_free(network->lacking);
  tool_names_free(&network->names);
}

tenon_status_t tool_export_walk(tool_export_network_t* network) {
  network->builder = tenon_network_get_builder(network->network);
  network->build = tenon_builder_get_table();
  TOOL_TRY(tenon_network_walk(network->network, visit, network));
  return name_outputs(network)
             ? TENON_OK
             : tool_fail(TENON_ERROR_UNSUPPORTED, "ONNX has no operation for these nodes:%s",
                         network->lacking == NULL ? "" : network->lacking);
}
