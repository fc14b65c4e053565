/* A graph, whichever of both formats it had: nodes with inputs and attributes. */
#ifndef TENON_PARSER_UFF_GRAPH_H_
#define TENON_PARSER_UFF_GRAPH_H_

#include "tenon/reader.h"
#include "tree.h"

enum { TENON__UFF_RANK_LIMIT = 32 };

/* What a node says by name. Of a type both: its mnemonic as text, its number as integer. */
typedef struct tenon__uff_attribute_t {
  const char* name;
  uint32_t kind; /* one of TENON_FIELD_* */
  bool is_read;  /* somebody asked for it */
  bool is_type;
  bool is_borrowed; /* TENSOR: the elements lie in the file */
  int64_t integer;
  double number;
  tenon_string_view_t text; /* ends with NUL */
  const int64_t* ints;
  const double* floats;
  const tenon_string_view_t* texts;
  size_t count;
  tenon_tensor_view_t tensor;
} tenon__uff_attribute_t;

typedef struct tenon__uff_input_t {
  const char* name; /* as it is written */
  struct tenon__uff_node_t* node;
  uint32_t index; /* which of its outputs */
} tenon__uff_input_t;

typedef struct tenon__uff_node_t {
  const char* name;
  const char* operation; /* as it is written */
  const char* domain;    /* as converters know it */
  const char* type;
  tenon__uff_input_t* inputs; /* of data, then those that it only waits for: see control_count */
  uint32_t input_count;       /* of data */
  uint32_t control_count;     /* of a node without data; linked: outputs of Switches */
  uint32_t output_count;
  tenon__uff_attribute_t* attributes;
  uint32_t attribute_count;
  uint64_t place;
  bool is_used;        /* somebody reads an output */
  bool is_taken;       /* an output of the network depends on it */
  uint32_t next_input; /* of a walk: past all inputs, plus 1, when it is done */
  uint32_t switches;   /* how many it lies behind, without their Merge */
  tenon_value_t* outputs;
  bool is_dead;                             /* of a branch that is not taken */
  bool is_lacking;                          /* it needs what nobody converts */
  const struct tenon__uff_branch_t* branch; /* control.c: the branch that it belongs to */
  const struct tenon__uff_branch_t* sides;  /* of a Switch that the run decides: two */
} tenon__uff_node_t;

typedef struct tenon__uff_graph_t {
  bool is_tensorflow;
  bool has_vague_shapes; /* of inputs an empty one says nothing */
  tenon__uff_node_t* nodes;
  size_t node_count;
  tenon_reader_names_t names;
  tenon__uff_node_t** order; /* of those that are taken, producers first */
  size_t order_count;
  tenon__uff_input_t* outputs; /* of the network */
  uint32_t output_count;
  uint32_t output_capacity;
} tenon__uff_graph_t;

/* uff.c and graph_def.c: from the tree of a file. */
tenon_status_t tenon__uff_graph_read_uff(tenon_reader_t* reader,
                                         const tenon__uff_message_t* message,
                                         tenon__uff_graph_t* out_graph);
tenon_status_t tenon__uff_graph_read_tensorflow(tenon_reader_t* reader,
                                                const tenon__uff_message_t* message,
                                                tenon__uff_graph_t* out_graph);
/* uff.c: the bytes of a Const, which is needed, get its type and shape. */
tenon_status_t tenon__uff_graph_shape_const(tenon_reader_t* reader, const tenon__uff_node_t* node);
/* tensor.c: a TensorProto. One whose type Tenon has not, or whose elements cannot be read, strings
 * and lists of complex numbers, leaves the kind NONE. */
tenon_status_t tenon__uff_tensor_read(tenon_reader_t* reader, const char* node,
                                      const tenon__uff_message_t* message,
                                      tenon__uff_attribute_t* out_attribute);

/* Names to nodes, outputs of the network (`outputs`: names with commas; NULL: what nobody reads),
 * an order. Refuses names that nothing defines or two nodes define, and cycles. */
tenon_status_t tenon__uff_graph_link(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                     const char* outputs);

/* NULL when absent. */
tenon__uff_attribute_t* tenon__uff_attribute(const tenon__uff_node_t* node, const char* name);
/* "Conv2D 'stem' (byte 17)". */
const char* tenon__uff_node_text(tenon_reader_t* reader, const tenon__uff_node_t* node);

#endif
