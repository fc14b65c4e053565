/* BlobProto, Caffe's tensor, in all its encodings: packed and single floats and doubles, raw bytes
 * of NVIDIA's fork, extents as a shape or as four numbers. */
#ifndef TENON_PARSER_CAFFE_BLOB_H_
#define TENON_PARSER_CAFFE_BLOB_H_

#include "tenon/reader.h"

enum { TENON__CAFFE_BLOB_RANK_LIMIT = 32 };

/* A run of elements as it lies in the file. */
typedef struct tenon__caffe_chunk_t {
  struct tenon__caffe_chunk_t* next;
  const uint8_t* data;
  size_t size;
  uint32_t field;
  bool is_packed; /* elements alone; else each has its tag before it */
} tenon__caffe_chunk_t;

typedef struct tenon__caffe_blob_t {
  int64_t dims[TENON__CAFFE_BLOB_RANK_LIMIT];
  uint32_t rank;
  bool has_dims; /* else: as many elements as there are */
  int64_t raw_type;
  tenon__caffe_chunk_t* chunks;
  tenon__caffe_chunk_t* last_chunk;
  const float* values; /* of a blob that a prototxt holds, instead of chunks */
  size_t value_count;
  /* What tenon__caffe_blob_view found. */
  tenon_tensor_view_t view;
  bool is_read;
  bool is_borrowed;
} tenon__caffe_blob_t;

/* Cuts one message up; nothing is copied. `file` is where the file begins, for messages. */
tenon_status_t tenon__caffe_blob_read(tenon_reader_t* reader, const uint8_t* file,
                                      const uint8_t* data, size_t size_bytes,
                                      tenon__caffe_blob_t* out_blob);

/* The elements, dense: f32, f64 or f16. They lie in the file, perhaps not aligned for their type
 * (read them by memcpy), where one run of them has that layout; else they are gathered. `what`
 * names the blob in messages. */
tenon_status_t tenon__caffe_blob_view(tenon_reader_t* reader, tenon__caffe_blob_t* blob,
                                      const char* what, tenon_tensor_view_t* out_view);

#endif
