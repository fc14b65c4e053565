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

static tenon_status_t open_file(tenon__onnx_context_t* context, const char* path, const char* what,
                                const tenon__onnx_file_t** out_file) {
  for (const tenon__onnx_file_t* file = context->files; file != NULL; file = file->next) {
    if (strcmp(file->path, path) == 0) {
      *out_file = file;
      return TENON_OK;
    }
  }
  tenon__onnx_file_t* file = tenon__onnx_allocate(context, 1, sizeof(*file));
  if (file == NULL) {
    return ONNX_FAIL_MEMORY(context);
  }
  file->path = path;
  const tenon_status_t status =
      context->host->open_file(context->parse, path, &file->data, &file->size);
  if (status != TENON_OK) {
    return ONNX_FAIL(context, status, "%s: its external data '%s' cannot be read", what, path);
  }
  file->next = context->files;
  context->files = file;
  *out_file = file;
  return TENON_OK;
}

tenon_status_t tenon__onnx_external_data_read(tenon__onnx_context_t* context,
                                              const Onnx__TensorProto* proto, const char* what,
                                              tenon__onnx_tensor_t* tensor) {
  const char* location = entry(proto, "location");
  const char* offset_text = entry(proto, "offset");
  const char* length_text = entry(proto, "length");
  size_t offset = 0;
  size_t length = tensor->size_bytes;
  if (tensor->view.dtype == TENON_DTYPE_STRING) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA, "%s: strings cannot be external data",
                     what);
  }
  if (location == NULL || location[0] == '\0' ||
      (offset_text != NULL && !read_number(offset_text, &offset)) ||
      (length_text != NULL && !read_number(length_text, &length))) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA,
                     "%s: its external data has no usable location, offset or length", what);
  }
  if (length != tensor->size_bytes) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA,
                     "%s: %zu elements of %s need %zu bytes, its external data has %zu", what,
                     tensor->element_count, tenon__onnx_dtype_name(tensor->view.dtype),
                     tensor->size_bytes, length);
  }
  const tenon__onnx_file_t* file = NULL;
  ONNX_TRY(open_file(context, location, what, &file));
  if (offset > file->size || length > file->size - offset) {
    return ONNX_FAIL(context, TENON_ERROR_INVALID_DATA,
                     "%s: bytes %zu to %zu of its external data '%s' are wanted, the file "
                     "has %zu",
                     what, offset, offset + length, location, file->size);
  }
  static const uint64_t nothing = 0;
  const uint8_t* data = file->data == NULL ? (const uint8_t*)&nothing : file->data;
  tensor->view.data = tenon__onnx_unconst(data + offset);
  tensor->borrowed = true;
  return TENON_OK;
}
