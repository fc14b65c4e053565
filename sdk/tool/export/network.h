/*
 * A network on its way into an ONNX file: names of its values in the file, and nodes without a
 * counterpart in ONNX. The walk continues after a node that cannot be written, so that one message
 * lists all of them. It fails only if an output depends on one.
 */
#ifndef TOOL_EXPORT_NETWORK_H_
#define TOOL_EXPORT_NETWORK_H_

#include "export/names.h"
#include "export/onnx_file.h"
#include "tenon/tenon.h"

/* Axes, and entries of any list that stands for axes or extents; bytes of a reason that is put
 * together. */
enum { TOOL_EXPORT_REASON_SIZE = 128 };

typedef struct tool_export_network_t tool_export_network_t;

/* What is known of one value on the way. All is owned but `wanted`. */
typedef struct tool_export_value_t {
  char* name; /* NULL until something made it */
  /* The application's name, of an output; borrowed from its tool_export_output_t. */
  const char* wanted;
  /* It comes from a node that ONNX lacks, or from a successor. */
  bool is_lacking;
  /* Lacking: the first node that ONNX lacks on the way, "standard.cast/1 'x': why". */
  char* line;
} tool_export_value_t;

/* An output of the network; told to the file behind all nodes. */
typedef struct tool_export_output_t {
  tenon_value_t value;
  char* name;
} tool_export_output_t;

/* One walk. The caller sets the first three members and leaves the rest zero. tool_export_free frees
 * the members, except the file. */
struct tool_export_network_t {
  /* Writes a node, its constants before it, under the names that tool_export_target gives. False:
   * the node is refused, with `reason`; parts of it may stay in the file. */
  bool (*write_node)(tool_export_network_t* network, const tenon_network_item_t* item);
  tool_onnx_file_t* file;
  tenon_network_t* network;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  /* [value_count], by id; it moves as it grows, so pointers into it last until the next new
   * value. */
  tool_export_value_t* values;
  size_t value_count;
  size_t value_capacity;
  tool_export_output_t* outputs;
  size_t output_count;
  size_t output_capacity;
  tool_names_t names; /* of all that the file names */
  /* A reason that is put together; `reason` may point to it. */
  char message[TOOL_EXPORT_REASON_SIZE];
  /* Lines: the nodes that ONNX lacks. NULL: none. */
  char* lacking;
  uint32_t body_depth; /* bodies around the node at hand */
  /* Why the node at hand cannot be written; NULL: an input is lacking, and its own node is told. */
  const char* reason;
};

/* Writes inputs and nodes in the order of the network, then what outputs need beside them.
 * UNSUPPORTED if an output depends on a node that ONNX lacks: names all such nodes. Bodies are written
 * by `write_node`. */
tenon_status_t tool_export_walk(tool_export_network_t* network);
void tool_export_free(tool_export_network_t* network);

/* A body of a control node on its way: whoever writes it gives its parameters names. */
typedef struct tool_export_body_t {
  tool_export_network_t* network;
  /* Parameter `index`, before any node; false: refused. */
  bool (*parameter)(void* user, uint32_t index, tenon_value_t value);
  void* user;
  uint32_t parameter_count;
  bool is_refused;
  tenon_value_t* results;
  size_t result_count;
  size_t result_capacity;
} tool_export_body_t;

/* Writes a body's nodes, and lists its results, freed by tool_free. False: refused. */
bool tool_export_write_body(tool_export_body_t* body, uint32_t number);
/* The value has this name, which is copied; NULL: it is lacking, and `line` says why of what reads
 * it. */
void tool_export_call(tool_export_network_t* network, tenon_value_t value, const char* name,
                      const char* line);
/* The name of a body's result; NULL where it is lacking, and the reason is that of the first node
 * that ONNX lacks. */
const char* tool_export_result(tool_export_network_t* network, tenon_value_t value);

/* The name of input `index`; constants are written when first asked for, once. NULL, with the
 * reason or that of the node before, when it is absent, lacking, or a constant of a type that
 * ONNX lacks. Valid as long as the network. */
const char* tool_export_source(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index);
/* The name that the node's output `index` is to have: the application's, else one after the
 * node's. */
const char* tool_export_target(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index);
/* Another name, NODE_WHAT, of something on the way: freed by tool_free. */
char* tool_export_aside(tool_export_network_t* network, const tenon_network_item_t* item,
                        const char* what);
/* The stem, or the first of stem_1, stem_2 ... that nothing has; freed by tool_free. */
char* tool_export_new_name(tool_export_network_t* network, const char* stem);
/* Of kind ABSENT where the value is absent, or has no type. */
tenon_value_type_t tool_export_type_of(tool_export_network_t* network, tenon_value_t value);
/* A value's elements where they are known: false when not, or more than TENON_RANK_LIMIT,
 * which out_values must hold. */
bool tool_export_contents(tool_export_network_t* network, tenon_value_t value, int64_t* out_values,
                          uint32_t* out_count);

#endif
