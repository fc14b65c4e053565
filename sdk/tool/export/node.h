/*
 * One node on its way into a file of another format: what it says of itself. A node is written only
 * if everything that it says is understood: an attribute that the format has not, with a value that
 * matters, refuses it.
 */
#ifndef TOOL_EXPORT_NODE_H_
#define TOOL_EXPORT_NODE_H_

#include "export/network.h"

/* Made on the stack for each node; all of it is borrowed. */
typedef struct tool_export_node_t {
  tool_export_network_t* network;
  const tenon_network_item_t* item;
  /* Of the format's table: a func, an operation, for functions that several rows share. */
  const char* word;
} tool_export_node_t;

/* Returns false; why is kept, by pointer: a literal, or network->message. */
bool tool_export_refuse(const tool_export_node_t* node, const char* reason);

/* NULL: it has none of that name. */
const tenon_attribute_t* tool_export_attribute(const tool_export_node_t* node, const char* name);
/* 0 without one; so is the float. */
int64_t tool_export_attribute_int(const tool_export_node_t* node,
                                  const char* name); /* 0 without one */
double tool_export_attribute_float(const tool_export_node_t* node, const char* name);
bool tool_export_attribute_is(const tool_export_node_t* node, const char* name, const char* value);
/* A list of spatial values: `otherwise` everywhere where it has not exactly `count` entries. */
void tool_export_attribute_list(const tool_export_node_t* node, const char* name, uint32_t count,
                                int64_t otherwise, int64_t* out_values);
/* What follows the attribute's name among those that are understood: one of "= >^-", or the end.
 * NULL: it is not there. */
const char* tool_export_find_word(const char* understood, const char* name);
/* `understood`: attributes by name, with blanks between them: "axis alpha=1.0". Those with a
 * value must have it (floats compared as f32), lists in each entry. False, and refused with the
 * name, for others, and for attributes that are not named. */
bool tool_export_understands(const tool_export_node_t* node, const char* understood);

/* Of an input: 0 where it is not known, or no tensor, or above the limit. */
uint32_t tool_export_rank(const tool_export_node_t* node, uint32_t index);
/* Negative ones count from the end. */
int64_t tool_export_axis(int64_t axis, uint32_t rank);
/* Input `index`, or attribute `fixed` (may be NULL) in its place, as at most
 * TENON_RANK_LIMIT numbers; none for neither. Refused where the input is not constant. */
bool tool_export_operand(const tool_export_node_t* node, uint32_t index, const char* fixed,
                         int64_t* out_values, uint32_t* out_count);

#endif
