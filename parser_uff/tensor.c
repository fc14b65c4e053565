/* TensorFlow's TensorProto: bytes as they lie, or lists of numbers of which the last one is
 * repeated. */
#include <inttypes.h>
#include <string.h>

#include "dtype.h"
#include "graph.h"

typedef struct tensor_t {
  tenon_reader_t* reader;
  const char* node;
  const tenon__uff_message_t* message;
  tenon_dtype_t dtype;
  uint32_t rank;
  int64_t* dims;
  size_t count;
  size_t width;
} tensor_t;

static tenon_status_t fail(const tensor_t* tensor, const char* what) {
  return TENON_READER_FAIL(tensor->reader, TENON_ERROR_INVALID_DATA, "node '%s': its tensor %s",
                           tensor->node, what);
}

static tenon_status_t read_shape(tensor_t* tensor) {
  const tenon__uff_field_t* shape = tenon__uff_last(tensor->message, "tensor_shape");
  tensor->dims = tenon_reader_allocate(tensor->reader, TENON__UFF_RANK_LIMIT, sizeof(int64_t));
  tensor->count = 1;
  if (tensor->dims == NULL) {
    return tenon_reader_fail_memory(tensor->reader);
  }
  for (const tenon__uff_field_t* dim =
           shape == NULL ? NULL : tenon__uff_find(shape->message->first, "dim");
       dim != NULL; dim = tenon__uff_find(dim->next, "dim")) {
    const int64_t extent = tenon__uff_int_of(dim->message, "size", 0);
    if (tensor->rank == TENON__UFF_RANK_LIMIT || extent < 0) {
      return fail(tensor, extent < 0 ? "has an open extent" : "has more than 32 axes");
    }
    if (extent != 0 && tensor->count > (size_t)INT64_MAX / 16 / (size_t)extent) {
      return fail(tensor, "has too many elements");
    }
    tensor->dims[tensor->rank++] = extent;
    tensor->count *= (size_t)extent;
  }
  return TENON_OK;
}

/* The list that holds elements of a type; NULL: none does. */
static const char* list_of(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT32:
      return "float_val";
    case TENON_DTYPE_FLOAT64:
      return "double_val";
    case TENON_DTYPE_FLOAT16:
    case TENON_DTYPE_BFLOAT16:
      return "half_val";
    case TENON_DTYPE_INT64:
      return "int64_val";
    case TENON_DTYPE_BOOL:
      return "bool_val";
    case TENON_DTYPE_UINT32:
      return "uint32_val";
    case TENON_DTYPE_UINT64:
      return "uint64_val";
    case TENON_DTYPE_INT8:
    case TENON_DTYPE_UINT8:
    case TENON_DTYPE_INT16:
    case TENON_DTYPE_UINT16:
    case TENON_DTYPE_INT32:
      return "int_val";
    default:
      return NULL;
  }
}

static void store(const tensor_t* tensor, const int64_t* ints, const double* floats, size_t index,
                  uint8_t* out) {
  if (floats == NULL) {
    memcpy(out, &ints[index], tensor->width); /* little-endian: the low bytes */
  } else if (tensor->width == 8) {
    memcpy(out, &floats[index], 8);
  } else {
    const float value = (float)floats[index];
    memcpy(out, &value, 4);
  }
}

/* Fewer numbers than elements: the last one fills the rest; none: zeros. */
static tenon_status_t read_list(const tensor_t* tensor, const char* name, uint8_t** out_data) {
  int64_t* ints = NULL;
  double* floats = NULL;
  size_t found = 0;
  TENON_READER_TRY(
      tenon__uff_numbers(tensor->reader, tensor->message, name, &ints, &floats, &found));
  if (found > tensor->count) {
    return fail(tensor, "has more numbers than elements");
  }
  TENON_READER_TRY(tenon_reader_spend(tensor->reader, tensor->count, tensor->width));
  uint8_t* data = tenon_reader_allocate(tensor->reader, tensor->count, tensor->width);
  if (data == NULL) {
    return tenon_reader_fail_memory(tensor->reader);
  }
  if (found > 0) {
    for (size_t i = 0; i < tensor->count; ++i) {
      store(tensor, ints, floats, i < found ? i : found - 1, data + i * tensor->width);
    }
  }
  *out_data = data;
  return TENON_OK;
}

tenon_status_t tenon__uff_tensor_read(tenon_reader_t* reader, const char* node,
                                      const tenon__uff_message_t* message,
                                      tenon__uff_attribute_t* out_attribute) {
  tensor_t tensor = {.reader = reader, .node = node, .message = message};
  tensor.dtype = tenon__uff_dtype(tenon__uff_last(message, "dtype"), true);
  tensor.width = tenon__uff_dtype_size(tensor.dtype);
  if (tensor.width == 0) {
    return TENON_OK; /* no kind: who asks for it finds nothing */
  }
  TENON_READER_TRY(read_shape(&tensor));
  const tenon__uff_field_t* content = tenon__uff_last(message, "tensor_content");
  const char* list = list_of(tensor.dtype);
  uint8_t* data = NULL;
  if (content != NULL && content->size > 0) {
    if (content->size != tensor.count * tensor.width) {
      return TENON_READER_FAIL(
          reader, TENON_ERROR_INVALID_DATA,
          "node '%s': its tensor has %zu elements of %zu bytes and %zu bytes of content", node,
          tensor.count, tensor.width, content->size);
    }
    out_attribute->tensor.data = tenon_reader_unconst(content->bytes);
    out_attribute->is_borrowed = !tenon__uff_is_in_text(content->place);
  } else if (list == NULL) {
    return TENON_OK;
  } else {
    TENON_READER_TRY(read_list(&tensor, list, &data));
    out_attribute->tensor.data = data;
  }
  out_attribute->kind = TENON_FIELD_TENSOR;
  out_attribute->tensor.dims = tensor.dims;
  out_attribute->tensor.rank = tensor.rank;
  out_attribute->tensor.dtype = tensor.dtype;
  out_attribute->tensor.layout = TENON_NONE;
  return TENON_OK;
}
