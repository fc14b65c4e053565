/* One node on its way into an ONNX file. onnx_nodes.c holds the table: a row an operator, and
 * where the row's words do not say all, a function of the files below. */
#ifndef TOOL_EXPORT_ONNX_NODE_H_
#define TOOL_EXPORT_ONNX_NODE_H_

#include "export/node.h"

/* Of operators whose inputs are put in another order, so that the order fits on the stack. */
enum { TOOL_ONNX_MOST_INPUTS = 16 };

/* What a standard operator is in ONNX. */
struct tool_onnx_row_t {
  const char* op; /* without "standard." and version */
  /* ONNX's; or the text of what it computes: "x * sigmoid(alpha * x)", for `write`
   * tool_onnx_expression. */
  const char* type;
  bool (*write)(const tool_onnx_node_t* node);
  /* Attributes that ONNX has, by name, with blanks between them: "axis alpha". "lambda>lambd":
   * under another name; "mode^": in capitals; "smooth=1": only that value, which is not written;
   * "parts-": read by `write`. */
  const char* attributes;
  /* The operator set that brought it; 0: an early one. */
  uint32_t since;
};

/* onnx_nodes.c: writes a node for tool_export_walk. Refuses operators without a row and attributes
 * that the row lacks. */
bool tool_onnx_write_node(tool_export_network_t* network, const tenon_network_item_t* item);

/* Whether input `index` is there. */
bool tool_onnx_has(const tool_onnx_node_t* node, uint32_t index);
/* Its name; "" where it is absent, which ONNX has for optional inputs. NULL, and the node is
 * refused, when it is lacking. */
const char* tool_onnx_source(const tool_onnx_node_t* node, uint32_t index);

/* The node itself, in the row's type with the row's attributes, over these names; NULL, refused,
 * when an attribute is not ONNX's, or one of `names` is NULL (lacking). Names "" at the end are
 * left out. */
tool_wire_writer_t* tool_onnx_begin(const tool_onnx_node_t* node, const char* const* names,
                                    uint32_t count);
/* The same over the node's own inputs, in order. */
bool tool_onnx_same(const tool_onnx_node_t* node);
/* A node on the way, with one result, whose name is freed by tool_free. `out_writer`: for its
 * attributes, NULL when it has none. Of an early operator set: `since` is 0. */
char* tool_onnx_step(const tool_onnx_node_t* node, const char* type, const char* const* names,
                     uint32_t count, tool_wire_writer_t** out_writer);
/* Constants, a vector each; the names are freed by tool_free. */
char* tool_onnx_int64s(const tool_onnx_node_t* node, const char* what, const int64_t* values,
                       uint32_t count);
char* tool_onnx_int64(const tool_onnx_node_t* node, const char* what, int64_t value);
/* A scalar of that type; NULL when it is none of numbers or bool. */
char* tool_onnx_number(const tool_onnx_node_t* node, tenon_dtype_t dtype, double value);

/* onnx_expression.c: `text` (sdk/docs/expressions.md) as a chain of nodes. `names`: of its
 * inputs, in order; NULL: a, b, c ... Attributes stand for their numbers. Refused by the word
 * that ONNX has nothing for. */
bool tool_onnx_write_expression(const tool_onnx_node_t* node, const char* text,
                                const char* const* names);
/* The row's type is such a text. */
bool tool_onnx_expression(const tool_onnx_node_t* node);

/* onnx_windows.c: each a row's `write`. So are those of the files below. */
bool tool_onnx_window(const tool_onnx_node_t* node);
bool tool_onnx_recurrent(const tool_onnx_node_t* node);
bool tool_onnx_attention(const tool_onnx_node_t* node);
bool tool_onnx_loss(const tool_onnx_node_t* node);
bool tool_onnx_with_scale(const tool_onnx_node_t* node);
bool tool_onnx_resize(const tool_onnx_node_t* node);
/* onnx_movement.c */
bool tool_onnx_reshape(const tool_onnx_node_t* node);
bool tool_onnx_group_channels(const tool_onnx_node_t* node);
bool tool_onnx_axes(const tool_onnx_node_t* node);
bool tool_onnx_split(const tool_onnx_node_t* node);
bool tool_onnx_one_hot(const tool_onnx_node_t* node);
bool tool_onnx_dft(const tool_onnx_node_t* node);
bool tool_onnx_top_k(const tool_onnx_node_t* node);
bool tool_onnx_shape(const tool_onnx_node_t* node);
bool tool_onnx_flat_or_axis(const tool_onnx_node_t* node);
bool tool_onnx_random(const tool_onnx_node_t* node);
bool tool_onnx_to_text(const tool_onnx_node_t* node);
bool tool_onnx_optional(const tool_onnx_node_t* node);
/* onnx_control.c */
bool tool_onnx_branch(const tool_onnx_node_t* node);
bool tool_onnx_repetition(const tool_onnx_node_t* node);
/* onnx_numbers.c */
bool tool_onnx_quantize(const tool_onnx_node_t* node);
bool tool_onnx_dequantize(const tool_onnx_node_t* node);
bool tool_onnx_affine_scale(const tool_onnx_node_t* node);
bool tool_onnx_mod(const tool_onnx_node_t* node);

#endif
