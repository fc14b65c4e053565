/* The functions of the source-node table for a node of a graph. */
#include "source.h"

#include <math.h>
#include <string.h>

static const char* source_type(const tenon_source_t* source) {
  return source->node->type;
}

static const char* source_domain(const tenon_source_t* source) {
  return source->node->domain;
}

static const char* source_name(const tenon_source_t* source) {
  return source->node->name;
}

static int64_t source_version(const tenon_source_t* source) {
  (void)source;
  return 1;
}

static uint32_t source_input_count(const tenon_source_t* source) {
  return source->node->input_count;
}

static uint32_t source_output_count(const tenon_source_t* source) {
  return source->node->output_count;
}

static const char* source_input_name(const tenon_source_t* source, uint32_t index) {
  return index < source->node->input_count ? source->node->inputs[index].name : "";
}

static const char* source_output_name(const tenon_source_t* source, uint32_t index) {
  if (index == 0 || index >= source->node->output_count) {
    return index == 0 ? source->node->name : "";
  }
  const char* name =
      tenon_reader_format(source->program->reader, "%s:%u", source->node->name, index);
  return name == NULL ? source->node->name : name;
}

/* ---- Attributes ---- */

static uint32_t source_field_count(const tenon_source_t* source) {
  return source->node->attribute_count;
}

static const char* source_field_name(const tenon_source_t* source, uint32_t index) {
  return index < source->node->attribute_count ? source->node->attributes[index].name : "";
}

static tenon__uff_attribute_t* find(const tenon_source_t* source, const char* name) {
  tenon__uff_attribute_t* attribute = tenon__uff_attribute(source->node, name);
  if (attribute == NULL || attribute->kind == TENON_FIELD_NONE) {
    return NULL;
  }
  attribute->is_read = true;
  return attribute;
}

static uint32_t source_field_kind(const tenon_source_t* source, const char* name) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  return attribute == NULL ? TENON_FIELD_NONE : attribute->kind;
}

static tenon_status_t fail(const tenon_source_t* source, const tenon__uff_attribute_t* attribute,
                           const char* wanted) {
  static const char* const kinds[] = {
      "nothing",  "a whole number",     "a number",          "a text",
      "a tensor", "a list of integers", "a list of numbers", "a list of texts"};
  const char* found =
      attribute->kind < sizeof(kinds) / sizeof(*kinds) ? kinds[attribute->kind] : "something else";
  return TENON_READER_FAIL(source->program->reader, TENON_ERROR_INVALID_DATA,
                           "%s: its attribute '%s' is %s, it must be %s",
                           tenon__uff_node_text(source->program->reader, source->node),
                           attribute->name, found, wanted);
}

static tenon_status_t source_get_int(const tenon_source_t* source, const char* name,
                                     int64_t* out_value) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_INT && !attribute->is_type) {
    return fail(source, attribute, "a whole number");
  }
  *out_value = attribute->integer;
  return TENON_OK;
}

static tenon_status_t source_get_float(const tenon_source_t* source, const char* name,
                                       double* out_value) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_INT && attribute->kind != TENON_FIELD_FLOAT) {
    return fail(source, attribute, "a number");
  }
  *out_value = attribute->kind == TENON_FIELD_INT ? (double)attribute->integer : attribute->number;
  return TENON_OK;
}

static tenon_status_t source_get_string(const tenon_source_t* source, const char* name,
                                        tenon_string_view_t* out_value) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_STRING) {
    return fail(source, attribute, "a text");
  }
  *out_value = attribute->text;
  return TENON_OK;
}

static tenon_status_t source_get_ints(const tenon_source_t* source, const char* name,
                                      const int64_t** out_values, size_t* out_count) {
  static const int64_t none = 0;
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_INTS) {
    return fail(source, attribute, "a list of integers");
  }
  *out_values = attribute->count == 0 ? &none : attribute->ints;
  *out_count = attribute->count;
  return TENON_OK;
}

/* Integers serve as floats. */
static tenon_status_t source_get_floats(const tenon_source_t* source, const char* name,
                                        const double** out_values, size_t* out_count) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_FLOATS && attribute->kind != TENON_FIELD_INTS) {
    return fail(source, attribute, "a list of numbers");
  }
  double* values =
      tenon_reader_allocate(source->program->reader, attribute->count, sizeof(*values));
  if (values == NULL) {
    return tenon_reader_fail_memory(source->program->reader);
  }
  for (size_t i = 0; i < attribute->count; ++i) {
    values[i] = attribute->floats != NULL ? attribute->floats[i] : (double)attribute->ints[i];
  }
  *out_values = values;
  *out_count = attribute->count;
  return TENON_OK;
}

static tenon_status_t source_get_strings(const tenon_source_t* source, const char* name,
                                         const tenon_string_view_t** out_values,
                                         size_t* out_count) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_STRINGS) {
    return fail(source, attribute, "a list of texts");
  }
  *out_values = attribute->texts;
  *out_count = attribute->count;
  return TENON_OK;
}

static tenon_status_t source_get_tensor(const tenon_source_t* source, const char* name,
                                        tenon_tensor_view_t* out_value) {
  const tenon__uff_attribute_t* attribute = find(source, name);
  if (attribute == NULL) {
    return TENON_ERROR_NOT_FOUND;
  }
  if (attribute->kind != TENON_FIELD_TENSOR) {
    return fail(source, attribute, "a tensor");
  }
  *out_value = attribute->tensor;
  return TENON_OK;
}

static int32_t source_can_borrow(const tenon_source_t* source, const void* data) {
  for (uint32_t i = 0; i < source->node->attribute_count; ++i) {
    const tenon__uff_attribute_t* attribute = &source->node->attributes[i];
    if (attribute->is_borrowed && attribute->tensor.data == data) {
      return 1;
    }
  }
  return 0;
}

const tenon_source_table_t* tenon__uff_source_table(void) {
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
      .get_tree = tenon_reader_no_tree,
      .tree_count = tenon_reader_no_trees,
      .convert_body = tenon_reader_no_body,
      .blob_count = tenon_reader_no_blobs,
      .get_blob = tenon_reader_no_blob,
      .can_borrow = source_can_borrow,
  };
  return &table;
}
