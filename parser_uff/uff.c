/* UFF's MetaGraph as a graph. What stands in referenced_data is put where it is referred to. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dtype.h"
#include "graph.h"

static const int64_t increment = 0x7FFFFFFF; /* "and so on": spatial axes */

typedef struct walk_t {
  tenon_reader_t* reader;
  tenon_reader_names_t data; /* key -> message */
} walk_t;

static tenon_status_t set_text(const char* text, tenon__uff_attribute_t* out) {
  out->kind = TENON_FIELD_STRING;
  out->text = (tenon_string_view_t){text, text == NULL ? 0 : strlen(text)};
  return text == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* ---- Dimension orders ---- */

/* An order has at most one letter for each axis. */
enum { ORDER_SIZE = TENON__UFF_RANK_LIMIT + 1 };

/* "N+C": a letter for each axis, "+" for the spatial ones. Of weights N is the output. */
static tenon_status_t write_order(walk_t* walk, const tenon__uff_message_t* orders,
                                  char out_text[ORDER_SIZE], size_t* out_length) {
  const tenon__uff_field_t* entry = tenon__uff_last(orders, "orders");
  const tenon__uff_field_t* value = entry == NULL ? NULL : tenon__uff_last(entry->message, "value");
  int64_t* codes = NULL;
  double* none = NULL;
  size_t count = 0;
  if (value != NULL) {
    TENON_READER_TRY(
        tenon__uff_numbers(walk->reader, value->message, "val", &codes, &none, &count));
  }
  static const char letters[] = "NC23456789";
  size_t used = 0;
  if (count == 0) {
    return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                             "%s: a dimension order that names no axis",
                             tenon__uff_place(walk->reader, entry == NULL ? 0 : entry->place));
  }
  for (size_t i = 0; i < count; ++i) {
    const bool is_rest = codes[i] == 2 && i + 1 < count && codes[i + 1] == increment;
    if (used == TENON__UFF_RANK_LIMIT || codes[i] < 0 || codes[i] > 9) {
      return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                               "%s: a dimension order with the code %" PRId64 " at place %zu",
                               tenon__uff_place(walk->reader, entry->place), codes[i], i);
    }
    out_text[used] = letters[codes[i]];
    if (is_rest) {
      out_text[used] = '+';
    }
    ++used;
    i += is_rest ? 1 : 0;
  }
  out_text[used] = '\0';
  *out_length = used;
  return TENON_OK;
}

static tenon_status_t set_order(walk_t* walk, const tenon__uff_message_t* orders,
                                tenon__uff_attribute_t* out) {
  size_t length = 0;
  char* text = tenon_reader_allocate(walk->reader, ORDER_SIZE, 1);
  if (text == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  TENON_READER_TRY(write_order(walk, orders, text, &length));
  return set_text(text, out);
}

/* "N+C NC": an order a word. */
static tenon_status_t set_orders(walk_t* walk, const tenon__uff_message_t* list,
                                 tenon__uff_attribute_t* out) {
  const size_t count = tenon__uff_count(list, "val");
  TENON_READER_TRY(tenon_reader_spend(walk->reader, count + 1, ORDER_SIZE));
  char* text = tenon_reader_allocate(walk->reader, count + 1, ORDER_SIZE);
  if (text == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  size_t used = 0;
  for (const tenon__uff_field_t* field = tenon__uff_find(list->first, "val"); field != NULL;
       field = tenon__uff_find(field->next, "val")) {
    size_t length = 0;
    if (used > 0) {
      text[used++] = ' ';
    }
    TENON_READER_TRY(write_order(walk, field->message, text + used, &length));
    used += length;
  }
  return set_text(text, out);
}

/* ---- Data ---- */

static tenon_status_t set_numbers(walk_t* walk, const tenon__uff_message_t* list,
                                  tenon__uff_attribute_t* out) {
  int64_t* ints = NULL;
  double* floats = NULL;
  TENON_READER_TRY(tenon__uff_numbers(walk->reader, list, "val", &ints, &floats, &out->count));
  const bool is_float = strcmp(list->schema->name, "ListDouble") == 0;
  out->kind = is_float ? TENON_FIELD_FLOATS : TENON_FIELD_INTS;
  out->ints = ints;
  out->floats = floats;
  return TENON_OK;
}

/* Bytes, until something says what they are. */
static tenon_status_t set_blob(walk_t* walk, const tenon__uff_field_t* field,
                               tenon__uff_attribute_t* out) {
  static const uint8_t none = 0;
  int64_t* dims = tenon_reader_allocate(walk->reader, 1, sizeof(*dims));
  if (dims == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  dims[0] = (int64_t)field->size;
  out->kind = TENON_FIELD_TENSOR;
  out->is_borrowed = !tenon__uff_is_in_text(field->place);
  out->tensor =
      (tenon_tensor_view_t){.data = tenon_reader_unconst(field->size == 0 ? &none : field->bytes),
                            .dims = dims,
                            .rank = 1,
                            .dtype = TENON_DTYPE_UINT8,
                            .layout = TENON_NONE};
  return TENON_OK;
}

static tenon_status_t set_data(walk_t* walk, const tenon__uff_message_t* data, uint32_t depth,
                               tenon__uff_attribute_t* out);

static tenon_status_t set_referred(walk_t* walk, const tenon__uff_field_t* field, uint32_t depth,
                                   tenon__uff_attribute_t* out) {
  const char* key = tenon_reader_readable(walk->reader, field->bytes, field->size);
  if (key == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  const tenon__uff_message_t* data = tenon_reader_names_find(&walk->data, key);
  if (data == NULL || depth > 0) {
    return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                             "%s: it refers to '%s', which referenced_data %s",
                             tenon__uff_place(walk->reader, field->place), key,
                             data == NULL ? "does not hold" : "refers to in turn");
  }
  TENON_READER_TRY(
      tenon_reader_spend(walk->reader, data->last == NULL ? 0 : data->last->size,
                         data->last != NULL && data->last->entry->number == 1 ? 4 : 0));
  return set_data(walk, data, depth + 1, out);
}

static tenon_status_t set_number(walk_t* walk, const tenon__uff_field_t* field,
                                 tenon__uff_attribute_t* out) {
  if (field->is_packed) {
    return TENON_READER_FAIL(walk->reader, TENON_ERROR_INVALID_DATA,
                             "%s: %s is a list where one value belongs",
                             tenon__uff_place(walk->reader, field->place), field->entry->name);
  }
  if (field->entry->kind == TENON__UFF_KIND_ENUM) {
    const tenon_dtype_t dtype = tenon__uff_dtype(field, false);
    out->is_type = true;
    out->integer = dtype;
    return set_text(tenon__uff_dtype_name(dtype), out);
  }
  const bool is_float = field->entry->kind == TENON__UFF_KIND_DOUBLE;
  out->kind = is_float ? TENON_FIELD_FLOAT : TENON_FIELD_INT;
  out->integer = field->integer;
  out->number = field->number;
  return TENON_OK;
}

/* A Data without a member says nothing. */
static tenon_status_t set_data(walk_t* walk, const tenon__uff_message_t* data, uint32_t depth,
                               tenon__uff_attribute_t* out) {
  const tenon__uff_field_t* field = data->last;
  if (field == NULL) {
    return TENON_OK;
  }
  switch (field->entry->number) {
    case 1: /* s */
      return set_text(tenon_reader_readable(walk->reader, field->bytes, field->size), out);
    case 2: /* s_list */
      out->kind = TENON_FIELD_STRINGS;
      return tenon__uff_texts(walk->reader, field->message, "val", &out->texts, &out->count);
    case 4: /* d_list, b_list, i_list, dtype_list */
    case 6:
    case 8:
    case 102:
      return set_numbers(walk, field->message, out);
    case 9:
      return set_blob(walk, field, out);
    case 100:
      return set_referred(walk, field, depth, out);
    case 103:
      return set_order(walk, field->message, out);
    case 104:
      return set_orders(walk, field->message, out);
    default:
      return set_number(walk, field, out);
  }
}

/* ---- Nodes ---- */

static tenon_status_t add_attributes(walk_t* walk, const tenon__uff_message_t* message,
                                     const char* list, tenon__uff_node_t* node) {
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, list); field != NULL;
       field = tenon__uff_find(field->next, list)) {
    const tenon__uff_field_t* value = tenon__uff_last(field->message, "value");
    tenon__uff_attribute_t* attribute = &node->attributes[node->attribute_count];
    attribute->name = tenon__uff_text_of(walk->reader, field->message, "key");
    if (attribute->name == NULL) {
      return tenon_reader_fail_memory(walk->reader);
    }
    if (value != NULL && attribute->name[0] != '_') {
      ++node->attribute_count;
      TENON_READER_TRY(set_data(walk, value->message, 0, attribute));
    }
  }
  return TENON_OK;
}

static tenon_status_t read_inputs(walk_t* walk, const tenon__uff_message_t* message,
                                  tenon__uff_node_t* node) {
  const tenon_string_view_t* names = NULL;
  size_t count = 0;
  TENON_READER_TRY(tenon__uff_texts(walk->reader, message, "inputs", &names, &count));
  node->inputs = tenon_reader_allocate(walk->reader, count, sizeof(*node->inputs));
  if (node->inputs == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  for (; node->input_count < count; ++node->input_count) {
    node->inputs[node->input_count].name = names[node->input_count].data;
  }
  return TENON_OK;
}

/* "_Op" is TensorFlow's operator Op, or one of a plugin; "_Space>Op" of that domain. */
static tenon_status_t read_type(walk_t* walk, tenon__uff_node_t* node) {
  const char* mark = strrchr(node->operation, '>');
  node->domain = "";
  node->type = node->operation;
  if (node->operation[0] != '_' || node->operation[1] == '\0') {
    return TENON_OK;
  }
  node->type = node->operation + 1;
  node->domain = "tensorflow";
  if (mark != NULL && mark != node->type && mark[1] != '\0') {
    node->domain = tenon_reader_format(walk->reader, "%.*s", (int)(mark - node->type), node->type);
    node->type = mark + 1;
  }
  return node->domain == NULL ? tenon_reader_fail_memory(walk->reader) : TENON_OK;
}

static tenon_status_t read_node(walk_t* walk, const tenon__uff_field_t* field,
                                tenon__uff_node_t* node) {
  const tenon__uff_message_t* message = field->message;
  node->place = field->place;
  node->output_count = 1;
  node->name = tenon__uff_text_of(walk->reader, message, "id");
  node->operation = tenon__uff_text_of(walk->reader, message, "operation");
  const size_t count =
      tenon__uff_count(message, "fields") + tenon__uff_count(message, "extra_fields");
  node->attributes = tenon_reader_allocate(walk->reader, count + 1, sizeof(*node->attributes));
  if (node->name == NULL || node->operation == NULL || node->attributes == NULL) {
    return tenon_reader_fail_memory(walk->reader);
  }
  TENON_READER_TRY(read_type(walk, node));
  TENON_READER_TRY(read_inputs(walk, message, node));
  TENON_READER_TRY(add_attributes(walk, message, "fields", node));
  return add_attributes(walk, message, "extra_fields", node);
}

static tenon_status_t read_data(walk_t* walk, const tenon__uff_message_t* message) {
  for (const tenon__uff_field_t* field = tenon__uff_find(message->first, "referenced_data");
       field != NULL; field = tenon__uff_find(field->next, "referenced_data")) {
    const char* key = tenon__uff_text_of(walk->reader, field->message, "key");
    const tenon__uff_field_t* value = tenon__uff_last(field->message, "value");
    if (key == NULL) {
      return tenon_reader_fail_memory(walk->reader);
    }
    if (value != NULL) {
      TENON_READER_TRY(tenon_reader_names_set(walk->reader, &walk->data, key,
                                              tenon_reader_unconst(value->message)));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__uff_graph_read_uff(tenon_reader_t* reader,
                                         const tenon__uff_message_t* message,
                                         tenon__uff_graph_t* out_graph) {
  walk_t walk = {.reader = reader};
  const tenon__uff_field_t* graph = tenon__uff_find(message->first, "graphs");
  /* UFF's converter writes an empty shape where it knows none. */
  *out_graph = (tenon__uff_graph_t){.has_vague_shapes = true};
  if (graph == NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "it has no graph");
  }
  if (tenon__uff_find(graph->next, "graphs") != NULL) {
    tenon_reader_say(reader, TENON_SEVERITY_WARNING,
                     "it has several graphs: all but the first are left out");
  }
  TENON_READER_TRY(read_data(&walk, message));
  out_graph->nodes = tenon_reader_allocate(reader, tenon__uff_count(graph->message, "nodes"),
                                           sizeof(*out_graph->nodes));
  if (out_graph->nodes == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (const tenon__uff_field_t* field = tenon__uff_find(graph->message->first, "nodes");
       field != NULL; field = tenon__uff_find(field->next, "nodes")) {
    TENON_READER_TRY(read_node(&walk, field, &out_graph->nodes[out_graph->node_count++]));
  }
  return TENON_OK;
}

/* ---- Constants ---- */

static tenon_status_t fail_const(tenon_reader_t* reader, const tenon__uff_node_t* node,
                                 tenon_status_t status, const char* what) {
  return TENON_READER_FAIL(reader, status, "%s: %s", tenon__uff_node_text(reader, node), what);
}

/* The bytes that a shape and a type ask for. */
static tenon_status_t count_bytes(tenon_reader_t* reader, const tenon__uff_node_t* node,
                                  const tenon__uff_attribute_t* shape, size_t width,
                                  size_t* out_size) {
  *out_size = width;
  if (shape != NULL) {
    for (size_t i = 0; i < shape->count; ++i) {
      if (shape->ints[i] < 0 ||
          (shape->ints[i] > 0 && *out_size > (size_t)INT64_MAX / (size_t)shape->ints[i])) {
        return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: its extent %zu is %" PRId64,
                                 tenon__uff_node_text(reader, node), i, shape->ints[i]);
      }
      *out_size *= (size_t)shape->ints[i];
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__uff_graph_shape_const(tenon_reader_t* reader, const tenon__uff_node_t* node) {
  tenon__uff_attribute_t* values = tenon__uff_attribute(node, "values");
  const tenon__uff_attribute_t* shape = tenon__uff_attribute(node, "shape");
  const tenon__uff_attribute_t* type = tenon__uff_attribute(node, "dtype");
  const tenon_dtype_t dtype = type == NULL ? TENON_DTYPE_FLOAT32 : (tenon_dtype_t)type->integer;
  const size_t width = tenon__uff_dtype_size(dtype);
  size_t size = 0;
  if (values == NULL || values->kind != TENON_FIELD_TENSOR) {
    return fail_const(reader, node, TENON_ERROR_INVALID_DATA, "it has no values");
  }
  if (width == 0) {
    return fail_const(reader, node, TENON_ERROR_UNSUPPORTED, "its dtype is none that Tenon has");
  }
  if (shape != NULL &&
      (shape->floats != NULL || shape->texts != NULL || shape->count > TENON__UFF_RANK_LIMIT)) {
    return fail_const(reader, node, TENON_ERROR_INVALID_DATA,
                      "its shape is no list of up to 32 extents");
  }
  TENON_READER_TRY(count_bytes(reader, node, shape, width, &size));
  if (size != (size_t)values->tensor.dims[0]) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: its shape and dtype ask for %zu bytes, it has %" PRId64,
                             tenon__uff_node_text(reader, node), size, values->tensor.dims[0]);
  }
  values->tensor.dtype = dtype;
  values->tensor.rank = shape == NULL ? 0 : (uint32_t)shape->count;
  values->tensor.dims = values->tensor.rank == 0 ? NULL : shape->ints;
  return TENON_OK;
}
