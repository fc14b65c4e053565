/* See tensor_proto.h. */
#include "data/tensor_proto.h"

#include <string.h>

#include "data/file.h"
#include "data/wire.h"
#include "tenon/reader.h"
#include "text/console.h"
#include "text/memory.h"

enum { DEPTH_LIMIT = 16 };

/* Numbers of fields. */
enum {
  TENSOR_DIMS = 1,
  TENSOR_TYPE = 2,
  TENSOR_FLOATS = 4,
  TENSOR_INTS = 5,
  TENSOR_STRINGS = 6,
  TENSOR_LONGS = 7,
  TENSOR_NAME = 8,
  TENSOR_RAW = 9,
  TENSOR_DOUBLES = 10,
  TENSOR_ULONGS = 11,
  TENSOR_LOCATION = 14,
  CONTAINER_NAME = 1,
  CONTAINER_TYPE = 2, /* of what is inside: TYPE_* */
  CONTAINER_FIRST = 3,
};
enum { TYPE_TENSOR = 1, TYPE_SPARSE = 2, TYPE_SEQUENCE = 3, TYPE_MAP = 4, TYPE_OPTIONAL = 5 };

/* ONNX's numbers of element types, from 1. */
static const tenon_dtype_t onnx_types[] = {
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
enum { ONNX_TYPE_COUNT = sizeof(onnx_types) / sizeof(onnx_types[0]) };

uint32_t tool_onnx_dtype(tenon_dtype_t dtype) {
  uint32_t number = ONNX_TYPE_COUNT - 1;
  while (number > 0 && onnx_types[number] != dtype) {
    --number;
  }
  return number;
}

/* What the first pass over a tensor finds. */
typedef struct tensor_t {
  tenon_dtype_t dtype;
  uint32_t rank;
  int64_t dims[TENON_RANK_LIMIT];
  const uint8_t* raw;
  size_t raw_size;
  bool has_raw;
  bool is_external;
  const uint8_t* name;
  size_t name_size;
} tensor_t;

static bool add_dim(tensor_t* tensor, uint64_t value) {
  if (tensor->rank == TENON_RANK_LIMIT || value > INT64_MAX) {
    return false;
  }
  tensor->dims[tensor->rank++] = (int64_t)value;
  return true;
}

static bool read_dims(const tenon_reader_record_t* field, tensor_t* tensor) {
  uint64_t value = field->value;
  if (field->wire == TENON_READER_WIRE_VARINT) {
    return add_dim(tensor, value);
  }
  const uint8_t* at = field->data;
  const uint8_t* end = at + field->size;
  while (at < end) {
    if (!tenon_reader_read_varint(&at, end, &value) || !add_dim(tensor, value)) {
      return false;
    }
  }
  return field->wire == TENON_READER_WIRE_LENGTH;
}

static bool read_head_field(const tenon_reader_record_t* field, tensor_t* tensor) {
  switch (field->number) {
    case TENSOR_DIMS:
      return read_dims(field, tensor);
    case TENSOR_TYPE:
      tensor->dtype = field->wire == TENON_READER_WIRE_VARINT && field->value < ONNX_TYPE_COUNT
                          ? onnx_types[field->value]
                          : TENON_DTYPE_UNDEFINED;
      return true;
    case TENSOR_NAME:
      tensor->name = field->data;
      tensor->name_size = field->size;
      return field->wire == TENON_READER_WIRE_LENGTH;
    case TENSOR_RAW:
      tensor->raw = field->data;
      tensor->raw_size = field->size;
      tensor->has_raw = true;
      return field->wire == TENON_READER_WIRE_LENGTH;
    case TENSOR_LOCATION:
      tensor->is_external = field->value == 1;
      return true;
    default:
      return true;
  }
}

static bool read_head(const uint8_t* data, size_t size, tensor_t* out_tensor) {
  const uint8_t* end = data + size;
  *out_tensor = (tensor_t){0};
  while (data < end) {
    tenon_reader_record_t field;
    if (!tenon_reader_read_record(&data, end, &field) || !read_head_field(&field, out_tensor)) {
      return false;
    }
  }
  return true;
}

/* ---- Elements in typed fields ---- */

/* Where the next number goes. Numbers of 4 and 2 bits come a byte at a time. */
typedef struct filling_t {
  tool_value_t* value;
  uint32_t unit_bytes; /* of one number of the field */
  uint64_t unit_count; /* how many belong there */
  uint64_t done;
} filling_t;

static bool put_unit(filling_t* filling, uint64_t number) {
  if (filling->done >= filling->unit_count) {
    return false;
  }
  memcpy((uint8_t*)filling->value->data + filling->done * filling->unit_bytes, &number,
         filling->unit_bytes);
  ++filling->done;
  return true;
}

/* One occurrence of a repeated field: a number alone, or packed. */
static bool put_field(filling_t* filling, const tenon_reader_record_t* field,
                      uint32_t fixed_bytes) {
  if (field->wire == TENON_READER_WIRE_VARINT) {
    return put_unit(filling, field->value);
  }
  const uint8_t* at = field->data;
  const uint8_t* end = at + field->size;
  while (at < end) {
    uint64_t number = 0;
    if (fixed_bytes == 0 ? !tenon_reader_read_varint(&at, end, &number)
                         : (size_t)(end - at) < fixed_bytes) {
      return false;
    }
    if (fixed_bytes > 0) {
      memcpy(&number, at, fixed_bytes);
      at += fixed_bytes;
    }
    if (!put_unit(filling, number)) {
      return false;
    }
  }
  return true;
}

/* The field that holds a type's elements; *out_fixed_bytes 0: varints. */
static uint32_t field_of(tenon_dtype_t dtype, uint32_t* out_fixed_bytes) {
  *out_fixed_bytes = 0;
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
    case TENON_DTYPE_COMPLEX64:
      *out_fixed_bytes = 4;
      return TENSOR_FLOATS;
    case TENON_DTYPE_FLOAT64:
    case TENON_DTYPE_COMPLEX128:
      *out_fixed_bytes = 8;
      return TENSOR_DOUBLES;
    case TENON_DTYPE_INT64:
      return TENSOR_LONGS;
    case TENON_DTYPE_UINT32:
    case TENON_DTYPE_UINT64:
      return TENSOR_ULONGS;
    default:
      return TENSOR_INTS;
  }
}

static bool fill_numbers(const uint8_t* data, size_t size, tool_value_t* value) {
  uint32_t fixed_bytes = 0;
  const uint32_t wanted = field_of(value->dtype, &fixed_bytes);
  const uint32_t bits = tool_dtype_bits(value->dtype);
  filling_t filling = {.value = value};
  filling.unit_bytes = fixed_bytes != 0 ? fixed_bytes : bits < 8 ? 1 : bits / 8;
  filling.unit_count = value->size_bytes / filling.unit_bytes;
  const uint8_t* end = data + size;
  tenon_reader_record_t field;
  while (tenon_reader_read_record(&data, end, &field)) {
    if (field.number == wanted && !put_field(&filling, &field, fixed_bytes)) {
      return false;
    }
  }
  return filling.done == filling.unit_count;
}

static bool fill_strings(const uint8_t* data, size_t size, tool_value_t* value) {
  tenon_string_view_t* strings = value->data;
  const uint8_t* end = data + size;
  tenon_reader_record_t field;
  value->text = tool_allocate(size + 1, 1); /* all strings together are shorter than the message */
  size_t used = 0;
  uint64_t done = 0;
  while (tenon_reader_read_record(&data, end, &field)) {
    if (field.number != TENSOR_STRINGS) {
      continue;
    }
    if (done == value->count || field.wire != TENON_READER_WIRE_LENGTH) {
      return false;
    }
    memcpy(value->text + used, field.data, field.size);
    strings[done++] = (tenon_string_view_t){value->text + used, field.size};
    used += field.size;
  }
  return done == value->count;
}

/* Bytes that a tensor takes in a message, at least: so that a small file cannot ask for much
 * memory. */
static bool can_hold(const tensor_t* tensor, size_t size) {
  uint64_t count = 0;
  uint64_t bytes = 0;
  if (!tool_element_count(tensor->rank, tensor->dims, tensor->dtype, &count, &bytes)) {
    return false;
  }
  return tensor->has_raw ? tensor->raw_size == bytes
                         : (tool_dtype_bits(tensor->dtype) < 8 ? bytes : count) <= size;
}

static tenon_status_t parse_tensor(const char* name, const uint8_t* data, size_t size,
                                   tool_value_t* out_value) {
  tensor_t tensor;
  if (!read_head(data, size, &tensor)) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: not a TensorProto, or damaged", name);
  }
  if (tensor.is_external || tensor.dtype == TENON_DTYPE_UNDEFINED) {
    return tool_fail(TENON_ERROR_UNSUPPORTED, "%s: a tensor %s", name,
                     tensor.is_external ? "whose data lie in another file" : "of unknown type");
  }
  if (!can_hold(&tensor, size)) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: the tensor's extents and its data do not agree",
                     name);
  }
  tool_value_t value;
  const tenon_status_t status =
      tool_value_make(name, tensor.dtype, tensor.rank, tensor.dims, &value);
  if (status != TENON_OK) {
    return status;
  }
  bool filled = true;
  if (tensor.dtype == TENON_DTYPE_STRING) {
    filled = !tensor.has_raw && fill_strings(data, size, &value);
  } else if (tensor.has_raw) {
    memcpy(value.data, tensor.raw, (size_t)value.size_bytes);
  } else {
    filled = fill_numbers(data, size, &value);
  }
  if (!filled) {
    tool_value_free(&value);
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: the tensor's data end too early or too late",
                     name);
  }
  value.name = tool_copy_bytes((const char*)tensor.name, tensor.name_size);
  *out_value = value;
  return TENON_OK;
}

/* ---- Sequences and optionals ---- */

static tenon_status_t parse_value(const char* name, const uint8_t* data, size_t size, uint32_t kind,
                                  uint32_t depth, tool_value_t* out_value);

static uint32_t kind_of_type(uint64_t type) {
  return type == TYPE_TENSOR     ? TENON_ARGUMENT_TENSOR
         : type == TYPE_SEQUENCE ? TENON_ARGUMENT_SEQUENCE
         : type == TYPE_OPTIONAL ? TENON_ARGUMENT_OPTIONAL
                                 : TENON_ARGUMENT_ABSENT;
}

/* Field numbers of items: a sequence's are 3 tensor, 4 sparse, 5 sequence, 6 map, 7 optional; an
 * optional's the same.
 */
static tenon_status_t parse_container(const char* name, const uint8_t* data, size_t size,
                                      uint32_t kind, uint32_t depth, tool_value_t* out_value) {
  const uint8_t* end = data + size;
  tenon_reader_record_t field;
  tool_value_t value = {.kind = kind};
  size_t capacity = 0;
  tenon_status_t status = TENON_OK;
  while (status == TENON_OK && tenon_reader_read_record(&data, end, &field)) {
    const bool is_message = field.wire == TENON_READER_WIRE_LENGTH;
    if (field.number == CONTAINER_NAME && is_message && value.name == NULL) {
      value.name = tool_copy_bytes((const char*)field.data, field.size);
    }
    if (field.number < CONTAINER_FIRST) {
      continue;
    }
    const uint32_t item_kind = kind_of_type(field.number - CONTAINER_FIRST + 1);
    if (item_kind == TENON_ARGUMENT_ABSENT || !is_message) {
      status = tool_fail(TENON_ERROR_UNSUPPORTED, "%s: holds sparse tensors, maps or worse", name);
      break;
    }
    value.items = tool_grow(value.items, &capacity, value.item_count + 1, sizeof(*value.items));
    status = parse_value(name, field.data, field.size, item_kind, depth + 1,
                         &value.items[value.item_count]);
    value.item_count += status == TENON_OK ? 1 : 0;
  }
  const bool too_many = kind != TENON_ARGUMENT_SEQUENCE && value.item_count > 1;
  if (status == TENON_OK && (data < end || too_many)) {
    status = tool_fail(TENON_ERROR_INVALID_DATA, "%s: not a %s, or damaged", name,
                       kind == TENON_ARGUMENT_SEQUENCE ? "SequenceProto" : "OptionalProto");
  }
  if (status != TENON_OK) {
    tool_value_free(&value);
    return status;
  }
  *out_value = value;
  return TENON_OK;
}

static tenon_status_t parse_value(const char* name, const uint8_t* data, size_t size, uint32_t kind,
                                  uint32_t depth, tool_value_t* out_value) {
  if (depth > DEPTH_LIMIT) {
    return tool_fail(TENON_ERROR_INVALID_DATA, "%s: nested too deeply", name);
  }
  return kind == TENON_ARGUMENT_TENSOR ? parse_tensor(name, data, size, out_value)
                                       : parse_container(name, data, size, kind, depth, out_value);
}

tenon_status_t tool_tensor_proto_parse(const char* name, const uint8_t* data, size_t size,
                                       uint32_t kind, tool_value_t* out_value) {
  return parse_value(name, data, size, kind, 0, out_value);
}

bool tool_tensor_proto_peek(const uint8_t* data, size_t size, char** out_name,
                            tenon_dtype_t* out_dtype, uint32_t* out_rank, int64_t out_dims[64]) {
  tensor_t tensor;
  if (!read_head(data, size, &tensor) || tensor.dtype == TENON_DTYPE_UNDEFINED ||
      !can_hold(&tensor, size)) {
    return false;
  }
  *out_name = tool_copy_bytes((const char*)tensor.name, tensor.name_size);
  *out_dtype = tensor.dtype;
  *out_rank = tensor.rank;
  memcpy(out_dims, tensor.dims, sizeof(tensor.dims));
  return true;
}

/* ---- Writing ---- */

static void write_value(tool_wire_writer_t* writer, const tool_value_t* value) {
  if (value->kind == TENON_ARGUMENT_TENSOR) {
    for (uint32_t k = 0; k < value->rank; ++k) {
      tool_wire_put_varint(writer, TENSOR_DIMS, (uint64_t)value->dims[k]);
    }
    tool_wire_put_varint(writer, TENSOR_TYPE, tool_onnx_dtype(value->dtype));
    if (value->name != NULL) {
      tool_wire_put_bytes(writer, TENSOR_NAME, value->name, strlen(value->name));
    }
    const tenon_string_view_t* strings = value->data;
    if (value->dtype == TENON_DTYPE_STRING) {
      for (uint64_t i = 0; i < value->count; ++i) {
        tool_wire_put_bytes(writer, TENSOR_STRINGS, strings[i].data, strings[i].size);
      }
    } else {
      tool_wire_put_bytes(writer, TENSOR_RAW, value->data, (size_t)value->size_bytes);
    }
    return;
  }
  if (value->name != NULL) {
    tool_wire_put_bytes(writer, CONTAINER_NAME, value->name, strlen(value->name));
  }
  for (size_t i = 0; i < value->item_count; ++i) {
    const uint32_t kind = value->items[i].kind;
    const uint32_t type = kind == TENON_ARGUMENT_TENSOR     ? TYPE_TENSOR
                          : kind == TENON_ARGUMENT_SEQUENCE ? TYPE_SEQUENCE
                                                            : TYPE_OPTIONAL;
    tool_wire_writer_t item = {0};
    if (i == 0) {
      tool_wire_put_varint(writer, CONTAINER_TYPE, type);
    }
    write_value(&item, &value->items[i]);
    tool_wire_put_bytes(writer, CONTAINER_FIRST + type - 1, item.data, item.size);
    tool_free(item.data);
  }
}

tenon_status_t tool_tensor_proto_write(const char* path, const tool_value_t* value) {
  tool_wire_writer_t writer = {0};
  write_value(&writer, value);
  const tenon_status_t status = tool_file_write(path, writer.data, writer.size);
  tool_free(writer.data);
  return status;
}
