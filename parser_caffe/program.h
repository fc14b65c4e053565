/* A network on its way: its layers, their weights, what is said about it once. */
#ifndef TENON_PARSER_CAFFE_PROGRAM_H_
#define TENON_PARSER_CAFFE_PROGRAM_H_

#include "net.h"

typedef struct tenon__caffe_program_t {
  tenon_reader_t* reader;
  tenon__caffe_net_t net;
  tenon__caffe_weights_t weights;
  tenon__caffe_blob_t* mean; /* NULL: none */
  bool has_weights;          /* a caffemodel is among the parts */
  bool makes_weights;        /* what is missing is made up */
  uint64_t seed;
  const char* lacking; /* names of the first layers without weights: "'conv1', 'conv2'" */
  const tenon__caffe_layer_t* last_lacking;
  uint32_t lacking_count;
  int64_t lacking_elements;  /* that zeros stand for */
  bool left_off;             /* there may be more of them */
  tenon_reader_names_t told; /* fields that were named as ignored */
} tenon__caffe_program_t;

/* Each layer gets its blobs; says which of the file nobody wants. */
void tenon__caffe_program_match(tenon__caffe_program_t* program);
/* Reports all layers that no converter takes. */
tenon_status_t tenon__caffe_program_check(tenon__caffe_program_t* program);
/* INVALID_DATA with the layers without weights, if there are some. */
tenon_status_t tenon__caffe_program_tell_lacking(const tenon__caffe_program_t* program);
/* convert.c: builds the network. */
tenon_status_t tenon__caffe_program_convert(tenon__caffe_program_t* program);

#endif
