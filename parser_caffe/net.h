/*
 * A prototxt's network as it is in one state: the layers that its include and exclude rules leave,
 * with names and types of both versions made one, and its inputs of all kinds.
 */
#ifndef TENON_PARSER_CAFFE_NET_H_
#define TENON_PARSER_CAFFE_NET_H_

#include "fields.h"
#include "weights.h"

typedef struct tenon__caffe_layer_t {
  const char* name;         /* made readable when the file has none */
  const char* domain;       /* "", or the module of a Python layer */
  const char* type;         /* version 2's: "Convolution"; the class of a Python layer */
  tenon__caffe_node_t node; /* its fields */
  tenon_string_view_t const* bottoms;
  tenon_string_view_t const* tops; /* end with NUL */
  uint32_t bottom_count;
  uint32_t top_count;
  uint32_t line;
  tenon__caffe_blobs_t* blobs; /* NULL: none */
} tenon__caffe_layer_t;

/* `input` of the net itself, or a top of a layer that stands for data. */
typedef struct tenon__caffe_input_t {
  const char* name;
  const int64_t* dims; /* NULL: not said */
  uint32_t rank;
  uint32_t line;
} tenon__caffe_input_t;

/* What rules ask about. */
typedef struct tenon__caffe_state_t {
  const char* phase;
  int64_t level;
  const tenon_string_view_t* stages;
  size_t stage_count;
} tenon__caffe_state_t;

typedef struct tenon__caffe_net_t {
  tenon__caffe_state_t state;
  tenon__caffe_input_t* inputs;
  tenon__caffe_layer_t* layers;
  uint32_t input_count;
  uint32_t input_capacity;
  uint32_t layer_count;
} tenon__caffe_net_t;

/* In phase TEST, and the level and stages of the net's own `state`. Layers that stand for data are
 * among the inputs and not among the layers. */
tenon_status_t tenon__caffe_net_read(tenon_reader_t* reader, tenon__caffe_message_t* message,
                                     tenon__caffe_net_t* out_net);

/* "Convolution 'conv1' (line 12)". */
const char* tenon__caffe_layer_text(tenon_reader_t* reader, const tenon__caffe_layer_t* layer);

/* rules.c: whether a layer's include and exclude leave it in the state. */
tenon_status_t tenon__caffe_rules_hold(tenon_reader_t* reader, const tenon__caffe_node_t* layer,
                                       const tenon__caffe_state_t* state, bool* out_holds);

/* inputs.c: the net's own inputs, and those that a layer of data stands for. `out_is_input`:
 * whether it does. UNSUPPORTED for one that reads a database. */
tenon_status_t tenon__caffe_inputs_of_net(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          tenon__caffe_net_t* net);
tenon_status_t tenon__caffe_inputs_of_layer(tenon_reader_t* reader,
                                            const tenon__caffe_layer_t* layer,
                                            tenon__caffe_net_t* net, bool* out_is_input);

#endif
