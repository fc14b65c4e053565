/*
 * Walks a network that is written into an ONNX file. Keeps the names of its values in the file and
 * the nodes without a counterpart in ONNX. The walk continues after such a node, so that one
 * message lists all of them. It fails only if an output depends on one.
 */
#ifndef TOOL_EXPORT_NETWORK_H_
#define TOOL_EXPORT_NETWORK_H_

#include "export/names.h"
#include "export/onnx_file.h"
#include "tenon/tenon.h"

/* Bytes of a reason that is composed. */
enum { TOOL_EXPORT_REASON_SIZE = 128 };

typedef struct tool_export_network_t tool_export_network_t;

/* One value of the network. All members but `wanted` are owned. */
typedef struct tool_export_value_t {
  char* name; /* in the file; NULL: not written yet */
  /* The application's name of an output, borrowed from its tool_export_output_t. */
  const char* wanted;
  /* The node that makes it, or a node before that one, has no counterpart in ONNX. */
  bool is_lacking;
  /* Set if it is lacking: the first such node, "standard.cast/1 'x': reason". */
  char* line;
} tool_export_value_t;

/* An output of the network, written after all nodes. */
typedef struct tool_export_output_t {
  tenon_value_t value;
  char* name;
} tool_export_output_t;

/* One walk. The caller sets the first 3 members, all others are zero. tool_export_free frees the
 * members, except the file. */
struct tool_export_network_t {
  /* Writes the constants of a node, then the node, with the names that tool_export_target gives.
   * False: the node is refused, with `reason`. Parts of it may stay in the file. */
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
  tool_names_t names; /* all names of the file */
  /* A composed reason. `reason` may point to it. */
  char message[TOOL_EXPORT_REASON_SIZE];
  /* The nodes that ONNX lacks, one per line. NULL: none. */
  char* lacking;
  uint32_t body_depth; /* bodies around the current node */
  /* The reason for which the current node cannot be written. NULL: an input is lacking, whose own
   * node is listed. */
  const char* reason;
};

/* Writes inputs and nodes in the order of the network, then constants and copies that outputs need.
 * UNSUPPORTED if an output depends on a node that ONNX lacks. The message lists all such nodes.
 * `write_node` writes bodies. */
tenon_status_t tool_export_walk(tool_export_network_t* network);
void tool_export_free(tool_export_network_t* network);

/* A body of a control node. Its writer names the parameters. */
typedef struct tool_export_body_t {
  tool_export_network_t* network;
  /* Called for each parameter, before the nodes. False: the body is refused. */
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
/* Gives the value this name, which is copied. NULL: the value is lacking, and nodes that read it
 * report `line`. */
void tool_export_call(tool_export_network_t* network, tenon_value_t value, const char* name,
                      const char* line);
/* The name of a body's result. NULL if it is lacking, with the reason of the first node that ONNX
 * lacks. */
const char* tool_export_result(tool_export_network_t* network, tenon_value_t value);

/* The name of input `index`, valid as long as the network. The first call for a constant writes it.
 * NULL, with a reason, if the input is absent, lacking, or a constant of a type that ONNX lacks. */
const char* tool_export_source(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index);
/* The name of the node's output `index`: the application's name, else one derived from the node's
 * name. */
const char* tool_export_target(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index);
/* A new name NODE_WHAT for an intermediate value or constant, freed by tool_free. */
char* tool_export_aside(tool_export_network_t* network, const tenon_network_item_t* item,
                        const char* what);
/* The stem, or the first unused name of stem_1, stem_2 ... Freed by tool_free. */
char* tool_export_new_name(tool_export_network_t* network, const char* stem);
/* The kind is ABSENT if the value is absent or has no type. */
tenon_value_type_t tool_export_type_of(tool_export_network_t* network, tenon_value_t value);
/* The elements of a value. False if they are unknown or more than TENON_RANK_LIMIT, the size of
 * out_values. */
bool tool_export_contents(tool_export_network_t* network, tenon_value_t value, int64_t* out_values,
                          uint32_t* out_count);

#endif
