/*
 * Attributes and operands of one node on its way into an ONNX file. A node is written only if all of
 * its attributes are understood. An attribute that ONNX lacks, with a value that matters, refuses it.
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

/* NULL: it has none of that name. */
const tenon_attribute_t* tool_onnx_attribute(const tool_onnx_node_t* node, const char* name);
/* 0 without one; so is the float. */
int64_t tool_onnx_attribute_int(const tool_onnx_node_t* node, const char* name); /* 0 without one */
double tool_onnx_attribute_float(const tool_onnx_node_t* node, const char* name);
bool tool_onnx_attribute_is(const tool_onnx_node_t* node, const char* name, const char* value);
/* What follows the attribute's name among those that are understood: one of "= >^-", or the end.
 * NULL: it is not there. */
const char* tool_onnx_find_word(const char* understood, const char* name);
/* `understood`: attributes by name, with blanks between them: "axis alpha=1.0". Those with a
 * value must have it (floats compared as f32), lists in each entry. False, and refused with the
 * name, for others, and for attributes that are not named. */
bool tool_onnx_understands(const tool_onnx_node_t* node, const char* understood);

/* Of an input: 0 where it is not known, or no tensor, or above the limit. */
uint32_t tool_onnx_rank(const tool_onnx_node_t* node, uint32_t index);
/* Negative ones count from the end. */
int64_t tool_onnx_axis(int64_t axis, uint32_t rank);
/* Input `index` as at most TENON_RANK_LIMIT numbers; none if it is absent. Refused if it is not
 * constant. */
bool tool_onnx_operand(const tool_onnx_node_t* node, uint32_t index, int64_t* out_values,
                       uint32_t* out_count);

#endif
