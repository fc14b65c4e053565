/* A tensor as a view of its bytes. Elements are copied only if they are packed differently in
 * memory. */
#include "tensor.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "types.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "elements are used as they lie in the file, which is little-endian"
#endif

enum { RAW_DATA = 9, EXTERNAL = 1 };

static const size_t sparse_size_limit = (size_t)1 << 31;

tenon_status_t tenon__onnx_tensor_shape(tenon_reader_t* reader, const char* what,
                                        tenon_dtype_t dtype, size_t rank, const int64_t* dims,
                                        tenon__onnx_tensor_t* out_tensor) {
  memset(out_tensor, 0, sizeof(*out_tensor));
  if (rank > TENON_RANK_LIMIT) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s has %zu dimensions, more than %d", what, rank, TENON_RANK_LIMIT);
  }
  int64_t* copies = tenon_reader_allocate(reader, 2 * rank, sizeof(int64_t));
  if (copies == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  const uint32_t bits = tenon__onnx_dtype_bits(dtype);
  int64_t count = 1;
  bool overflows = false;
  for (size_t i = rank; i > 0; --i) {
    const int64_t dim = dims[i - 1];
    if (dim < 0) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s has extent %" PRId64, what,
                               dim);
    }
    copies[i - 1] = dim;
    copies[rank + i - 1] = count;
    const int64_t limit = (INT64_MAX / 256) / (dim == 0 ? 1 : dim);
    overflows = overflows || count > limit;
    count = overflows ? 0 : count * dim;
  }
  if (overflows) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: its extents overflow", what);
  }
  out_tensor->element_count = (size_t)count;
  out_tensor->size_bytes = ((size_t)count * bits + 7) / 8;
  out_tensor->view = (tenon_tensor_view_t){.dims = copies,
                                           .strides = copies + rank,
                                           .rank = (uint32_t)rank,
                                           .dtype = dtype,
                                           .layout = TENON_NONE};
  return TENON_OK;
}

bool tenon__onnx_tensor_is_aligned(const tenon__onnx_tensor_t* tensor) {
  const uint32_t bits = tenon__onnx_dtype_bits(tensor->view.dtype);
  const uint32_t width = bits >= 128 || bits <= 8 ? bits / 16 : bits / 8; /* c128: two f64 */
  return width < 2 || (uintptr_t)tensor->view.data % width == 0;
}

tenon_status_t tenon__onnx_tensor_align(tenon_reader_t* reader, tenon__onnx_tensor_t* tensor) {
  if (tenon__onnx_tensor_is_aligned(tensor)) {
    return TENON_OK;
  }
  void* copy = tenon_reader_allocate(reader, tensor->size_bytes, 1);
  if (copy == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  memcpy(copy, tensor->view.data, tensor->size_bytes);
  tensor->view.data = copy;
  tensor->borrowed = false;
  return TENON_OK;
}

/* A bool other than 0 and 1 is made 1. */
static tenon_status_t clean_bools(tenon_reader_t* reader, tenon__onnx_tensor_t* tensor) {
  const uint8_t* data = tensor->view.data;
  bool clean = true;
  for (size_t i = 0; clean && i < tensor->size_bytes; ++i) {
    clean = data[i] <= 1;
  }
  if (clean) {
    return TENON_OK;
  }
  uint8_t* copy = tenon_reader_allocate(reader, tensor->size_bytes, 1);
  if (copy == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  for (size_t i = 0; i < tensor->size_bytes; ++i) {
    copy[i] = data[i] != 0;
  }
  tensor->view.data = copy;
  tensor->borrowed = false;
  return TENON_OK;
}

static tenon_status_t wrong_size(tenon_reader_t* reader, const char* what,
                                 const tenon__onnx_tensor_t* tensor, size_t found) {
  return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                           "%s: %zu elements of %s need %zu bytes, the file holds %zu", what,
                           tensor->element_count, tenon__onnx_dtype_name(tensor->view.dtype),
                           tensor->size_bytes, found);
}

/* TENON_OK with data NULL: there is no raw data. */
static tenon_status_t read_raw(tenon_reader_t* reader, const tenon__onnx_payload_t* payload,
                               const char* what, tenon__onnx_tensor_t* tensor) {
  const tenon__onnx_chunk_t* raw = NULL;
  for (const tenon__onnx_chunk_t* chunk = payload->chunks; chunk != NULL; chunk = chunk->next) {
    raw = chunk->field == RAW_DATA ? chunk : raw; /* the last one counts */
  }
  /* Empty raw data beside typed data is how some writers say "none". */
  if (raw == NULL || (raw->size == 0 && tensor->size_bytes > 0 && payload->chunks->next != NULL)) {
    return TENON_OK;
  }
  if (tensor->view.dtype == TENON_DTYPE_STRING) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s: strings cannot be raw data",
                             what);
  }
  if (raw->size != tensor->size_bytes) {
    return wrong_size(reader, what, tensor, raw->size);
  }
  tensor->view.data = tenon_reader_unconst(raw->data);
  tensor->borrowed = true;
  return TENON_OK;
}

static tenon_status_t read_elements(tenon_reader_t* reader, const tenon__onnx_payload_t* payload,
                                    const Onnx__TensorProto* proto, const char* what,
                                    tenon__onnx_tensor_t* tensor) {
  if (proto->has_data_location && (int)proto->data_location == EXTERNAL) {
    TENON_READER_TRY(tenon__onnx_external_data_read(reader, proto, what, tensor));
  } else {
    TENON_READER_TRY(read_raw(reader, payload, what, tensor));
    if (tensor->view.data == NULL) {
      TENON_READER_TRY(tenon__onnx_typed_data_read(reader, payload, what, tensor));
    }
  }
  return tensor->view.dtype == TENON_DTYPE_BOOL ? clean_bools(reader, tensor) : TENON_OK;
}

tenon_status_t tenon__onnx_tensor_read(tenon_reader_t* reader, const tenon__onnx_model_t* model,
                                       const Onnx__TensorProto* proto, const char* what,
                                       tenon__onnx_tensor_t* out_tensor) {
  const tenon_dtype_t dtype = tenon__onnx_dtype(proto->data_type);
  if (dtype == TENON_DTYPE_UNDEFINED) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s has element type %d, which does not exist", what,
                             (int)proto->data_type);
  }
  const tenon__onnx_payload_t* payload = tenon__onnx_model_payload(model, proto);
  if (payload->has_segment) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s is a segment of a larger tensor; segments are not supported",
                             what);
  }
  tenon__onnx_tensor_t tensor;
  TENON_READER_TRY(
      tenon__onnx_tensor_shape(reader, what, dtype, proto->n_dims, proto->dims, &tensor));
  TENON_READER_TRY(read_elements(reader, payload, proto, what, &tensor));
  *out_tensor = tensor;
  return TENON_OK;
}

/* Where the index row `row` of a sparse tensor points to, -1 when outside. indices: [count] or
 * [count, rank]. */
static int64_t sparse_place(const tenon__onnx_tensor_t* dense, const tenon__onnx_tensor_t* indices,
                            size_t row) {
  const uint8_t* data = indices->view.data;
  const size_t width = indices->view.rank == 1 ? 1 : dense->view.rank;
  int64_t place = 0;
  for (size_t i = 0; i < width; ++i) {
    int64_t index = 0;
    memcpy(&index, data + (row * width + i) * sizeof(index), sizeof(index));
    const int64_t limit =
        indices->view.rank == 1 ? (int64_t)dense->element_count : dense->view.dims[i];
    if (index < 0 || index >= limit) {
      return -1;
    }
    place += indices->view.rank == 1 ? index : index * dense->view.strides[i];
  }
  return place;
}

/* Checks what a sparse tensor is made of. */
static tenon_status_t check_sparse(tenon_reader_t* reader, const char* what,
                                   const tenon__onnx_tensor_t* values,
                                   const tenon__onnx_tensor_t* indices,
                                   const tenon__onnx_tensor_t* dense) {
  const tenon_tensor_view_t* index = &indices->view;
  const bool fits = values->view.rank == 1 && index->dtype == TENON_DTYPE_INT64 &&
                    (index->rank == 1 || index->rank == 2) &&
                    (size_t)index->dims[0] == values->element_count &&
                    (index->rank == 1 || (size_t)index->dims[1] == dense->view.rank);
  if (!fits) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                             "%s: a sparse tensor needs values [count] and i64 indices [count] or "
                             "[count, rank]",
                             what);
  }
  if (tenon__onnx_dtype_bits(values->view.dtype) % 8 != 0 ||
      values->view.dtype == TENON_DTYPE_STRING || dense->size_bytes > sparse_size_limit) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: a sparse tensor of %zu elements of %s is not supported", what,
                             dense->element_count, tenon__onnx_dtype_name(values->view.dtype));
  }
  return TENON_OK;
}

tenon_status_t tenon__onnx_tensor_read_sparse(tenon_reader_t* reader,
                                              const tenon__onnx_model_t* model,
                                              const Onnx__SparseTensorProto* proto,
                                              const char* what, tenon__onnx_tensor_t* out_tensor) {
  if (proto->values == NULL || proto->indices == NULL) {
    return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "%s lacks values or indices", what);
  }
  tenon__onnx_tensor_t values;
  tenon__onnx_tensor_t indices;
  tenon__onnx_tensor_t dense;
  TENON_READER_TRY(tenon__onnx_tensor_read(reader, model, proto->values, what, &values));
  TENON_READER_TRY(tenon__onnx_tensor_read(reader, model, proto->indices, what, &indices));
  TENON_READER_TRY(tenon__onnx_tensor_shape(reader, what, values.view.dtype, proto->n_dims,
                                            proto->dims, &dense));
  TENON_READER_TRY(check_sparse(reader, what, &values, &indices, &dense));
  const size_t width = tenon__onnx_dtype_bits(values.view.dtype) / 8;
  uint8_t* data = tenon_reader_allocate(reader, dense.size_bytes, 1);
  if (data == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  const uint8_t* elements = values.view.data;
  for (size_t i = 0; i < values.element_count; ++i) {
    const int64_t place = sparse_place(&dense, &indices, i);
    if (place < 0) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "%s: index %zu lies outside of its extents", what, i);
    }
    memcpy(data + (size_t)place * width, elements + i * width, width);
  }
  dense.view.data = data;
  *out_tensor = dense;
  return TENON_OK;
}
