/* Tables of element types, and TypeProto as a type of the contract. */
#include "types.h"

#include <inttypes.h>
#include <string.h>

/* In the order of TensorProto.DataType. */
static const uint8_t dtypes[] = {
    TENON_DTYPE_UNDEFINED,      TENON_DTYPE_FLOAT32,    TENON_DTYPE_UINT8,
    TENON_DTYPE_INT8,           TENON_DTYPE_UINT16,     TENON_DTYPE_INT16,
    TENON_DTYPE_INT32,          TENON_DTYPE_INT64,      TENON_DTYPE_STRING,
    TENON_DTYPE_BOOL,           TENON_DTYPE_FLOAT16,    TENON_DTYPE_FLOAT64,
    TENON_DTYPE_UINT32,         TENON_DTYPE_UINT64,     TENON_DTYPE_COMPLEX64,
    TENON_DTYPE_COMPLEX128,     TENON_DTYPE_BFLOAT16,   TENON_DTYPE_FLOAT8E4M3FN,
    TENON_DTYPE_FLOAT8E4M3FNUZ, TENON_DTYPE_FLOAT8E5M2, TENON_DTYPE_FLOAT8E5M2FNUZ,
    TENON_DTYPE_UINT4,          TENON_DTYPE_INT4,       TENON_DTYPE_FLOAT4E2M1,
    TENON_DTYPE_FLOAT8E8M0,     TENON_DTYPE_UINT2,      TENON_DTYPE_INT2,
};

#define DTYPE_NAME(name, mnemonic, bits, kind) mnemonic,
#define DTYPE_BITS(name, mnemonic, bits, kind) bits,

tenon_dtype_t tenon__onnx_dtype(int64_t data_type) {
  const int64_t count = (int64_t)(sizeof(dtypes) / sizeof(dtypes[0]));
  return data_type >= 0 && data_type < count ? dtypes[data_type] : TENON_DTYPE_UNDEFINED;
}

const char* tenon__onnx_dtype_name(tenon_dtype_t dtype) {
  static const char* const names[] = {TENON_DTYPES(DTYPE_NAME)};
  return dtype < TENON_DTYPE_COUNT ? names[dtype] : "unknown";
}

uint32_t tenon__onnx_dtype_bits(tenon_dtype_t dtype) {
  static const uint8_t bits[] = {TENON_DTYPES(DTYPE_BITS)};
  return dtype < TENON_DTYPE_COUNT ? bits[dtype] : 0;
}

static tenon_status_t read_shape(tenon_reader_t* reader, const Onnx__TensorShapeProto* shape,
                                 const char* what, tenon__onnx_type_t* out_type) {
  out_type->rank = TENON_NONE;
  if (shape == NULL) {
    return TENON_OK;
  }
  if (shape->n_dim > TENON_RANK_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s has %zu dimensions, more than %d", what, shape->n_dim,
                             TENON_RANK_LIMIT);
  }
  out_type->rank = (uint32_t)shape->n_dim;
  out_type->dims = tenon_reader_allocate(reader, shape->n_dim, sizeof(int64_t));
  out_type->symbols = tenon_reader_allocate(reader, shape->n_dim, sizeof(const char*));
  if (out_type->dims == NULL || out_type->symbols == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < shape->n_dim; ++i) {
    const Onnx__TensorShapeProto__Dimension* dim = shape->dim[i];
    out_type->dims[i] = -1;
    if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE) {
      out_type->dims[i] = dim->dim_value < 0 ? -1 : dim->dim_value;
    } else if (dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM) {
      const char* symbol = tenon__onnx_text(dim->dim_param);
      out_type->symbols[i] = symbol[0] == '\0' ? NULL : symbol;
    }
  }
  return TENON_OK;
}

static tenon_status_t read_tensor(tenon_reader_t* reader, const Onnx__TypeProto__Tensor* tensor,
                                  const char* what, tenon__onnx_type_t* out_type) {
  out_type->dtype = tenon__onnx_dtype(tensor->elem_type);
  if (out_type->dtype == TENON_DTYPE_UNDEFINED) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s has no element type (%d)", what,
                             (int)tensor->elem_type);
  }
  return read_shape(reader, tensor->shape, what, out_type);
}

/* The values, a row for each map. */
static tenon_status_t read_map(tenon_reader_t* reader, const Onnx__TypeProto__Map* map,
                               const char* what, tenon__onnx_type_t* out_type) {
  const Onnx__TypeProto* values = map->value_type;
  if (values == NULL || values->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) {
    return TENON_READER_FAIL(
        reader, TENON_ERROR_UNSUPPORTED,
        "%s is a map, whose values are no tensors: maps of numbers and of strings are "
        "supported",
        what);
  }
  TENON_READER_TRY(read_tensor(reader, values->tensor_type, what, out_type));
  out_type->is_map = true;
  out_type->rank = 2;
  out_type->dims = tenon_reader_allocate(reader, 2, sizeof(int64_t));
  out_type->symbols = tenon_reader_allocate(reader, 2, sizeof(const char*));
  if (out_type->dims == NULL || out_type->symbols == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  out_type->dims[0] = -1;
  out_type->dims[1] = -1;
  out_type->kind = TENON_ARGUMENT_TENSOR;
  return TENON_OK;
}

static tenon_status_t refuse_nesting(tenon_reader_t* reader, const char* what) {
  return TENON_READER_FAIL(
      reader, TENON_ERROR_UNSUPPORTED,
      "%s is a container of containers; sequences and optionals of tensors, and "
      "optionals of such sequences, are supported",
      what);
}

tenon_status_t tenon__onnx_type_read(tenon_reader_t* reader, const Onnx__TypeProto* type,
                                     const char* what, tenon__onnx_type_t* out_type) {
  memset(out_type, 0, sizeof(*out_type));
  out_type->kind = TENON_ARGUMENT_TENSOR;
  const Onnx__TypeProto* element = type;
  for (uint32_t kind = TENON_ARGUMENT_TENSOR; element != NULL; out_type->kind = kind) {
    switch (element->value_case) {
      case ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE:
        return read_tensor(reader, element->tensor_type, what, out_type);
      case ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE:
        if (kind == TENON_ARGUMENT_TENSOR || kind == TENON_ARGUMENT_OPTIONAL) {
          kind = kind == TENON_ARGUMENT_TENSOR ? TENON_ARGUMENT_SEQUENCE
                                               : TENON_ARGUMENT_OPTIONAL_SEQUENCE;
          element = element->sequence_type->elem_type;
          break;
        }
        return refuse_nesting(reader, what);
      case ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE:
        if (kind == TENON_ARGUMENT_TENSOR) {
          kind = TENON_ARGUMENT_OPTIONAL;
          element = element->optional_type->elem_type;
          break;
        }
        return refuse_nesting(reader, what);
      case ONNX__TYPE_PROTO__VALUE_MAP_TYPE:
        if (kind == TENON_ARGUMENT_TENSOR || kind == TENON_ARGUMENT_SEQUENCE) {
          return read_map(reader, element->map_type, what, out_type);
        }
        return TENON_READER_FAIL(
            reader, TENON_ERROR_UNSUPPORTED,
            "%s is an optional of maps; maps and sequences of them are supported", what);
      case ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE:
        return TENON_READER_FAIL(
            reader, TENON_ERROR_UNSUPPORTED,
            "%s is a sparse tensor; tensors, sequences and optionals are supported", what);
      default:
        return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s has no type", what);
    }
  }
  return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED, "%s has no element type", what);
}

/* Fills open extents with those that the caller gave. */
static tenon_status_t ask_host(tenon_reader_t* reader, const char* name, tenon__onnx_type_t* type) {
  bool open = type->rank == TENON_NONE;
  for (uint32_t i = 0; !open && i < type->rank; ++i) {
    open = type->dims[i] < 0;
  }
  if (!open) {
    return TENON_OK;
  }
  uint32_t rank = 0;
  const int64_t* dims = NULL;
  const tenon_status_t status = reader->host->input_shape(reader->parse, name, &rank, &dims);
  if (status == TENON_ERROR_NOT_FOUND) {
    if (type->rank != TENON_NONE) {
      return TENON_OK;
    }
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT,
                             "input '%s' (%s) has no shape in the file: give one, for example "
                             "%s:1x3x224x224, with ? for what varies",
                             name, tenon__onnx_dtype_name(type->dtype), name);
  }
  TENON_READER_TRY(status);
  if (rank > TENON_RANK_LIMIT || (type->rank != TENON_NONE && rank != type->rank)) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT,
                             "input '%s' has rank %u in the file, the shape given has %u", name,
                             type->rank, rank);
  }
  if (type->rank == TENON_NONE) {
    type->rank = rank;
    type->dims = tenon_reader_allocate(reader, rank, sizeof(int64_t));
    type->symbols = tenon_reader_allocate(reader, rank, sizeof(const char*));
    if (type->dims == NULL || type->symbols == NULL) {
      return tenon_reader_fail_memory(reader);
    }
    for (uint32_t i = 0; i < rank; ++i) {
      type->dims[i] = -1;
    }
  }
  for (uint32_t i = 0; i < rank; ++i) {
    if (type->dims[i] >= 0 && dims[i] >= 0 && type->dims[i] != dims[i]) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_ARGUMENT,
                               "input '%s': dimension %u is %" PRId64
                               " in the file, the shape given says %" PRId64,
                               name, i, type->dims[i], dims[i]);
    }
    type->dims[i] = type->dims[i] >= 0 ? type->dims[i] : dims[i];
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_type_input(tenon_reader_t* reader, const char* name,
                                      tenon__onnx_type_t* type, tenon_value_t* out_value) {
  if (type->kind != TENON_ARGUMENT_TENSOR) {
    return reader->build->input_container(reader->builder, name, type->kind, type->dtype,
                                          type->rank, type->dims, out_value);
  }
  TENON_READER_TRY(ask_host(reader, name, type));
  return reader->build->input(reader->builder, name, type->dtype, type->rank, type->dims,
                              type->symbols, out_value);
}
