/* A network on its way into a file of another format: what its values are called there, and which
 * nodes the format has nothing for. */
#ifndef TOOL_EXPORT_NETWORK_H_
#define TOOL_EXPORT_NETWORK_H_

#include "export/names.h"
#include "tenon/tenon.h"

enum { TOOL_EXPORT_RANK_LIMIT = 64, TOOL_EXPORT_WORDS_SIZE = 128 };

typedef struct tool_export_network_t tool_export_network_t;

/* What a format writes. Each may refuse: false, with network->reason. */
typedef struct tool_export_language_t {
  const char* name; /* "UFF": in messages */
  bool (*has_type)(tenon_dtype_t dtype);
  /* Under the names that tool_export_target gives. */
  bool (*node)(tool_export_network_t* network, const tenon_network_item_t* item);
  bool (*input)(tool_export_network_t* network, const char* name, const tenon_value_type_t* type);
  /* Of a type that it has. The bytes live as long as the network. */
  void (*constant)(tool_export_network_t* network, const char* name, const tenon_value_type_t* type,
                   size_t size_bytes);
  /* An output that is what `source` is: an input, a constant, or another output. */
  void (*alias)(tool_export_network_t* network, const char* name, const char* source);
} tool_export_language_t;

typedef struct tool_export_value_t {
  char* name;         /* NULL until something made it */
  const char* wanted; /* the application's name, of an output */
  bool is_lacking;    /* it comes from a node that the format has not, or from one behind it */
  char* line;         /* lacking: what is said of its node; NULL: of those that it is behind */
  uint32_t* behind;   /* ids of values */
  size_t behind_count;
  size_t behind_capacity;
} tool_export_value_t;

typedef struct tool_export_output_t {
  tenon_value_t value;
  char* name;
} tool_export_output_t;

struct tool_export_network_t {
  const tool_export_language_t* language;
  void* file; /* the format's */
  tenon_network_t* network;
  tenon_builder_t* builder;
  const tenon_builder_table_t* build;
  tool_export_value_t* values; /* by id */
  size_t value_count;
  size_t value_capacity;
  tool_export_output_t* outputs;
  size_t output_count;
  size_t output_capacity;
  tool_names_t names;                   /* of all that the file names */
  char message[TOOL_EXPORT_WORDS_SIZE]; /* a reason that is put together */
  char* lacking;                        /* lines: the nodes that the format has not */
  const char* reason; /* why the node at hand cannot be written; NULL: an input is lacking */
};

/* Writes inputs and nodes, then what outputs need beside them. UNSUPPORTED names all nodes that
 * outputs depend on and that the format has not. */
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
/* The name of a body's result; NULL where it is lacking, and the reason is the first node's that
 * the format has not. */
const char* tool_export_result(tool_export_network_t* network, tenon_value_t value);

/* The name of input `index`; constants are written when first asked for. NULL when it is lacking.
 */
const char* tool_export_source(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index);
/* The name that the node's output `index` is to have. */
const char* tool_export_target(tool_export_network_t* network, const tenon_network_item_t* item,
                               uint32_t index);
/* Another name, of something on the way: freed by tool_free. */
char* tool_export_aside(tool_export_network_t* network, const tenon_network_item_t* item,
                        const char* what);
/* The stem, or the first of stem_1, stem_2 ... that nothing has; freed by tool_free. */
char* tool_export_new_name(tool_export_network_t* network, const char* stem);
tenon_value_type_t tool_export_type_of(tool_export_network_t* network, tenon_value_t value);
/* A value's elements where they are known: false when not, or more than 64. */
bool tool_export_contents(tool_export_network_t* network, tenon_value_t value, int64_t* out_values,
                          uint32_t* out_count);

#endif
