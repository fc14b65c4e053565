/*
 * A layer as converters see it: the contract's source-node table over a prototxt's fields and a
 * caffemodel's blobs. "convolution_param" is a tree; tenon/maker.h reads
 * "convolution_param.stride". Version is 1 for all.
 */
#ifndef TENON_PARSER_CAFFE_SOURCE_H_
#define TENON_PARSER_CAFFE_SOURCE_H_

#include "program.h"

/* A layer, or (as a tree) a message in it: `node` is what fields are read from, `layer` always
 * the whole. It lives until the parse ends. */
struct tenon_source_t {
  tenon__caffe_program_t* program;
  tenon__caffe_layer_t* layer;
  tenon__caffe_node_t node;
};

const tenon_source_table_t* tenon__caffe_source_table(void);

/* made_weights.c: a blob of these extents that no file has, written to out_values (their
 * product, zeros on entry). Made up when that was asked for, by a sequence of the layer's name,
 * the blob's index and the seed, so that other layers do not matter: matrices uniform around 0
 * with the variance that keeps their results', vectors in [0.5, 1.5). Else left zeros, and the
 * layer is noted as lacking it. NOT_FOUND when the layer has other blobs: then this one is
 * optional. */
tenon_status_t tenon__caffe_source_make_blob(const tenon_source_t* source, uint32_t index,
                                             uint32_t rank, const int64_t* dims, float* out_values);

/* unread.c: warns once, for each type of layer, which of its fields nobody asked for, with line
 * and column, messages within included. Fails only for want of memory. */
tenon_status_t tenon__caffe_source_tell_unread(const tenon_source_t* source);

#endif
