/* A layer as converters see it: the contract's source-node table over a prototxt's fields and a
 * caffemodel's blobs. */
#ifndef TENON_PARSER_CAFFE_SOURCE_H_
#define TENON_PARSER_CAFFE_SOURCE_H_

#include "program.h"

/* A layer, or (as a tree) a message in it. */
struct tenon_source_t {
  tenon__caffe_program_t* program;
  tenon__caffe_layer_t* layer;
  tenon__caffe_node_t node;
};

const tenon_source_table_t* tenon__caffe_source_table(void);

/* made_weights.c: a blob that no file has. Made up when that was asked for, by a sequence of the
 * layer's name and the seed; else zeros, and the layer is noted as lacking it. NOT_FOUND when the
 * layer has other blobs. */
tenon_status_t tenon__caffe_source_make_blob(const tenon_source_t* source, uint32_t index,
                                             uint32_t rank, const int64_t* dims, float* out_values);

/* unread.c: says once, for each type of layer, which of its fields nobody asked for. */
tenon_status_t tenon__caffe_source_tell_unread(const tenon_source_t* source);

#endif
