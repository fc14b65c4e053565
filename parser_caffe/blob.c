/* A blob: fields of all its encodings are collected, then checked against its extents. */
#include "blob.h"

#include <inttypes.h>
#include <string.h>

/* BlobProto's fields. */
enum {
  NUM = 1,
  WIDTH = 4,
  DATA = 5,
  SHAPE = 7,
  DOUBLE_DATA = 8,
  RAW_TYPE = 10,
  RAW_DATA = 12,
  SHAPE_DIM = 1,
  RAW_DOUBLE = 0,
  RAW_FLOAT = 1,
  RAW_HALF = 2
};

static tenon_status_t broken(const tenon_reader_t* reader, const uint8_t* file,
                             const uint8_t* where, const char* reason) {
  return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA, "byte %zu, in a blob: %s",
                           (size_t)(where - file), reason);
}

/* ---- Cutting up ---- */

/* Single elements that follow one another make one chunk. */
static tenon_status_t cut(tenon_reader_t* reader, const tenon_reader_record_t* record,
                          tenon__caffe_blob_t* blob) {
  const bool is_packed = record->wire == TENON_READER_WIRE_LENGTH;
  tenon__caffe_chunk_t* last = blob->last_chunk;
  const uint8_t* end = record->data + record->size;
  if (!is_packed && last != NULL && !last->is_packed && last->field == record->number &&
      last->data + last->size == record->start) {
    last->size = (size_t)(end - last->data);
    return TENON_OK;
  }
  tenon__caffe_chunk_t* chunk = tenon_reader_allocate(reader, 1, sizeof(*chunk));
  if (chunk == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  chunk->field = (uint32_t)record->number;
  chunk->is_packed = is_packed;
  chunk->data = is_packed ? record->data : record->start;
  chunk->size = (size_t)(end - chunk->data);
  *(last == NULL ? &blob->chunks : &last->next) = chunk;
  blob->last_chunk = chunk;
  return TENON_OK;
}

/* False: too many, or negative. */
static bool add_dim(tenon__caffe_blob_t* blob, uint64_t dim) {
  if (blob->rank == TENON__CAFFE_BLOB_RANK_LIMIT || dim > (uint64_t)INT64_MAX) {
    return false;
  }
  blob->dims[blob->rank++] = (int64_t)dim;
  return true;
}

/* BlobShape: {repeated int64 dim = 1}, packed or not. */
static bool read_shape(const tenon_reader_record_t* shape, tenon__caffe_blob_t* blob) {
  const uint8_t* data = shape->data;
  const uint8_t* end = data + shape->size;
  blob->rank = 0;
  blob->has_dims = true;
  while (data < end) {
    tenon_reader_record_t record;
    if (!tenon_reader_read_record(&data, end, &record)) {
      return false;
    }
    if (record.number != SHAPE_DIM) {
      continue;
    }
    if (record.wire == TENON_READER_WIRE_VARINT) {
      if (!add_dim(blob, record.value)) {
        return false;
      }
      continue;
    }
    if (record.wire != TENON_READER_WIRE_LENGTH) {
      return false;
    }
    const uint8_t* dims_end = record.data + record.size;
    while (record.data < dims_end) {
      uint64_t dim = 0;
      if (!tenon_reader_read_varint(&record.data, dims_end, &dim) || !add_dim(blob, dim)) {
        return false;
      }
    }
  }
  return true;
}

/* num, channels, height, width: the extents of files before there were shapes. */
typedef struct legacy_t {
  int64_t dims[4];
  bool is_there;
} legacy_t;

static tenon_status_t read_field(tenon_reader_t* reader, const uint8_t* file,
                                 const tenon_reader_record_t* record, legacy_t* legacy,
                                 tenon__caffe_blob_t* blob) {
  const bool is_data = record->number == DATA || record->number == DOUBLE_DATA;
  const uint32_t single =
      record->number == DATA ? TENON_READER_WIRE_FIXED32 : TENON_READER_WIRE_FIXED64;
  const bool is_length = record->wire == TENON_READER_WIRE_LENGTH;
  const bool is_number = record->wire == TENON_READER_WIRE_VARINT;
  if ((is_data && (is_length || record->wire == single)) ||
      (record->number == RAW_DATA && is_length)) {
    return cut(reader, record, blob);
  }
  if (record->number >= NUM && record->number <= WIDTH && is_number) {
    legacy->is_there = true;
    legacy->dims[record->number - NUM] = (int64_t)(int32_t)(uint32_t)record->value;
    return TENON_OK;
  }
  if (record->number == SHAPE && is_length) {
    return read_shape(record, blob) ? TENON_OK
                                    : broken(reader, file, record->start,
                                             "its shape is malformed, negative, or has more than "
                                             "32 axes");
  }
  if (record->number == RAW_TYPE && is_number) {
    blob->raw_type = (int64_t)record->value;
    return TENON_OK;
  }
  return is_data || record->number == SHAPE || record->number == RAW_DATA ||
                 (record->number >= NUM && record->number <= WIDTH)
             ? broken(reader, file, record->start, "a field has the wrong wire type")
             : TENON_OK;
}

tenon_status_t tenon__caffe_blob_read(tenon_reader_t* reader, const uint8_t* file,
                                      const uint8_t* data, size_t size_bytes,
                                      tenon__caffe_blob_t* out_blob) {
  const uint8_t* end = data + size_bytes;
  legacy_t legacy = {0};
  memset(out_blob, 0, sizeof(*out_blob));
  while (data < end) {
    const uint8_t* where = data;
    tenon_reader_record_t record;
    if (!tenon_reader_read_record(&data, end, &record)) {
      return broken(reader, file, where, "a field is cut off or malformed");
    }
    TENON_READER_TRY(read_field(reader, file, &record, &legacy, out_blob));
  }
  if (legacy.is_there && !out_blob->has_dims) {
    for (uint32_t i = 0; i < 4; ++i) {
      if (legacy.dims[i] < 0) {
        return broken(reader, file, data, "an extent is negative");
      }
      out_blob->dims[out_blob->rank++] = legacy.dims[i];
    }
  }
  out_blob->has_dims = out_blob->has_dims || legacy.is_there;
  return TENON_OK;
}

/* ---- Elements ---- */

/* Floats from the field `data`, doubles from double_data, raw bytes as raw_data_type says. */
static tenon_dtype_t dtype_of(const tenon__caffe_blob_t* blob, uint32_t field) {
  return field == DATA                  ? TENON_DTYPE_FLOAT32
         : field == DOUBLE_DATA         ? TENON_DTYPE_FLOAT64
         : blob->raw_type == RAW_DOUBLE ? TENON_DTYPE_FLOAT64
         : blob->raw_type == RAW_FLOAT  ? TENON_DTYPE_FLOAT32
         : blob->raw_type == RAW_HALF   ? TENON_DTYPE_FLOAT16
                                        : TENON_DTYPE_UNDEFINED;
}

static size_t width_of(tenon_dtype_t dtype) {
  return dtype == TENON_DTYPE_FLOAT64 ? 8 : dtype == TENON_DTYPE_FLOAT16 ? 2 : 4;
}

/* How many elements a chunk holds; false when it is no whole number of them. */
static bool count_elements(const tenon__caffe_chunk_t* chunk, size_t width, size_t* inout_count) {
  const size_t step = chunk->is_packed ? width : width + 1; /* tags of these fields are one byte */
  *inout_count += chunk->size / step;
  return chunk->size % step == 0;
}

static tenon_status_t gather(tenon_reader_t* reader, const tenon__caffe_blob_t* blob, size_t width,
                             size_t count, void** out_data) {
  uint8_t* target = tenon_reader_allocate(reader, count, width);
  if (target == NULL) {
    return tenon_reader_fail_memory(reader);
  }
  *out_data = target;
  for (const tenon__caffe_chunk_t* chunk = blob->chunks; chunk != NULL; chunk = chunk->next) {
    if (chunk->is_packed && chunk->size > 0) {
      memcpy(target, chunk->data, chunk->size);
      target += chunk->size;
      continue;
    }
    for (size_t i = 0; i + width < chunk->size; i += width + 1) {
      memcpy(target, chunk->data + i + 1, width);
      target += width;
    }
  }
  return TENON_OK;
}

/* One kind of chunk, and how many elements they hold together. */
static tenon_status_t measure(const tenon_reader_t* reader, const tenon__caffe_blob_t* blob,
                              const char* what, tenon_dtype_t* out_dtype, size_t* out_count) {
  *out_count = blob->value_count;
  *out_dtype = blob->chunks == NULL ? TENON_DTYPE_FLOAT32 : dtype_of(blob, blob->chunks->field);
  if (*out_dtype == TENON_DTYPE_UNDEFINED) {
    return TENON_READER_FAIL(reader, TENON_ERROR_UNSUPPORTED,
                             "%s: raw data of type %" PRId64 ", which is no float", what,
                             blob->raw_type);
  }
  for (const tenon__caffe_chunk_t* chunk = blob->chunks; chunk != NULL; chunk = chunk->next) {
    if (chunk->field != blob->chunks->field) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "%s has its elements in two encodings at once", what);
    }
    if (!count_elements(chunk, width_of(*out_dtype), out_count)) {
      return TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                               "%s: %zu bytes are no whole number of elements", what, chunk->size);
    }
  }
  return TENON_OK;
}

static tenon_status_t check_extents(const tenon_reader_t* reader, tenon__caffe_blob_t* blob,
                                    const char* what, size_t count) {
  uint64_t product = 1;
  bool fits = true;
  if (!blob->has_dims) {
    blob->dims[0] = (int64_t)count;
    blob->rank = 1;
    return TENON_OK;
  }
  for (uint32_t i = 0; i < blob->rank; ++i) {
    const uint64_t dim = (uint64_t)blob->dims[i];
    fits = fits && (dim == 0 || product <= (uint64_t)INT64_MAX / dim);
    product = fits ? product * dim : 0;
  }
  return fits && product == count
             ? TENON_OK
             : TENON_READER_FAIL(reader, TENON_ERROR_INVALID_DATA,
                                 "%s has %zu elements, its extents say %s%" PRIu64, what, count,
                                 fits ? "" : "more than ", fits ? product : (uint64_t)INT64_MAX);
}

tenon_status_t tenon__caffe_blob_view(tenon_reader_t* reader, tenon__caffe_blob_t* blob,
                                      const char* what, tenon_tensor_view_t* out_view) {
  if (!blob->is_read) {
    tenon_dtype_t dtype = TENON_DTYPE_UNDEFINED;
    size_t count = 0;
    const void* data = blob->values;
    TENON_READER_TRY(measure(reader, blob, what, &dtype, &count));
    TENON_READER_TRY(check_extents(reader, blob, what, count));
    const tenon__caffe_chunk_t* chunk = blob->chunks;
    blob->is_borrowed = chunk != NULL && chunk->next == NULL && chunk->is_packed;
    blob->view = (tenon_tensor_view_t){
        .dims = blob->dims, .rank = blob->rank, .dtype = dtype, .layout = TENON_NONE};
    if (blob->is_borrowed) {
      data = chunk->data;
    } else if (chunk != NULL) {
      void* gathered = NULL;
      TENON_READER_TRY(gather(reader, blob, width_of(dtype), count, &gathered));
      data = gathered;
    }
    memcpy(&blob->view.data, &data, sizeof(data)); /* a view of what is only read */
    blob->is_read = true;
  }
  *out_view = blob->view;
  return TENON_OK;
}
