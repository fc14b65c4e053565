/* A network on its way: its layers, their weights, what is said about it once. */
#ifndef TENON_PARSER_CAFFE_PROGRAM_H_
#define TENON_PARSER_CAFFE_PROGRAM_H_

#include "net.h"

/* The one of a parse, on the stack of tenon__caffe_parser_parse. */
typedef struct tenon__caffe_program_t {
  tenon_reader_t* reader;
  tenon__caffe_net_t net;
  tenon__caffe_weights_t weights;
  /* Subtracted from the first input of rank 4, its middle from smaller pictures; NULL: none. */
  tenon__caffe_blob_t* mean;
  /* A caffemodel is among the parts: decides what is advised where weights lack. */
  bool has_weights;
  /* Setting weights=random: what is missing is made up, from `seed`. */
  bool makes_weights;
  uint64_t seed;
  /* Names of the first 20 layers without weights: "'conv1', 'conv2'". Zeros stand for these
   * weights, so that all layers that lack some are found before the parse fails. */
  const char* lacking;
  const tenon__caffe_layer_t* last_lacking;
  uint32_t lacking_count;
  /* That zeros stand for: beyond 64 Mi the search ends, a text of a page must not ask for
   * terabytes. */
  int64_t lacking_elements;
  /* It ended so: there may be more layers without weights. */
  bool left_off;
  /* "domain:type:field" that were named as ignored: each once. */
  tenon_reader_names_t told;
} tenon__caffe_program_t;

/* Each layer gets its blobs by its name, a caffemodel's over those of the prototxt; says as
 * information which of the file nobody wants: training's. */
void tenon__caffe_program_match(tenon__caffe_program_t* program);
/* Tells the host of inputs, layers and outputs (tops that nobody reads), and reports all layers
 * that no converter takes: then UNSUPPORTED. */
tenon_status_t tenon__caffe_program_check(tenon__caffe_program_t* program);
/* INVALID_DATA with the layers without weights, if there are some; TENON_OK when there are none. */
tenon_status_t tenon__caffe_program_tell_lacking(const tenon__caffe_program_t* program);
/* convert.c: builds the network. A top that no layer reads in the end is an output. Fails after
 * the last layer when weights are lacking. */
tenon_status_t tenon__caffe_program_convert(tenon__caffe_program_t* program);

#endif
