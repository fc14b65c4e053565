/*
 * A caffemodel: the blobs of each layer, by its name. The file is a whole NetParameter, of either
 * version, perhaps half a gigabyte; it is walked once and nothing is copied: blobs are views of it.
 */
#ifndef TENON_PARSER_CAFFE_WEIGHTS_H_
#define TENON_PARSER_CAFFE_WEIGHTS_H_

#include "blob.h"
#include "tenon/reader.h"

enum { TENON__CAFFE_BLOB_LIMIT = 64 * 1024 }; /* blobs of one file */

/* The blobs of one layer. */
typedef struct tenon__caffe_blobs_t {
  const char* layer;
  tenon__caffe_blob_t* blobs;
  uint32_t count;
  uint32_t capacity;
  bool is_used;
  struct tenon__caffe_blobs_t* next;
} tenon__caffe_blobs_t;

typedef struct tenon__caffe_weights_t {
  tenon_reader_names_t layers;
  tenon__caffe_blobs_t* first; /* in the file's order */
  tenon__caffe_blobs_t* last;
  uint32_t blob_count;
} tenon__caffe_weights_t;

typedef enum tenon__caffe_content_t {
  TENON__CAFFE_CONTENT_NONE, /* neither */
  TENON__CAFFE_CONTENT_NET,  /* NetParameter: a caffemodel */
  TENON__CAFFE_CONTENT_BLOB  /* BlobProto: a binaryproto */
} tenon__caffe_content_t;

/* By the kinds of the first fields; `size_bytes` may be less than the whole. */
tenon__caffe_content_t tenon__caffe_content(const void* data, size_t size_bytes);

/* Adds the file's layers; one that was there before is replaced. INVALID_DATA with the place. */
tenon_status_t tenon__caffe_weights_read(tenon_reader_t* reader, const void* data,
                                         size_t size_bytes, tenon__caffe_weights_t* weights);
/* Adds one blob to a layer that is not in a file (a prototxt may hold weights). */
tenon_status_t tenon__caffe_blobs_add(tenon_reader_t* reader, tenon__caffe_blobs_t* blobs,
                                      tenon__caffe_blob_t** out_blob);

#endif
