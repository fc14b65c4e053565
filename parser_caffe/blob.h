/*
 * BlobProto, Caffe's tensor, in all its encodings: `data` (5) and `double_data` (8), packed or each
 * with its tag, raw bytes of NVIDIA's fork (10, 12), extents as a `shape` (7) or as the older num,
 * channels, height, width (1 to 4). A caffemodel's elements stay in the mapped file wherever they
 * lie in one run.
 */
#ifndef TENON_PARSER_CAFFE_BLOB_H_
#define TENON_PARSER_CAFFE_BLOB_H_

#include "tenon/reader.h"

enum { TENON__CAFFE_BLOB_RANK_LIMIT = 32 };

/* A run of elements as it lies in the file; single elements that follow one another make one. */
typedef struct tenon__caffe_chunk_t {
  struct tenon__caffe_chunk_t* next;
  const uint8_t* data;
  /* Bytes, tags included where is_packed is false. */
  size_t size;
  uint32_t field; /* 5 data, 8 double_data, 12 raw_data */
  /* Elements alone; else each has its tag, one byte, before it. */
  bool is_packed;
} tenon__caffe_chunk_t;

/* One blob: what was read, then what tenon__caffe_blob_view found. `view` points into it (dims),
 * so a blob stays where it is once it was viewed. */
typedef struct tenon__caffe_blob_t {
  int64_t dims[TENON__CAFFE_BLOB_RANK_LIMIT];
  uint32_t rank; /* 0 of a shape without dims: a scalar */
  /* Else the blob is a vector of as many elements as there are. */
  bool has_dims;
  /* raw_data_type: 0 f64, 1 f32, 2 f16. Absent is 0, as protobuf has it. */
  int64_t raw_type;
  /* In the order of the file; NULL: no elements, or `values`. */
  tenon__caffe_chunk_t* chunks;
  tenon__caffe_chunk_t* last_chunk;
  /* Of a blob that a prototxt holds, instead of chunks: [value_count]. */
  const float* values;
  size_t value_count;
  /* What tenon__caffe_blob_view found, once is_read: row-major, no strides. */
  tenon_tensor_view_t view;
  bool is_read;
  bool is_borrowed; /* the elements lie in the file */
} tenon__caffe_blob_t;

/* Cuts one message up; nothing is copied. `file` is where the file begins, for the byte in
 * messages. INVALID_DATA for a field that is cut off or of another wire type, for more than 32
 * axes and for a negative extent. Whether elements and extents agree is seen when they are asked
 * for. */
tenon_status_t tenon__caffe_blob_read(tenon_reader_t* reader, const uint8_t* file,
                                      const uint8_t* data, size_t size_bytes,
                                      tenon__caffe_blob_t* out_blob);

/* The elements, dense: f32, f64 or f16. They lie in the file, perhaps not aligned for their type
 * (read them by memcpy), where one packed run holds them; else they are gathered, once. `what`
 * names the blob in messages. INVALID_DATA when their number is not the extents' product, or two
 * encodings are mixed; UNSUPPORTED for raw data that are no floats. */
tenon_status_t tenon__caffe_blob_view(tenon_reader_t* reader, tenon__caffe_blob_t* blob,
                                      const char* what, tenon_tensor_view_t* out_view);

#endif
