/*
 * A caffemodel: the blobs of each layer, by its name. The file is a whole NetParameter, of either
 * version, perhaps half a gigabyte; it is walked once and nothing is copied: blobs are views of it.
 * No generated decoder would do that.
 */
#ifndef TENON_PARSER_CAFFE_WEIGHTS_H_
#define TENON_PARSER_CAFFE_WEIGHTS_H_

#include "blob.h"
#include "tenon/reader.h"

/* Blobs of one file: an empty one has two bytes there, and some 400 here. */
enum { TENON__CAFFE_BLOB_LIMIT = 64 * 1024 };

/* The blobs of one layer, in their order in it; which is what (weights, bias), the layer's type
 * says. */
typedef struct tenon__caffe_blobs_t {
  /* Its name; NULL for blobs of a prototxt. */
  const char* layer;
  tenon__caffe_blob_t* blobs;
  uint32_t count;
  uint32_t capacity;
  bool is_used; /* the network has a layer of that name */
  struct tenon__caffe_blobs_t* next;
} tenon__caffe_blobs_t;

/* What the caffemodels among the parts hold; all zeros is none. */
typedef struct tenon__caffe_weights_t {
  tenon_reader_names_t layers; /* name to tenon__caffe_blobs_t */
  /* In the file's order, linked by `next`. */
  tenon__caffe_blobs_t* first;
  tenon__caffe_blobs_t* last;
  uint32_t blob_count;
} tenon__caffe_weights_t;

/* What a binary part is. */
typedef enum tenon__caffe_content_t {
  TENON__CAFFE_CONTENT_NONE, /* neither */
  TENON__CAFFE_CONTENT_NET,  /* NetParameter: a caffemodel */
  /* BlobProto: a binaryproto. */
  TENON__CAFFE_CONTENT_BLOB
} tenon__caffe_content_t;

/* By the numbers and wire types of the first fields; `size_bytes` may be less than the whole. */
tenon__caffe_content_t tenon__caffe_content(const void* data, size_t size_bytes);

/* Adds the file's layers; one that was there before is replaced. INVALID_DATA with the byte;
 * UNSUPPORTED beyond TENON__CAFFE_BLOB_LIMIT and for layers of version 0. */
tenon_status_t tenon__caffe_weights_read(tenon_reader_t* reader, const void* data,
                                         size_t size_bytes, tenon__caffe_weights_t* weights);
/* Adds one blob, all zeros, to a layer's. Blobs added before move: none of them may have been
 * viewed. */
tenon_status_t tenon__caffe_blobs_add(tenon_reader_t* reader, tenon__caffe_blobs_t* blobs,
                                      tenon__caffe_blob_t** out_blob);

#endif
