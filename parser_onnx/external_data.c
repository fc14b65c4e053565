/* Elements in a file beside the model: entries location, offset, length; others (checksum) are not
 * needed. */
#include <inttypes.h>
#include <string.h>

#include "tensor.h"
#include "types.h"

static const char* entry(const Onnx__TensorProto* proto, const char* key) {
  for (size_t i = 0; i < proto->n_external_data; ++i) {
    if (strcmp(tenon__onnx_text(proto->external_data[i]->key), key) == 0) {
      return tenon__onnx_text(proto->external_data[i]->value);
    }
  }
  return NULL;
}

/* A decimal number, digits alone. */
static bool read_number(const char* text, size_t* out_value) {
  size_t value = 0;
  if (text[0] == '\0') {
    return false;
  }
  for (; *text != '\0'; ++text) {
    const size_t digit = (size_t)((uint8_t)*text - (uint8_t)'0');
    if (digit > 9 || value > (SIZE_MAX - digit) / 10) {
      return false;
    }
    value = value * 10 + digit;
  }
  *out_value = value;
  return true;
}

/* The key of an entry that stands there twice: which of them counts is not said. */
static const char* find_repeated(const Onnx__TensorProto* proto) {
  static const char* const keys[] = {"location", "offset", "length"};
  for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); ++k) {
    size_t count = 0;
    for (size_t i = 0; i < proto->n_external_data; ++i) {
      const char* key = proto->external_data[i]->key;
      count += key != NULL && strcmp(key, keys[k]) == 0 ? 1 : 0;
    }
    if (count > 1) {
      return keys[k];
    }
  }
  return NULL;
}

tenon_status_t tenon__onnx_external_data_read(tenon_reader_t* reader,
                                              const Onnx__TensorProto* proto, const char* what,
                                              tenon__onnx_tensor_t* tensor) {
  const char* location = entry(proto, "location");
  const char* offset_text = entry(proto, "offset");
  const char* length_text = entry(proto, "length");
  size_t offset = 0;
  size_t length = tensor->size_bytes;
  const char* repeated = find_repeated(proto);
  if (repeated != NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: its external data has more than one %s", what, repeated);
  }
  if (tensor->view.dtype == TENON_DTYPE_STRING) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: strings cannot be external data", what);
  }
  if (location == NULL || location[0] == '\0' ||
      (offset_text != NULL && !read_number(offset_text, &offset)) ||
      (length_text != NULL && !read_number(length_text, &length))) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: its external data has no usable location, offset or length",
                             what);
  }
  if (length != tensor->size_bytes) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: %zu elements of %s need %zu bytes, its external data has %zu",
                             what, tensor->element_count,
                             tenon__onnx_dtype_name(tensor->view.dtype), tensor->size_bytes,
                             length);
  }
  const void* file = NULL;
  size_t size = 0;
  const tenon_status_t status = reader->host->open_file(reader->parse, location, &file, &size);
  if (status != TENON_OK) {
    return TENON_READER_FAIL(reader, status, "%s: its external data '%s' cannot be read", what,
                             location);
  }
  if (offset > size || length > size - offset) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: bytes %zu to %zu of its external data '%s' are wanted, the file "
                             "has %zu",
                             what, offset, offset + length, location, size);
  }
  static const uint64_t nothing = 0;
  const uint8_t* data = file == NULL ? (const uint8_t*)&nothing : file;
  tensor->view.data = tenon_reader_unconst(data + offset);
  tensor->borrowed = true;
  return TENON_OK;
}
