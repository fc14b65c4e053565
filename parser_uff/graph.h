/*
 * A graph, whichever of both formats it had: nodes with inputs and attributes. uff.c and
 * graph_def.c make it of the tree, graph.c links it, everything after that no longer asks for the
 * format but where the two mean different things (is_tensorflow). All of it lives until the parse
 * ends.
 */
#ifndef TENON_PARSER_UFF_GRAPH_H_
#define TENON_PARSER_UFF_GRAPH_H_

#include "tenon/reader.h"
#include "tree.h"

/* Axes of a shape, a tensor, a dimension order. */
enum { TENON__UFF_RANK_LIMIT = 32 };

/* What a node says by name. `kind` decides which members count. Of a type both: its mnemonic as
 * text, its number as integer (kind STRING), so that converters may ask for either. */
typedef struct tenon__uff_attribute_t {
  const char* name;
  /* One of TENON_FIELD_* without trees and bodies; NONE for what Tenon has not, a function say:
   * who asks for it finds nothing. */
  uint32_t kind;
  /* Somebody asked for it; what stays unread is named as a warning (source.h). */
  bool is_read;
  bool is_type;
  /* TENSOR: the elements lie in the file, perhaps unaligned, and a constant may borrow them. */
  bool is_borrowed;
  int64_t integer;
  /* FLOAT; an INT is not copied here. */
  double number;
  /* STRING: ends with NUL. Bytes that are no UTF-8 were made readable. */
  tenon_string_view_t text;
  /* INTS and FLOATS: [count], the list of the other kind is NULL, and both are for an empty
   * list. -1 is an open extent. */
  const int64_t* ints;
  const double* floats;
  const tenon_string_view_t* texts;
  size_t count; /* of whichever list is there */
  tenon_tensor_view_t tensor;
} tenon__uff_attribute_t;

/* An edge: which output of which node. Until it is linked `node` is NULL. */
typedef struct tenon__uff_input_t {
  const char* name; /* as it is written: "stem", "split:1" */
  struct tenon__uff_node_t* node;
  uint32_t index; /* which of its outputs */
} tenon__uff_input_t;

/* A node of the file, and what each stage finds of it: the reader fills all up to `place`,
 * graph.c is_used to next_input, check `switches`, and the conversion the rest. */
typedef struct tenon__uff_node_t {
  const char* name;
  /* As it is written: "Conv2D", UFF's "Conv" or "_Conv2D". */
  const char* operation;
  /* As converters know it: with UFF's own operations "", with TensorFlow's "tensorflow", in
   * "Space>Op" the space; `type` is without these marks. */
  const char* domain;
  const char* type;
  /* [input_count + control_count]: of data first. Edges that only make a node wait (TensorFlow's
   * "^name") are kept for a node without data alone: a constant that waits for a side of a
   * Switch belongs to it. */
  tenon__uff_input_t* inputs;
  uint32_t input_count; /* of data */
  /* As read: names to wait for. Linked: the outputs of Switches that these come to; others are
   * dropped. */
  uint32_t control_count;
  /* What the operation says, or more where somebody reads more. */
  uint32_t output_count;
  tenon__uff_attribute_t* attributes;
  uint32_t attribute_count;
  /* Where the file defines it: see tenon__uff_place. */
  uint64_t place;
  /* Somebody reads an output, so it is none of the network's by itself. */
  bool is_used;
  /* An output of the network depends on it: only these are checked and converted. */
  bool is_taken;
  /* Of the walk that orders: the next one to look at; past all inputs, plus 1, when it is done. */
  uint32_t next_input;
  /* How many Switches it lies behind, without their Merge: then it may be dead, and may lack a
   * converter. */
  uint32_t switches;
  /* [output_count], NULL until it is converted; id 0 for an output that is not made. */
  tenon_value_t* outputs;
  /* Of a branch that is known not to be taken: it is not converted. */
  bool is_dead;
  /* It needs what nobody converts; it is passed over, so that everything that is missing is
   * told. */
  bool is_lacking;
  /* control.c: the innermost branch that it belongs to; NULL: none that only the run decides. */
  const struct tenon__uff_branch_t* branch;
  /* Of a Switch that the run decides: two, of output 0 (false) and 1 (true). */
  const struct tenon__uff_branch_t* sides;
} tenon__uff_node_t;

/* A file's graph. `nodes` stand as in the file, which in UFF is the reverse of the order in
 * which they were made. */
typedef struct tenon__uff_graph_t {
  bool is_tensorflow;
  /* Of an input an empty shape says nothing: UFF, and TensorFlow's graphs up to producer version
   * 21. */
  bool has_vague_shapes;
  tenon__uff_node_t* nodes;
  size_t node_count;
  tenon_reader_names_t names; /* name to node */
  /* [order_count]: those that are taken, producers first. */
  tenon__uff_node_t** order;
  size_t order_count;
  /* [output_count], of the network, in order; `name` is what the output is called. */
  tenon__uff_input_t* outputs;
  uint32_t output_count;
  uint32_t output_capacity;
} tenon__uff_graph_t;

/* uff.c and graph_def.c: from the tree of a file, without looking at what names refer to. Memory
 * of the tree is shared. INVALID_DATA names the place. Of a UFF file the first graph counts. */
tenon_status_t tenon__uff_graph_read_uff(tenon_reader_t* reader,
                                         const tenon__uff_message_t* message,
                                         tenon__uff_graph_t* out_graph);
tenon_status_t tenon__uff_graph_read_tensorflow(tenon_reader_t* reader,
                                                const tenon__uff_message_t* message,
                                                tenon__uff_graph_t* out_graph);
/* uff.c: the bytes of a Const get its type and shape: attributes `values`, `dtype` (f32
 * without), `shape`. Done for those that are converted alone, since a file may hold much that
 * nothing needs. INVALID_DATA when the three do not agree. */
tenon_status_t tenon__uff_graph_shape_const(tenon_reader_t* reader, const tenon__uff_node_t* node);
/* tensor.c: a TensorProto into an attribute: tensor_content as it lies, or the list of its type,
 * whose last number fills the rest (none: zeros). One whose type Tenon has not, or whose
 * elements cannot be read, strings and lists of complex numbers, leaves the kind NONE.
 * INVALID_DATA, with the node's name, when shape and elements do not agree. */
tenon_status_t tenon__uff_tensor_read(tenon_reader_t* reader, const char* node,
                                      const tenon__uff_message_t* message,
                                      tenon__uff_attribute_t* out_attribute);

/* Resolves names ("node" is output 0, "node:1" the next; a name that holds a colon itself counts
 * first), finds the network's outputs and an order. `outputs`: names with commas; NULL: what the
 * file marks, else what nobody reads and is no constant, input or effect. INVALID_DATA for a
 * name that nothing defines or two nodes do, and for no outputs; INVALID_ARGUMENT for one of
 * `outputs` that is not there; UNSUPPORTED for a cycle, which is a loop of TensorFlow 1. */
tenon_status_t tenon__uff_graph_link(tenon_reader_t* reader, tenon__uff_graph_t* graph,
                                     const char* outputs);

/* NULL when absent. Does not mark it as read. */
tenon__uff_attribute_t* tenon__uff_attribute(const tenon__uff_node_t* node, const char* name);
/* "Conv2D 'stem' (byte 17)", for messages; the name alone when memory is out. */
const char* tenon__uff_node_text(tenon_reader_t* reader, const tenon__uff_node_t* node);

#endif
