/* The functions of the source-node table for a node, and for types as trees. */
#include "source.h"

#include <string.h>

#include "convert.h"
#include "literal.h"
#include "types.h"

static const char* const kind_names[] = {"nothing", "an int", "a float", "a string", "a tensor",
                                         "ints",    "floats", "strings", "a tree",   "trees",
                                         "a graph", "a type", "tensors"};

static uint32_t kind_by_content(const Onnx__AttributeProto* attribute) {
  return attribute->has_f                   ? TENON_FIELD_FLOAT
         : attribute->has_i                 ? TENON_FIELD_INT
         : attribute->has_s                 ? TENON_FIELD_STRING
         : attribute->t != NULL             ? TENON_FIELD_TENSOR
         : attribute->g != NULL             ? TENON_FIELD_BODY
         : attribute->n_floats > 0          ? TENON_FIELD_FLOATS
         : attribute->n_ints > 0            ? TENON_FIELD_INTS
         : attribute->n_strings > 0         ? TENON_FIELD_STRINGS
         : attribute->n_tensors > 0         ? TENON_FIELD_TENSORS
         : attribute->tp != NULL            ? TENON_FIELD_TYPE
         : attribute->sparse_tensor != NULL ? TENON_FIELD_TENSOR
                                            : TENON_FIELD_NONE;
}

uint32_t tenon__onnx_attribute_kind(const Onnx__AttributeProto* attribute) {
  /* In the order of AttributeProto.AttributeType. */
  static const uint8_t kinds[] = {TENON_FIELD_NONE,    TENON_FIELD_FLOAT,  TENON_FIELD_INT,
                                  TENON_FIELD_STRING,  TENON_FIELD_TENSOR, TENON_FIELD_BODY,
                                  TENON_FIELD_FLOATS,  TENON_FIELD_INTS,   TENON_FIELD_STRINGS,
                                  TENON_FIELD_TENSORS, TENON_FIELD_NONE,   TENON_FIELD_TENSOR,
                                  TENON_FIELD_NONE,    TENON_FIELD_TYPE,   TENON_FIELD_NONE};
  const int32_t type = attribute->has_type ? (int32_t)attribute->type : 0;
  if (type == 0) {
    return kind_by_content(attribute); /* files of the first IR version say no type */
  }
  return type > 0 && type < (int32_t)sizeof(kinds) ? kinds[type] : (uint32_t)TENON_FIELD_NONE;
}

const Onnx__AttributeProto* tenon__onnx_source_attribute(const tenon_source_t* source,
                                                         const char* name) {
  for (size_t i = 0; i < source->attribute_count; ++i) {
    if (strcmp(source->attribute_names[i], name) == 0) {
      source->is_read[i] = true;
      return source->attributes[i];
    }
  }
  return NULL;
}

/* Finds an attribute of one kind. */
static tenon_status_t get(const tenon_source_t* source, const char* name, uint32_t kind,
                          const Onnx__AttributeProto** out_attribute) {
  const Onnx__AttributeProto* attribute = tenon__onnx_source_attribute(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  const uint32_t found = tenon__onnx_attribute_kind(attribute);
  const bool is_hollow =
      (kind == TENON_FIELD_TENSOR && attribute->t == NULL && attribute->sparse_tensor == NULL) ||
      (kind == TENON_FIELD_BODY && attribute->g == NULL) ||
      (kind == TENON_FIELD_TYPE && attribute->tp == NULL);
  if (found != kind || is_hollow) {
    return TENON_READER_FAIL(source->program->reader, TENON_ERROR_INVALID_DATA,
                             "%s: attribute '%s' is %s, it must be %s",
                             tenon__onnx_node_text(source->program->reader, source->node), name,
                             is_hollow && found == kind ? "empty" : kind_names[found],
                             kind_names[kind]);
  }
  *out_attribute = attribute;
  return TENON_OK;
}

static const char* source_type(const tenon_source_t* source) {
  return source->node == NULL ? "" : tenon__onnx_text(source->node->op_type);
}

static const char* source_domain(const tenon_source_t* source) {
  return source->node == NULL ? "" : tenon__onnx_domain(source->node->domain);
}

static const char* source_name(const tenon_source_t* source) {
  return source->name;
}

static int64_t source_version(const tenon_source_t* source) {
  return tenon__onnx_program_version(source->program, source->scope->frame->function,
                                     source_domain(source));
}

static uint32_t source_input_count(const tenon_source_t* source) {
  return source->node == NULL ? 0 : (uint32_t)source->node->n_input;
}

static uint32_t source_output_count(const tenon_source_t* source) {
  return source->node == NULL ? 0 : (uint32_t)source->node->n_output;
}

static const char* source_input_name(const tenon_source_t* source, uint32_t index) {
  return index < source_input_count(source) ? tenon__onnx_text(source->node->input[index]) : "";
}

/* An output that nothing reads is not wanted, save the first. */
static const char* source_output_name(const tenon_source_t* source, uint32_t index) {
  if (index >= source_output_count(source)) {
    return "";
  }
  const char* name = tenon__onnx_text(source->node->output[index]);
  const bool is_read = tenon_reader_names_find(&source->scope->block->used, name) != NULL;
  return is_read || index == 0 ? name : "";
}

static uint32_t source_field_count(const tenon_source_t* source) {
  return (uint32_t)source->attribute_count;
}

static const char* source_field_name(const tenon_source_t* source, uint32_t index) {
  return index < source->attribute_count ? source->attribute_names[index] : "";
}

/* The fields of a type: kind ("tensor", "sequence", "optional"), elem_type (tensor), shape (tensor,
 * if it is declared; -1 where it varies), elem (the others). */
static const Onnx__TypeProto* type_element(const Onnx__TypeProto* type) {
  return type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE ? type->sequence_type->elem_type
         : type->value_case == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE
             ? type->optional_type->elem_type
             : NULL;
}

static uint32_t type_field_kind(const Onnx__TypeProto* type, const char* name) {
  const bool is_tensor = type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
  if (strcmp(name, "kind") == 0) {
    return TENON_FIELD_STRING;
  }
  if (strcmp(name, "elem_type") == 0 && is_tensor) {
    return TENON_FIELD_INT;
  }
  if (strcmp(name, "shape") == 0 && is_tensor && type->tensor_type->shape != NULL) {
    return TENON_FIELD_INTS;
  }
  return strcmp(name, "elem") == 0 && type_element(type) != NULL ? TENON_FIELD_TREE
                                                                 : TENON_FIELD_NONE;
}

static uint32_t source_field_kind(const tenon_source_t* source, const char* name) {
  if (source->type != NULL) {
    return type_field_kind(source->type, name);
  }
  const Onnx__AttributeProto* attribute = tenon__onnx_source_attribute(source, name);
  return attribute == NULL ? (uint32_t)TENON_FIELD_NONE : tenon__onnx_attribute_kind(attribute);
}

static tenon_status_t source_get_int(const tenon_source_t* source, const char* name,
                                     int64_t* out_value) {
  if (source->type != NULL) {
    if (type_field_kind(source->type, name) != TENON_FIELD_INT) {
      return TENON_ERROR_NOT_FOUND;
    }
    *out_value = source->type->tensor_type->elem_type;
    return TENON_OK;
  }
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_INT, &attribute));
  *out_value = attribute->i;
  return TENON_OK;
}

static tenon_status_t source_get_float(const tenon_source_t* source, const char* name,
                                       double* out_value) {
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_FLOAT, &attribute));
  *out_value = (double)attribute->f;
  return TENON_OK;
}

static tenon_status_t source_get_string(const tenon_source_t* source, const char* name,
                                        tenon_string_view_t* out_value) {
  if (source->type != NULL) {
    const char* text = source->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE ? "tensor"
                       : source->type->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE
                           ? "sequence"
                           : "optional";
    if (strcmp(name, "kind") != 0) {
      return TENON_ERROR_NOT_FOUND;
    }
    *out_value = (tenon_string_view_t){text, strlen(text)};
    return TENON_OK;
  }
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_STRING, &attribute));
  *out_value = (tenon_string_view_t){(const char*)attribute->s.data, attribute->s.len};
  return TENON_OK;
}

static tenon_status_t get_type_shape(const tenon_source_t* source, const int64_t** out_values,
                                     size_t* out_count) {
  tenon__onnx_type_t type;
  TENON_READER_TRY(tenon__onnx_type_read(source->program->reader, source->type, "a type", &type));
  *out_values = type.dims;
  *out_count = type.rank;
  return TENON_OK;
}

static tenon_status_t source_get_ints(const tenon_source_t* source, const char* name,
                                      const int64_t** out_values, size_t* out_count) {
  if (source->type != NULL) {
    return type_field_kind(source->type, name) == TENON_FIELD_INTS
               ? get_type_shape(source, out_values, out_count)
               : TENON_ERROR_NOT_FOUND;
  }
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_INTS, &attribute));
  *out_values = attribute->ints;
  *out_count = attribute->n_ints;
  return TENON_OK;
}

static tenon_status_t source_get_floats(const tenon_source_t* source, const char* name,
                                        const double** out_values, size_t* out_count) {
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_FLOATS, &attribute));
  tenon_reader_t* reader = source->program->reader;
  double* values = tenon_reader_allocate(reader, attribute->n_floats, sizeof(double));
  if (values == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < attribute->n_floats; ++i) {
    values[i] = (double)attribute->floats[i];
  }
  *out_values = values;
  *out_count = attribute->n_floats;
  return TENON_OK;
}

static tenon_status_t source_get_strings(const tenon_source_t* source, const char* name,
                                         const tenon_string_view_t** out_values,
                                         size_t* out_count) {
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_STRINGS, &attribute));
  tenon_reader_t* reader = source->program->reader;
  tenon_string_view_t* values =
      tenon_reader_allocate(reader, attribute->n_strings, sizeof(*values));
  if (values == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < attribute->n_strings; ++i) {
    values[i].data = (const char*)attribute->strings[i].data;
    values[i].size = attribute->strings[i].len;
  }
  *out_values = values;
  *out_count = attribute->n_strings;
  return TENON_OK;
}

static tenon_status_t source_get_tensor(const tenon_source_t* source, const char* name,
                                        tenon_tensor_view_t* out_value) {
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_TENSOR, &attribute));
  tenon_reader_t* reader = source->program->reader;
  const char* what = tenon_reader_format(reader, "%s: attribute '%s'",
                                         tenon__onnx_node_text(reader, source->node), name);
  if (what == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  const tenon__onnx_literal_t literal = {.tensor = attribute->t,
                                         .sparse = attribute->sparse_tensor};
  tenon__onnx_tensor_t tensor;
  TENON_READER_TRY(
      tenon__onnx_literal_read(reader, source->program->model, &literal, what, &tensor));
  TENON_READER_TRY(tenon__onnx_tensor_align(reader, &tensor));
  *out_value = tensor.view;
  return TENON_OK;
}

static tenon_status_t source_get_tree(const tenon_source_t* source, const char* name,
                                      uint32_t index, const tenon_source_t** out_value) {
  const Onnx__TypeProto* type = NULL;
  if (source->type != NULL) {
    type = strcmp(name, "elem") == 0 ? type_element(source->type) : NULL;
  } else {
    const Onnx__AttributeProto* attribute = NULL;
    TENON_READER_TRY(get(source, name, TENON_FIELD_TYPE, &attribute));
    type = attribute->tp;
  }
  if (type == NULL || index != 0) {
    return TENON_ERROR_NOT_FOUND;
  }
  tenon_source_t* tree = tenon_reader_allocate(source->program->reader, 1, sizeof(*tree));
  if (tree == NULL) {
    return tenon_reader_fail_memory(source->program->reader);
  }
  tree->program = source->program;
  tree->scope = source->scope;
  tree->type = type;
  tree->name = source->name;
  *out_value = tree;
  return TENON_OK;
}

static uint32_t source_tree_count(const tenon_source_t* source, const char* name) {
  const uint32_t kind = source_field_kind(source, name);
  return kind == TENON_FIELD_TYPE || kind == TENON_FIELD_TREE ? 1 : 0;
}

static tenon_status_t source_convert_body(const tenon_source_t* source, const char* name,
                                          const tenon_value_t* parameter_types,
                                          uint32_t parameter_type_count,
                                          tenon_converted_body_t* out_body) {
  const Onnx__AttributeProto* attribute = NULL;
  TENON_READER_TRY(get(source, name, TENON_FIELD_BODY, &attribute));
  const tenon__onnx_body_request_t request = {.attribute = name,
                                              .parameter_types = parameter_types,
                                              .parameter_type_count = parameter_type_count};
  tenon__onnx_body_t body;
  TENON_READER_TRY(source->program->convert_body(source, &request, &body));
  *out_body = (tenon_converted_body_t){
      .body = body.body, .captured_count = body.captures.count, .captured = body.captures.values};
  return TENON_OK;
}

static uint32_t source_blob_count(const tenon_source_t* source) {
  (void)source;
  return 0;
}

static tenon_status_t source_get_blob(const tenon_source_t* source, uint32_t index,
                                      tenon_tensor_view_t* out_value) {
  (void)source;
  (void)index;
  (void)out_value;
  return TENON_ERROR_NOT_FOUND;
}

const tenon_source_table_t* tenon__onnx_source_table(void) {
  static const tenon_source_table_t table = {
      .size = sizeof(table),
      .type = source_type,
      .domain = source_domain,
      .name = source_name,
      .version = source_version,
      .input_count = source_input_count,
      .output_count = source_output_count,
      .input_name = source_input_name,
      .output_name = source_output_name,
      .field_count = source_field_count,
      .field_name = source_field_name,
      .field_kind = source_field_kind,
      .get_int = source_get_int,
      .get_float = source_get_float,
      .get_string = source_get_string,
      .get_ints = source_get_ints,
      .get_floats = source_get_floats,
      .get_strings = source_get_strings,
      .get_tensor = source_get_tensor,
      .get_tree = source_get_tree,
      .tree_count = source_tree_count,
      .convert_body = source_convert_body,
      .blob_count = source_blob_count,
      .get_blob = source_get_blob,
  };
  return &table;
}
