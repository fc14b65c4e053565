/* Literals from initialisers, sparse tensors and attributes of Constant, in one form. */
#include "literal.h"

#include <string.h>

#include "types.h"

/* The forms of a Constant: name, kind, and what its elements become. */
typedef struct constant_form_t {
  const char* name;
  Onnx__AttributeProto__AttributeType type;
  tenon_dtype_t dtype;
} constant_form_t;

static const constant_form_t forms[] = {
    {"value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR, TENON_DTYPE_UNDEFINED},
    {"sparse_value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR, TENON_DTYPE_UNDEFINED},
    {"value_float", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT, TENON_DTYPE_FLOAT32},
    {"value_floats", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS, TENON_DTYPE_FLOAT32},
    {"value_int", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT, TENON_DTYPE_INT64},
    {"value_ints", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS, TENON_DTYPE_INT64},
    {"value_string", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING, TENON_DTYPE_STRING},
    {"value_strings", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS, TENON_DTYPE_STRING},
};

static const constant_form_t* find_form(const char* name) {
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); ++i) {
    if (strcmp(forms[i].name, name) == 0) {
      return &forms[i];
    }
  }
  return NULL;
}

tenon_status_t tenon__onnx_literal_of_constant(tenon_reader_t* reader, const Onnx__NodeProto* node,
                                               const Onnx__AttributeProto* const* attributes,
                                               size_t attribute_count,
                                               tenon__onnx_literal_t* out_literal) {
  const Onnx__AttributeProto* found = NULL;
  const constant_form_t* form = NULL;
  size_t count = 0;
  for (size_t i = 0; i < attribute_count; ++i) {
    const constant_form_t* candidate = find_form(tenon__onnx_text(attributes[i]->name));
    if (candidate != NULL) {
      found = attributes[i];
      form = candidate;
      ++count;
    }
  }
  if (count != 1) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s has %zu values, it must have one",
                             tenon__onnx_node_text(reader, node), count);
  }
  memset(out_literal, 0, sizeof(*out_literal));
  out_literal->attribute = found;
  if (form->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR) {
    out_literal->tensor = found->t;
  } else if (form->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR) {
    out_literal->sparse = found->sparse_tensor;
  }
  const bool is_tensor = form->dtype == TENON_DTYPE_UNDEFINED;
  const bool is_wrong = found->has_type && found->type != form->type;
  if (is_wrong || (is_tensor && out_literal->tensor == NULL && out_literal->sparse == NULL)) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: attribute '%s' has the wrong kind",
                             tenon__onnx_node_text(reader, node), form->name);
  }
  return TENON_OK;
}

static tenon_string_view_t string_view(const ProtobufCBinaryData* bytes) {
  return (tenon_string_view_t){(const char*)bytes->data, bytes->len};
}

/* Elements that an attribute holds itself. */
static tenon_status_t read_attribute(tenon_reader_t* reader, const Onnx__AttributeProto* attribute,
                                     const char* what, tenon__onnx_tensor_t* out_tensor) {
  const constant_form_t* form = find_form(tenon__onnx_text(attribute->name));
  const size_t name_size = strlen(form->name);
  const bool is_list = form->name[name_size - 1] == 's';
  const bool is_text = form->dtype == TENON_DTYPE_STRING;
  const void* source = &attribute->f;
  size_t count = 1;
  if (form->dtype == TENON_DTYPE_FLOAT32 && is_list) {
    source = attribute->floats;
    count = attribute->n_floats;
  } else if (form->dtype == TENON_DTYPE_INT64) {
    source = is_list ? attribute->ints : &attribute->i;
    count = is_list ? attribute->n_ints : 1;
  } else if (is_text) {
    count = is_list ? attribute->n_strings : 1;
  }
  const int64_t dims[1] = {(int64_t)count};
  TENON_READER_TRY(tenon__onnx_tensor_shape(reader, what, form->dtype, is_list, dims, out_tensor));
  out_tensor->view.data = tenon_reader_allocate(reader, out_tensor->size_bytes, 1);
  if (out_tensor->view.data == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  if (!is_text) {
    if (out_tensor->size_bytes > 0) {
      memcpy(out_tensor->view.data, source, out_tensor->size_bytes);
    }
    return TENON_OK;
  }
  tenon_string_view_t* texts = out_tensor->view.data;
  for (size_t i = 0; i < count; ++i) {
    texts[i] = string_view(is_list ? &attribute->strings[i] : &attribute->s);
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_literal_read(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                        const tenon__onnx_literal_t* literal, const char* what,
                                        tenon__onnx_tensor_t* out_tensor) {
  if (literal->tensor != NULL) {
    return tenon__onnx_tensor_read(reader, model, literal->tensor, what, out_tensor);
  }
  if (literal->sparse != NULL) {
    return tenon__onnx_tensor_read_sparse(reader, model, literal->sparse, what, out_tensor);
  }
  return read_attribute(reader, literal->attribute, what, out_tensor);
}

tenon_status_t tenon__onnx_literal_build(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                         const tenon__onnx_literal_t* literal, const char* name,
                                         tenon_value_t* out_value) {
  const char* what = tenon_reader_format(reader, "constant '%s'", name);
  if (what == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  tenon__onnx_tensor_t tensor;
  TENON_READER_TRY(tenon__onnx_literal_read(reader, model, literal, what, &tensor));
  return reader->build->constant(reader->builder, name, &tensor.view, tensor.borrowed, out_value);
}
