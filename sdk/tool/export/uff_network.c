/* Walks a network and writes what UFF has names for; tells all that it has none for at once. */
#include "export/uff_network.h"

#include <inttypes.h>
#include <string.h>

#include "export/export.h"
#include "text/console.h"
#include "text/memory.h"

static tool_uff_value_t* value_of(tool_uff_network_t* network, tenon_value_t value) {
  if (value.id >= network->value_count) {
    network->values = tool_grow(network->values, &network->value_capacity, value.id + 1u,
                                sizeof(*network->values));
    memset(network->values + network->value_count, 0,
           (value.id + 1u - network->value_count) * sizeof(*network->values));
    network->value_count = value.id + 1u;
  }
  return &network->values[value.id];
}

tenon_value_type_t tool_uff_type_of(tool_uff_network_t* network, tenon_value_t value) {
  tenon_value_type_t type = {.kind = TENON_ARGUMENT_ABSENT};
  if (value.id == 0 || network->build->type(network->builder, value, &type) != TENON_OK) {
    type = (tenon_value_type_t){.kind = TENON_ARGUMENT_ABSENT};
  }
  return type;
}

static int64_t element_count(const tenon_value_type_t* type) {
  int64_t count = 1;
  for (uint32_t i = 0; i < type->rank; ++i) {
    count = type->dims[i] < 0 || (type->dims[i] > 0 && count > INT64_MAX / type->dims[i])
                ? -1
                : count * type->dims[i];
    if (count < 0) {
      break;
    }
  }
  return count;
}

bool tool_uff_contents(tool_uff_network_t* network, tenon_value_t value, int64_t* out_values,
                       uint32_t* out_count) {
  const tenon_value_type_t type = tool_uff_type_of(network, value);
  const int64_t count =
      type.kind == TENON_ARGUMENT_TENSOR && type.rank != TENON_NONE ? element_count(&type) : -1;
  if (count < 0 || count > TOOL_UFF_RANK_LIMIT || (count > 0 && type.has_contents == 0)) {
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
static char* new_name(tool_uff_network_t* network, const char* stem) {
  char* name = tool_copy_text(stem);
  for (uint32_t i = 1; !tool_uff_names_add(&network->names, name); ++i) {
    tool_free(name);
    name = tool_format("%s_%u", stem, i);
  }
  return name;
}

const char* tool_uff_target(tool_uff_network_t* network, const tenon_network_item_t* item) {
  tool_uff_value_t* value = value_of(network, item->outputs[0]);
  if (value->name == NULL) {
    value->name =
        value->wanted != NULL ? tool_copy_text(value->wanted) : new_name(network, item->name);
  }
  return value->name;
}

char* tool_uff_aside(tool_uff_network_t* network, const tenon_network_item_t* item,
                     const char* what) {
  char* stem = tool_format("%s_%s", tool_uff_target(network, item), what);
  char* name = new_name(network, stem);
  tool_free(stem);
  return name;
}

/* A constant, written when somebody reads it. */
static const char* write_constant(tool_uff_network_t* network, tenon_value_t handle,
                                  const tenon_value_type_t* type) {
  const int64_t count = element_count(type);
  const uint32_t code = tool_uff_dtype(type->dtype);
  if (count < 0 || code == 0) {
    network->reason = "UFF has no constants of that type";
    return NULL;
  }
  char* stem = tool_format("constant_%u", handle.id);
  char* name = new_name(network, stem);
  value_of(network, handle)->name = name;
  tool_uff_const(&network->file, name, type->dtype, type->rank, type->dims, type->constant_data,
                 (size_t)count * (code & 0xFFu) / 8);
  tool_free(stem);
  return name;
}

const char* tool_uff_source(tool_uff_network_t* network, const tenon_network_item_t* item,
                            uint32_t index) {
  const tenon_value_t handle = index < item->input_count ? item->inputs[index] : (tenon_value_t){0};
  if (handle.id == 0) {
    network->reason = "it lacks an input that UFF needs";
    return NULL;
  }
  const tool_uff_value_t* value = value_of(network, handle);
  if (value->name != NULL && !value->is_lacking) {
    return value->name;
  }
  const tenon_value_type_t type = tool_uff_type_of(network, handle);
  if (!value->is_lacking && type.constant_data != NULL) {
    return write_constant(network, handle, &type);
  }
  network->reason = NULL; /* the node before it is told */
  return NULL;
}

/* ---- Items ---- */

/* "standard.cast/1 'name': why". */
static char* describe(const tool_uff_network_t* network, const tenon_network_item_t* item) {
  const char* what = item->op != NULL ? item->op : item->text != NULL ? item->text : "a move";
  const bool has_reason = network->reason != NULL && network->reason[0] != '\0';
  return tool_format("%s '%s'%s%s", what, item->name, has_reason ? ": " : "",
                     has_reason ? network->reason : "");
}

/* Whether the output cannot be made for want of inputs, which are kept. */
static bool is_behind(tool_uff_network_t* network, const tenon_network_item_t* item,
                      uint32_t output) {
  bool found = false;
  for (uint32_t i = 0; i < item->input_count; ++i) {
    const tenon_value_t input = item->inputs[i];
    if (input.id == 0 || !value_of(network, input)->is_lacking) {
      continue;
    }
    tool_uff_value_t* value = value_of(network, (tenon_value_t){output});
    value->behind = tool_grow(value->behind, &value->behind_capacity, value->behind_count + 1,
                              sizeof(*value->behind));
    value->behind[value->behind_count++] = input.id;
    found = true;
  }
  return found;
}

/* A node that cannot be written is told when something that is wanted depends on it. */
static tenon_status_t visit_node(tool_uff_network_t* network, const tenon_network_item_t* item) {
  bool has_one = item->output_count > 0 && item->body_count == 0;
  for (uint32_t i = 1; i < item->output_count; ++i) {
    has_one = has_one && item->outputs[i].id == 0;
  }
  network->reason = "";
  if (has_one && tool_uff_write_node(network, item)) {
    return TENON_OK;
  }
  for (uint32_t i = 0; i < item->output_count; ++i) {
    if (item->outputs[i].id == 0) {
      continue;
    }
    value_of(network, item->outputs[i])->is_lacking = true;
    if (network->reason != NULL || !is_behind(network, item, item->outputs[i].id)) {
      value_of(network, item->outputs[i])->line = describe(network, item);
    }
  }
  return TENON_OK;
}

/* Each line once. What lies behind one another is no deeper than the network is long, so a list of
 * what is still to be seen serves, not recursion. */
static void tell_lacking(tool_uff_network_t* network, uint32_t id) {
  uint32_t* open = NULL;
  size_t capacity = 0;
  size_t count = 0;
  open = tool_grow(open, &capacity, 1, sizeof(*open));
  open[count++] = id;
  while (count > 0) {
    tool_uff_value_t* value = &network->values[open[--count]];
    if (value->line != NULL) {
      char* lines =
          tool_format("%s\n  %s", network->lacking == NULL ? "" : network->lacking, value->line);
      tool_free(network->lacking);
      tool_free(value->line);
      network->lacking = lines;
      value->line = NULL;
    }
    open = tool_grow(open, &capacity, count + value->behind_count, sizeof(*open));
    for (size_t i = 0; i < value->behind_count; ++i) {
      open[count++] = value->behind[i];
    }
    value->behind_count = 0; /* seen */
  }
  tool_free(open);
}

static tenon_status_t visit_input(tool_uff_network_t* network, const tenon_network_item_t* item) {
  const tenon_value_type_t type = tool_uff_type_of(network, item->outputs[0]);
  tool_uff_value_t* value = value_of(network, item->outputs[0]);
  if (type.kind != TENON_ARGUMENT_TENSOR || type.rank == TENON_NONE ||
      tool_uff_dtype(type.dtype) == 0) {
    return tool_fail(TENON_ERROR_UNSUPPORTED, "input '%s': UFF has no inputs of that type",
                     item->name);
  }
  value->name = tool_copy_text(item->name);
  (void)tool_uff_names_add(&network->names, value->name);
  tool_wire_writer_t* node = tool_uff_node(&network->file, value->name, "Input");
  tool_uff_ints(node, "shape", type.dims, type.rank);
  tool_uff_type(node, "dtype", type.dtype);
  return TENON_OK;
}

/* Kept for the end; the name is not given to anything else. */
static tenon_status_t visit_output(tool_uff_network_t* network, const tenon_network_item_t* item) {
  tool_uff_value_t* value = value_of(network, item->inputs[0]);
  network->outputs = tool_grow(network->outputs, &network->output_capacity,
                               network->output_count + 1, sizeof(*network->outputs));
  tool_uff_output_t* output = &network->outputs[network->output_count++];
  *output = (tool_uff_output_t){item->inputs[0], tool_copy_text(item->name)};
  (void)tool_uff_names_add(&network->names, output->name);
  if (value->wanted == NULL) {
    value->wanted = output->name;
  }
  return TENON_OK;
}

static int32_t visit(void* user, const tenon_network_item_t* item) {
  tool_uff_network_t* network = user;
  return item->kind == TENON_ITEM_INPUT    ? visit_input(network, item)
         : item->kind == TENON_ITEM_OUTPUT ? visit_output(network, item)
                                           : visit_node(network, item);
}

/* Under the application's name, also where it is an input's or a constant's value. */
static void name_outputs(tool_uff_network_t* network) {
  for (size_t i = 0; i < network->output_count; ++i) {
    const tool_uff_output_t* output = &network->outputs[i];
    const tenon_network_item_t item = {.inputs = &output->value, .input_count = 1};
    const char* source = tool_uff_source(network, &item, 0);
    if (source == NULL) {
      tell_lacking(network, output->value.id);
    } else if (strcmp(source, output->name) != 0) {
      tool_uff_input(tool_uff_node(&network->file, output->name, "Identity"), source);
    }
  }
}

static void mark_outputs(tool_uff_network_t* network) {
  network->file.first_mark = network->file.node_count;
  for (size_t i = 0; i < network->output_count; ++i) {
    char* stem = tool_format("MarkOutput_%zu", i);
    char* mark = new_name(network, stem);
    tool_uff_input(tool_uff_node(&network->file, mark, "MarkOutput"), network->outputs[i].name);
    tool_free(mark);
    tool_free(stem);
  }
}

static void free_network(tool_uff_network_t* network) {
  for (size_t i = 0; i < network->value_count; ++i) {
    tool_free(network->values[i].name);
    tool_free(network->values[i].line);
    tool_free(network->values[i].behind);
  }
  for (size_t i = 0; i < network->output_count; ++i) {
    tool_free(network->outputs[i].name);
  }
  tool_free(network->values);
  tool_free(network->outputs);
  tool_free(network->lacking);
  tool_uff_names_free(&network->names);
  tool_uff_free(&network->file);
}

tenon_status_t tool_export_uff(tenon_network_t* network, uint8_t** out_data, size_t* out_size) {
  tool_uff_network_t writer = {.network = network,
                               .builder = tenon_network_get_builder(network),
                               .build = tenon_builder_get_table()};
  tenon_status_t status = tenon_network_walk(network, visit, &writer);
  if (status == TENON_OK) {
    name_outputs(&writer);
    mark_outputs(&writer);
  }
  if (status == TENON_OK && writer.lacking != NULL) {
    status = tool_fail(TENON_ERROR_UNSUPPORTED, "UFF has no operation for these nodes:%s",
                       writer.lacking);
  }
  if (status == TENON_OK) {
    tool_wire_writer_t bytes;
    tool_uff_finish(&writer.file, &bytes);
    *out_data = bytes.data;
    *out_size = bytes.size;
  }
  free_network(&writer);
  return status;
}
