/* A network on its way into a UFF file: what its values are called there. */
#ifndef TOOL_EXPORT_UFF_NETWORK_H_
#define TOOL_EXPORT_UFF_NETWORK_H_

#include "export/uff_file.h"

enum { TOOL_UFF_RANK_LIMIT = 64, TOOL_UFF_WORDS_SIZE = 128 };

typedef struct tool_uff_value_t {
  char* name;         /* NULL until something made it */
  const char* wanted; /* the application's name, of an output */
  bool is_lacking;    /* it comes from a node that UFF has not, or from one behind it */
  char* line;         /* lacking: what is said of its node; NULL: of those that it is behind */
  uint32_t* behind;   /* ids of values */
  size_t behind_count;
  size_t behind_capacity;
} tool_uff_value_t;

typedef struct tool_uff_output_t {
  tenon_value_t value;
  char* name;
} tool_uff_output_t;

typedef struct tool_uff_network_t {
  tool_uff_file_t file;
  tenon_network_t* network;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  tool_uff_value_t* values; /* by id */
  size_t value_count;
  size_t value_capacity;
  tool_uff_output_t* outputs;
  size_t output_count;
  size_t output_capacity;
  tool_uff_names_t names;          /* of nodes of the file */
  char words[TOOL_UFF_WORDS_SIZE]; /* a reason that is put together */
  char* lacking;                   /* lines: the nodes that UFF has not */
  const char* reason; /* why the node at hand cannot be written; NULL: an input is lacking */
} tool_uff_network_t;

/* uff_nodes.c: writes the node as operations of UFF; false, with network->reason, when there are
 * none. */
bool tool_uff_write_node(tool_uff_network_t* network, const tenon_network_item_t* item);

/* The name of input `index`; constants are written when first asked for. NULL when it is lacking.
 */
const char* tool_uff_source(tool_uff_network_t* network, const tenon_network_item_t* item,
                            uint32_t index);
/* The name that the node's output is to have. */
const char* tool_uff_target(tool_uff_network_t* network, const tenon_network_item_t* item);
/* Another name, of something on the way: freed by tool_free. */
char* tool_uff_aside(tool_uff_network_t* network, const tenon_network_item_t* item,
                     const char* what);
tenon_value_type_t tool_uff_type_of(tool_uff_network_t* network, tenon_value_t value);
/* A value's elements where they are known: false when not, or more than 64. */
bool tool_uff_contents(tool_uff_network_t* network, tenon_value_t value, int64_t* out_values,
                       uint32_t* out_count);

#endif
