/* Nodes of an ONNX file from the rows of a table: name, attributes, outputs. */
#include "export/onnx_node.h"

#include <string.h>

#include "text/memory.h"

/* ---- Inputs ---- */

bool tool_onnx_has(const tool_onnx_node_t* node, uint32_t index) {
  return index < node->item->input_count && node->item->inputs[index].id != 0;
}

const char* tool_onnx_source(const tool_onnx_node_t* node, uint32_t index) {
  return tool_onnx_has(node, index) ? tool_export_source(node->network, node->item, index) : "";
}

/* ---- Attributes ---- */

/* One word of a row's attributes. */
typedef struct word_t {
  const char* name; /* ONNX's */
  size_t length;
  bool is_upper;
  bool is_read; /* not written: the row's function knows it, or it says nothing new */
} word_t;

static bool find_word(const char* words, const char* name, word_t* out_word) {
  const char* rest = tool_onnx_find_word(words, name);
  if (rest == NULL) {
    return false;
  }
  *out_word = (word_t){.name = rest - strlen(name), .length = strlen(name)};
  if (*rest == '>') {
    out_word->name = rest + 1;
    out_word->length = strcspn(rest + 1, " =^-");
    rest = out_word->name + out_word->length;
  }
  out_word->is_upper = *rest == '^';
  out_word->is_read = *rest == '-' || *rest == '=';
  return true;
}

/* In capitals; freed by tool_free. */
static char* capitals(const char* text) {
  char* copy = tool_copy_text(text);
  for (char* at = copy; *at != '\0'; ++at) {
    if (*at >= 'a' && *at <= 'z') {
      *at = (char)(*at - 'a' + 'A');
    }
  }
  return copy;
}

static void write_text(tool_wire_writer_t* writer, const word_t* word, const char* name,
                       const char* value) {
  char* text = word->is_upper ? capitals(value) : tool_copy_text(value);
  tool_onnx_text(writer, name, text);
  tool_free(text);
}

static void write_attribute(tool_wire_writer_t* writer, const word_t* word,
                            const tenon_attribute_t* attribute) {
  char* name = tool_copy_bytes(word->name, word->length);
  switch (attribute->kind) {
    case TENON_ATTRIBUTE_INT:
      tool_onnx_int(writer, name, attribute->integer);
      break;
    case TENON_ATTRIBUTE_DTYPE:
      tool_onnx_int(writer, name, tool_onnx_dtype((tenon_dtype_t)attribute->integer));
      break;
    case TENON_ATTRIBUTE_FLOAT:
      tool_onnx_float(writer, name, attribute->number);
      break;
    case TENON_ATTRIBUTE_STRING:
      write_text(writer, word, name, attribute->string);
      break;
    case TENON_ATTRIBUTE_INTS:
      if (attribute->count > 0) {
        tool_onnx_ints(writer, name, attribute->integers, attribute->count);
      }
      break;
    case TENON_ATTRIBUTE_STRINGS:
      if (attribute->count > 0) {
        tool_onnx_texts(writer, name, attribute->strings, attribute->count);
      }
      break;
    default:
      if (attribute->count > 0) {
        tool_onnx_floats(writer, name, attribute->numbers, attribute->count);
      }
  }
  tool_free(name);
}

static const char* attributes_of(const tool_onnx_node_t* node) {
  return node->row->attributes == NULL ? "" : node->row->attributes;
}

static void write_attributes(const tool_onnx_node_t* node, tool_wire_writer_t* writer) {
  const char* words = attributes_of(node);
  const tenon_attribute_t* attributes = node->item->attributes.items;
  for (uint32_t i = 0; i < node->item->attributes.count; ++i) {
    const tenon_attribute_t* attribute = &attributes[i];
    word_t word;
    if (find_word(words, attribute->name, &word) && !word.is_read) {
      write_attribute(writer, &word, attribute);
    }
  }
}

/* ---- Nodes ---- */

static void write_outputs(const tool_onnx_node_t* node, tool_wire_writer_t* writer) {
  const tenon_network_item_t* item = node->item;
  uint32_t count = item->output_count;
  while (count > 0 && item->outputs[count - 1].id == 0) {
    --count;
  }
  for (uint32_t i = 0; i < count; ++i) {
    tool_onnx_output(writer,
                     item->outputs[i].id == 0 ? "" : tool_export_target(node->network, item, i));
  }
}

static bool are_there(const char* const* names, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    if (names[i] == NULL) {
      return false;
    }
  }
  return true;
}

tool_wire_writer_t* tool_onnx_begin(const tool_onnx_node_t* node, const char* const* names,
                                    uint32_t count) {
  if (!are_there(names, count) || !tool_onnx_understands(node, attributes_of(node))) {
    return NULL;
  }
  while (count > 0 && names[count - 1][0] == '\0') {
    --count;
  }
  tool_wire_writer_t* writer = tool_onnx_node(node->file, node->row->type, node->row->since);
  tool_onnx_name(writer, node->item->name);
  for (uint32_t i = 0; i < count; ++i) {
    tool_onnx_input(writer, names[i]);
  }
  write_outputs(node, writer);
  write_attributes(node, writer);
  return writer;
}

bool tool_onnx_same(const tool_onnx_node_t* node) {
  const uint32_t count = node->item->input_count;
  const char** names = tool_allocate(count + 1u, sizeof(*names));
  for (uint32_t i = 0; i < count; ++i) {
    names[i] = tool_onnx_source(node, i);
  }
  const bool is_done = tool_onnx_begin(node, names, count) != NULL;
  tool_free(names);
  return is_done;
}

char* tool_onnx_step(const tool_onnx_node_t* node, const char* type, const char* const* names,
                     uint32_t count, tool_wire_writer_t** out_writer) {
  char* result = tool_export_aside(node->network, node->item, type);
  tool_wire_writer_t* writer = tool_onnx_node(node->file, type, 0);
  for (uint32_t i = 0; i < count; ++i) {
    tool_onnx_input(writer, names[i]);
  }
  tool_onnx_output(writer, result);
  if (out_writer != NULL) {
    *out_writer = writer;
  }
  return result;
}

/* ---- Constants ---- */

char* tool_onnx_int64s(const tool_onnx_node_t* node, const char* what, const int64_t* values,
                       uint32_t count) {
  const int64_t dims[1] = {count};
  const tenon_value_type_t type = {.kind = TENON_ARGUMENT_TENSOR,
                                   .dtype = TENON_DTYPE_INT64,
                                   .rank = 1,
                                   .dims = dims,
                                   .constant_data = values};
  char* name = tool_export_aside(node->network, node->item, what);
  tool_onnx_tensor(node->file, name, &type, count * sizeof(*values));
  return name;
}

char* tool_onnx_int64(const tool_onnx_node_t* node, const char* what, int64_t value) {
  return tool_onnx_int64s(node, what, &value, 1);
}

char* tool_onnx_number(const tool_onnx_node_t* node, tenon_dtype_t dtype, double value) {
  uint64_t bytes = 0;
  const uint32_t bits = tool_dtype_bits(dtype);
  const tenon_value_type_t type = {
      .kind = TENON_ARGUMENT_TENSOR, .dtype = dtype, .constant_data = &bytes};
  if (strchr("biuf", tool_dtype_class(dtype)) == NULL || bits < 8) {
    return NULL;
  }
  tool_element_set(dtype, &bytes, 0, value);
  char* name = tool_export_aside(node->network, node->item, "number");
  tool_onnx_tensor(node->file, name, &type, bits / 8);
  return name;
}
