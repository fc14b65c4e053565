/* TensorFlow's GraphDef as a graph. */
#include <string.h>

#include "dtype.h"
#include "graph.h"

/* How many outputs an operator has that has not one: a number, or the attribute that says it.
 * Others have as many as are read. */
static const struct {
  const char* operation;
  uint32_t count;
  const char* attribute;
} output_counts[] = {
    {"Split", 0, "num_split"},
    {"SplitV", 0, "num_split"},
    {"Unpack", 0, "num"},
    {"TopKV2", 2, NULL},
    {"NonMaxSuppressionV4", 2, NULL},
    {"NonMaxSuppressionV5", 3, NULL},
    {"Switch", 2, NULL},
    {"ShapeN", 0, "N"},
    {"Merge", 1, NULL},
};

enum { OUTPUT_LIMIT = 65536 };

static uint32_t output_count_of(const tenon__uff_node_t* node) {
  if (strcmp(node->operation, "IdentityN") == 0) {
    return node->input_count;
  }
  for (size_t i = 0; i < sizeof(output_counts) / sizeof(*output_counts); ++i) {
    if (strcmp(output_counts[i].operation, node->operation) != 0) {
      continue;
    }
    const char* name = output_counts[i].attribute;
    const tenon__uff_attribute_t* count = name == NULL ? NULL : tenon__uff_attribute(node, name);
    if (count != NULL && count->integer > 0 && count->integer <= OUTPUT_LIMIT) {
      return (uint32_t)count->integer;
    }
    return name == NULL ? output_counts[i].count : 1;
  }
  return 1;
}

/* ---- Attributes ---- */

static tenon_status_t set_text(tenon_reader_t* reader, const tenon__uff_field_t* field,
                               tenon_string_view_t* out_text) {
  const char* text = tenon_reader_readable(reader, field->bytes, field->size);
  if (text == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  *out_text = (tenon_string_view_t){text, strlen(text)};
  return TENON_OK;
}

static void set_type(tenon_dtype_t dtype, tenon__uff_attribute_t* out) {
  const char* name = tenon__uff_dtype_name(dtype);
  out->kind = TENON_FIELD_STRING;
  out->is_type = true;
  out->integer = dtype;
  out->text = (tenon_string_view_t){name, strlen(name)};
}

/* Open extents are -1. Of an unknown rank nothing is said. */
static tenon_status_t set_shape(tenon_reader_t* reader, const tenon__uff_message_t* shape,
                                tenon__uff_attribute_t* out) {
  size_t count = 0;
  int64_t* dims = tenon_reader_allocate(reader, tenon__uff_count(shape, "dim"), sizeof(*dims));
  if (dims == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (const tenon__uff_field_t* dim = tenon__uff_find(shape->first, "dim"); dim != NULL;
       dim = tenon__uff_find(dim->next, "dim")) {
    const int64_t extent = tenon__uff_int_of(dim->message, "size", 0);
    dims[count++] = extent < 0 ? -1 : extent;
  }
  if (tenon__uff_int_of(shape, "unknown_rank", 0) == 0) {
    out->kind = TENON_FIELD_INTS;
    out->ints = dims;
    out->count = count;
  }
  return TENON_OK;
}

/* Lists of shapes, tensors and functions: nobody asks for them. An empty list is one of ints. */
static tenon_status_t set_list(tenon_reader_t* reader, const tenon__uff_message_t* list,
                               tenon__uff_attribute_t* out) {
  static const char* const names[] = {"i", "f", "b"};
  int64_t* ints = NULL;
  double* floats = NULL;
  size_t count = 0;
  if (tenon__uff_find(list->first, "s") != NULL) {
    out->kind = TENON_FIELD_STRINGS;
    return tenon__uff_texts(reader, list, "s", &out->texts, &out->count);
  }
  for (size_t i = 0; i < sizeof(names) / sizeof(*names) && count == 0; ++i) {
    TENON_READER_TRY(tenon__uff_numbers(reader, list, names[i], &ints, &floats, &count));
  }
  if (count == 0 && list->first != NULL) {
    return TENON_OK;
  }
  out->kind = floats != NULL ? TENON_FIELD_FLOATS : TENON_FIELD_INTS;
  out->ints = ints;
  out->floats = floats;
  out->count = count;
  return TENON_OK;
}

static tenon_status_t read_value(tenon_reader_t* reader, const char* node,
                                 const tenon__uff_field_t* value, tenon__uff_attribute_t* out) {
  switch (value->entry->number) {
    case 1:
      return set_list(reader, value->message, out);
    case 2:
      out->kind = TENON_FIELD_STRING;
      return set_text(reader, value, &out->text);
    case 3:
    case 5:
      out->kind = TENON_FIELD_INT;
      out->integer = value->integer;
      return TENON_OK;
    case 4:
      out->kind = TENON_FIELD_FLOAT;
      out->number = value->number;
      return TENON_OK;
    case 6:
      set_type(tenon__uff_dtype(value, true), out);
      return TENON_OK;
    case 7:
      return set_shape(reader, value->message, out);
    case 8:
      return tenon__uff_tensor_read(reader, node, value->message, out);
    default:
      out->kind = TENON_FIELD_STRING;
      out->text.data = tenon__uff_text_of(reader, value->message, "name");
      out->text.size = out->text.data == NULL ? 0 : strlen(out->text.data);
      return out->text.data == NULL ? tenon_reader_fail_memory(reader) : TENON_OK;
  }
}

/* What begins with "_" is TensorFlow's own affair: "_output_shapes", "_class". */
static tenon_status_t read_attributes(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                      tenon__uff_node_t* node) {
  node->attributes =
      tenon_reader_allocate(reader, tenon__uff_count(message, "attr"), sizeof(*node->attributes));
  if (node->attributes == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, "attr"); field != NULL;
       field = tenon__uff_find(field->next, "attr")) {
    const tenon__uff_field_t* value = tenon__uff_last(field->message, "value");
    const char* name = tenon__uff_text_of(reader, field->message, "key");
    if (name == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    const tenon__uff_field_t* one = value == NULL ? NULL : value->message->last;
    if (name[0] == '_' || one == NULL) {
      continue;
    }
    if (one->is_packed) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "node '%s': its attribute '%s' is a list where one value belongs",
                               node->name, name);
    }
    tenon__uff_attribute_t* attribute = &node->attributes[node->attribute_count++];
    attribute->name = name;
    TENON_READER_TRY(read_value(reader, node->name, one, attribute));
  }
  return TENON_OK;
}

/* ---- Nodes ---- */

/* Inputs of data, then those that are only waited for: "^name". What a node with data waits for
 * says only what comes first, for its data is of some side of a Switch; a constant is where it
 * waits for something of that side. */
static tenon_status_t read_inputs(tenon_reader_t* reader, const tenon__uff_message_t* message,
                                  tenon__uff_node_t* node) {
  const tenon_string_view_t* names = NULL;
  size_t count = 0;
  TENON_READER_TRY(tenon__uff_texts(reader, message, "input", &names, &count));
  node->inputs = tenon_reader_allocate(reader, count, sizeof(*node->inputs));
  if (node->inputs == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < count; ++i) {
    if (names[i].data[0] != '^') {
      node->inputs[node->input_count++].name = names[i].data;
    }
  }
  if (node->input_count == 0) {
    for (size_t i = 0; i < count; ++i) {
      node->inputs[node->control_count++].name = names[i].data + 1;
    }
  }
  return TENON_OK;
}

/* "Space>Type" is of another domain. */
static tenon_status_t read_type(tenon_reader_t* reader, tenon__uff_node_t* node) {
  const char* mark = strrchr(node->operation, '>');
  node->domain = "tensorflow";
  node->type = node->operation;
  if (mark != NULL && mark != node->operation && mark[1] != '\0') {
    node->domain =
        tenon_reader_format(reader, "%.*s", (int)(mark - node->operation), node->operation);
    node->type = mark + 1;
  }
  return node->domain == NULL ? tenon_reader_fail_memory(reader) : TENON_OK;
}

/* Graphs up to version 21, and those that say none, have empty shapes for inputs of any rank. */
static bool is_old(const tenon__uff_message_t* graph) {
  const tenon__uff_field_t* versions = tenon__uff_last(graph, "versions");
  return versions == NULL || tenon__uff_int_of(versions->message, "producer", 0) <= 21;
}

tenon_status_t tenon__uff_graph_read_tensorflow(tenon_reader_t* reader,
                                                const tenon__uff_message_t* message,
                                                tenon__uff_graph_t* out_graph) {
  *out_graph = (tenon__uff_graph_t){.is_tensorflow = true, .has_vague_shapes = is_old(message)};
  out_graph->nodes =
      tenon_reader_allocate(reader, tenon__uff_count(message, "node"), sizeof(*out_graph->nodes));
  if (out_graph->nodes == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, "node"); field != NULL;
       field = tenon__uff_find(field->next, "node")) {
    tenon__uff_node_t* node = &out_graph->nodes[out_graph->node_count++];
    node->place = field->place;
    node->name = tenon__uff_text_of(reader, field->message, "name");
    node->operation = tenon__uff_text_of(reader, field->message, "op");
    if (node->name == NULL || node->operation == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    TENON_READER_TRY(read_type(reader, node));
    TENON_READER_TRY(read_inputs(reader, field->message, node));
    TENON_READER_TRY(read_attributes(reader, field->message, node));
    node->output_count = output_count_of(node);
  }
  return TENON_OK;
}
