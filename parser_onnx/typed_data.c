/* The typed fields of a TensorProto. Each holds several element types: int32_data those of up to 32
 * bits, their bits widened, with 4-bit and 2-bit elements packed in bytes first; float_data and
 * double_data complex numbers too, as pairs. */
#include <inttypes.h>
#include <string.h>

#include "tensor.h"
#include "types.h"

enum {
  FLOAT_DATA = 4,
  INT32_DATA = 5,
  STRING_DATA = 6,
  INT64_DATA = 7,
  DOUBLE_DATA = 10,
  UINT64_DATA = 11
};

/* How elements of one type lie in their field. */
typedef struct storage_t {
  uint32_t field;
  uint32_t width; /* bytes that one number of the field becomes */
  size_t numbers; /* how many the tensor needs */
  bool is_fixed;  /* numbers lie in the file as they are in memory */
} storage_t;

static storage_t storage_of(const tenon__onnx_tensor_t* tensor) {
  const size_t count = tensor->element_count;
  const uint32_t bits = tenon__onnx_dtype_bits(tensor->view.dtype);
  switch (tensor->view.dtype) {
    case TENON_DTYPE_FLOAT32:
      return (storage_t){FLOAT_DATA, 4, count, true};
    case TENON_DTYPE_COMPLEX64:
      return (storage_t){FLOAT_DATA, 4, count * 2, true};
    case TENON_DTYPE_FLOAT64:
      return (storage_t){DOUBLE_DATA, 8, count, true};
    case TENON_DTYPE_COMPLEX128:
      return (storage_t){DOUBLE_DATA, 8, count * 2, true};
    case TENON_DTYPE_INT64:
      return (storage_t){INT64_DATA, 8, count, false};
    case TENON_DTYPE_UINT64:
    case TENON_DTYPE_UINT32:
      return (storage_t){UINT64_DATA, bits / 8, count, false};
    case TENON_DTYPE_STRING:
      return (storage_t){STRING_DATA, (uint32_t)sizeof(tenon_string_view_t), count, false};
    default:
      return (storage_t){INT32_DATA, bits < 8 ? 1 : bits / 8, bits < 8 ? tensor->size_bytes : count,
                         false};
  }
}

/* Reads the next number of a chunk. A number is at *out_data (fixed, string) or in *out_value. */
static bool next_number(const storage_t* storage, const tenon__onnx_chunk_t* chunk,
                        const uint8_t** inout_data, uint64_t* out_value, const uint8_t** out_data) {
  const uint8_t* end = chunk->data + chunk->size;
  uint64_t ignored = 0;
  if (!chunk->packed && !tenon_reader_read_varint(inout_data, end, &ignored)) {
    return false; /* the tag */
  }
  if (storage->is_fixed) {
    if ((size_t)(end - *inout_data) < storage->width) {
      return false;
    }
    *out_data = *inout_data;
    *inout_data += storage->width;
    return true;
  }
  if (!tenon_reader_read_varint(inout_data, end, out_value)) {
    return false;
  }
  if (storage->field != STRING_DATA) {
    return true;
  }
  *out_data = *inout_data;
  if (*out_value > (uint64_t)(end - *inout_data)) {
    return false;
  }
  *inout_data += *out_value;
  return true;
}

static void store(const storage_t* storage, uint8_t* target, uint64_t value, const uint8_t* data) {
  if (storage->is_fixed) {
    memcpy(target, data, storage->width);
  } else if (storage->field == STRING_DATA) {
    const tenon_string_view_t text = {(const char*)data, (size_t)value};
    memcpy(target, &text, sizeof(text));
  } else {
    memcpy(target, &value, storage->width); /* little-endian: the low bytes */
  }
}

/* Counts the numbers (target NULL), or decodes them as well. False when a chunk is broken. */
static bool walk(const storage_t* storage, const tenon__onnx_payload_t* payload, uint8_t* target,
                 size_t* out_count) {
  size_t count = 0;
  for (const tenon__onnx_chunk_t* chunk = payload->chunks; chunk != NULL; chunk = chunk->next) {
    if (chunk->field != storage->field) {
      continue;
    }
    const uint8_t* position = chunk->data;
    while (position < chunk->data + chunk->size) {
      uint64_t value = 0;
      const uint8_t* data = NULL;
      if (!next_number(storage, chunk, &position, &value, &data)) {
        return false;
      }
      if (target != NULL) {
        store(storage, target + count * storage->width, value, data);
      }
      ++count;
    }
  }
  *out_count = count;
  return true;
}

/* The one packed chunk that holds all elements as they are in memory, or NULL. */
static const tenon__onnx_chunk_t* borrowable(const storage_t* storage,
                                             const tenon__onnx_payload_t* payload,
                                             size_t size_bytes) {
  const tenon__onnx_chunk_t* found = NULL;
  for (const tenon__onnx_chunk_t* chunk = payload->chunks; chunk != NULL; chunk = chunk->next) {
    if (chunk->field == storage->field) {
      if (found != NULL || !storage->is_fixed || !chunk->packed || chunk->size != size_bytes) {
        return NULL;
      }
      found = chunk;
    }
  }
  return found;
}

tenon_status_t tenon__onnx_typed_data_read(tenon_reader_t* reader,
                                           const tenon__onnx_payload_t* payload, const char* what,
                                           tenon__onnx_tensor_t* tensor) {
  const storage_t storage = storage_of(tensor);
  const tenon__onnx_chunk_t* whole = borrowable(&storage, payload, tensor->size_bytes);
  if (whole != NULL) {
    tensor->view.data = tenon_reader_unconst(whole->data);
    tensor->borrowed = true;
    return TENON_OK;
  }
  size_t count = 0;
  if (!walk(&storage, payload, NULL, &count)) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: its elements are malformed",
                             what);
  }
  if (count != storage.numbers) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: its shape asks for %zu numbers of %s, the file holds %zu", what,
                             storage.numbers, tenon__onnx_dtype_name(tensor->view.dtype), count);
  }
  uint8_t* data = tenon_reader_allocate(reader, count, storage.width);
  if (data == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  (void)walk(&storage, payload, data, &count);
  tensor->view.data = data;
  tensor->borrowed = false;
  return TENON_OK;
}
