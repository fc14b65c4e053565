/*
 * Attributes and operands of a node that is written into an ONNX file. A node is refused if it has
 * an attribute that ONNX lacks and whose value affects the result.
 */
#ifndef TOOL_EXPORT_NODE_H_
#define TOOL_EXPORT_NODE_H_

#include "export/network.h"

typedef struct tool_onnx_row_t tool_onnx_row_t;

/* Made on the stack for each node. All members are borrowed. */
typedef struct tool_onnx_node_t {
  tool_export_network_t* network;
  const tenon_network_item_t* item;
  const tool_onnx_row_t* row; /* of the table in onnx_nodes.c */
  tool_onnx_file_t* file;
} tool_onnx_node_t;

/* Returns false and keeps the pointer to the reason: a literal, or network->message. */
bool tool_onnx_refuse(const tool_onnx_node_t* node, const char* reason);

/* NULL if the node has no attribute of this name. */
const tenon_attribute_t* tool_onnx_attribute(const tool_onnx_node_t* node, const char* name);
/* These two return 0 if it is absent. */
int64_t tool_onnx_attribute_int(const tool_onnx_node_t* node, const char* name);
double tool_onnx_attribute_float(const tool_onnx_node_t* node, const char* name);
bool tool_onnx_attribute_is(const tool_onnx_node_t* node, const char* name, const char* value);
/* Finds a name in the list `understood`. Returns the text after it, which begins with one of
 * "= >^-" or is empty. NULL if the list lacks the name. */
const char* tool_onnx_find_word(const char* understood, const char* name);
/* `understood` lists names of attributes, separated by blanks: "axis alpha=1.0". An attribute that
 * the list gives a value must have it. Floats are compared as f32, lists in each entry. Refuses the
 * node, with the name of the attribute, if the value differs or the list lacks the name. */
bool tool_onnx_understands(const tool_onnx_node_t* node, const char* understood);

/* The rank of an input. 0 if it is unknown or above the limit, or if the input is no tensor. */
uint32_t tool_onnx_rank(const tool_onnx_node_t* node, uint32_t index);
/* The axis from 0. A negative one counts from the end. */
int64_t tool_onnx_axis(int64_t axis, uint32_t rank);
/* Input `index` as at most TENON_RANK_LIMIT numbers; none if it is absent. Refused if it is not
 * constant. */
bool tool_onnx_operand(const tool_onnx_node_t* node, uint32_t index, int64_t* out_values,
                       uint32_t* out_count);

#endif
