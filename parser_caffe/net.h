/*
 * A prototxt's network as it is in one state: the layers that its include and exclude rules leave,
 * with names and types of both versions made one, and its inputs of all kinds. The format has no
 * edges: bottoms and tops are names, and one that is written again stands for another value from
 * then on, which convert.c sees to.
 */
#ifndef TENON_PARSER_CAFFE_NET_H_
#define TENON_PARSER_CAFFE_NET_H_

#include "fields.h"
#include "weights.h"

/* A layer that is left. Texts end with NUL and, like the lists, live until the parse ends. */
typedef struct tenon__caffe_layer_t {
  /* Made of type and first top when the file has none. */
  const char* name;
  const char* domain; /* "", or the module of a Python layer */
  /* Version 2's: "Convolution" (version 1 has CONVOLUTION); the class of a Python layer. */
  const char* type;
  /* Its fields; "layer" to the schema, whichever version it is of. */
  tenon__caffe_node_t node;
  tenon_string_view_t const* bottoms;
  tenon_string_view_t const* tops; /* end with NUL */
  uint32_t bottom_count;
  uint32_t top_count;
  /* Where it begins in the prototxt, from 1, for messages. */
  uint32_t line;
  /* Weights of the prototxt itself or, over these, of the caffemodel. NULL: none. */
  tenon__caffe_blobs_t* blobs;
} tenon__caffe_layer_t;

/* `input` of the net itself, or a top of a layer that stands for data (Input, MemoryData). f32
 * always. */
typedef struct tenon__caffe_input_t {
  const char* name;
  /* [rank], none negative; NULL: not said, the caller gives them. */
  const int64_t* dims;
  uint32_t rank;
  uint32_t line;
} tenon__caffe_input_t;

/* What rules ask about: NetState. Settings "level" and "stage" (names with commas) count more
 * than the net's own `state`; its phase does not count, it is always TEST. */
typedef struct tenon__caffe_state_t {
  const char* phase;
  int64_t level;
  const tenon_string_view_t* stages;
  size_t stage_count;
} tenon__caffe_state_t;

/* The one of a parse. */
typedef struct tenon__caffe_net_t {
  tenon__caffe_state_t state;
  tenon__caffe_input_t* inputs;
  tenon__caffe_layer_t* layers;
  uint32_t input_count;
  uint32_t input_capacity;
  uint32_t layer_count;
} tenon__caffe_net_t;

/* In phase TEST. Layers that stand for data are among the inputs and not among the layers. Both
 * stand in the order of the file. INVALID_DATA for a file without layers (a solver's),
 * UNSUPPORTED for layers of version 0 and for those that read a database. */
tenon_status_t tenon__caffe_net_read(tenon_reader_t* reader, tenon__caffe_message_t* message,
                                     tenon__caffe_net_t* out_net);

/* "Convolution 'conv1' (line 12)", for messages; the type alone when memory is out. */
static inline const char* tenon__caffe_layer_text(tenon_reader_t* reader,
                                                  const tenon__caffe_layer_t* layer) {
  const char* text =
      tenon_reader_format(reader, "%s '%s' (line %u)", layer->type, layer->name, layer->line);
  return text == NULL ? layer->type : text;
}

/* rules.c: whether a layer's include and exclude leave it in the state: with includes one of
 * them must hold, with excludes none may; both at once are INVALID_DATA. A rule holds when all
 * that it says does: phase, min_level, max_level, each stage, no not_stage. */
tenon_status_t tenon__caffe_rules_hold(tenon_reader_t* reader, const tenon__caffe_node_t* layer,
                                       const tenon__caffe_state_t* state, bool* out_holds);

/* inputs.c: the net's own inputs, and those that a layer of data stands for; *out_is_input:
 * whether it does. Shapes are one for each input, input_dim four; a layer may have one for all
 * its tops. UNSUPPORTED, with what to write instead, for one that reads stored data. A
 * transform_param is the caller's affair, and said so. */
tenon_status_t tenon__caffe_inputs_of_net(tenon_reader_t* reader, const tenon__caffe_node_t* node,
                                          tenon__caffe_net_t* net);
tenon_status_t tenon__caffe_inputs_of_layer(tenon_reader_t* reader,
                                            const tenon__caffe_layer_t* layer,
                                            tenon__caffe_net_t* net, bool* out_is_input);

#endif
