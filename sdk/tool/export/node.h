/* One node on its way into a file of another format: what it says of itself. */
#ifndef TOOL_EXPORT_NODE_H_
#define TOOL_EXPORT_NODE_H_

#include "export/network.h"

typedef struct tool_export_node_t {
  tool_export_network_t* network;
  const tenon_network_item_t* item;
  const char* word; /* of the table: a func, an operation */
} tool_export_node_t;

/* False; why is kept. */
bool tool_export_refuse(const tool_export_node_t* node, const char* reason);

/* NULL: it has none of that name. */
const tenon_attribute_t* tool_export_attribute(const tool_export_node_t* node, const char* name);
int64_t tool_export_attribute_int(const tool_export_node_t* node,
                                  const char* name); /* 0 without one */
double tool_export_attribute_float(const tool_export_node_t* node, const char* name);
bool tool_export_attribute_is(const tool_export_node_t* node, const char* name, const char* value);
/* A list of spatial values: `otherwise` everywhere where it has not so many. */
void tool_export_attribute_list(const tool_export_node_t* node, const char* name, uint32_t count,
                                int64_t otherwise, int64_t* out_values);
/* What follows the attribute's name among those that are understood; NULL: it is not. */
const char* tool_export_find_word(const char* understood, const char* name);
/* `understood`: attributes by name, with blanks between them: "axis alpha=1.0". Those with a value
 * must have it, lists in each entry. False, and refused, for others, and for attributes that are
 * not named. */
bool tool_export_understands(const tool_export_node_t* node, const char* understood);

/* Of an input: 0 where it is not known. */
uint32_t tool_export_rank(const tool_export_node_t* node, uint32_t index);
int64_t tool_export_axis(int64_t axis, uint32_t rank); /* negative ones from the end */
/* Input `index`, or attribute `fixed` in its place, as at most TOOL_EXPORT_RANK_LIMIT numbers. */
bool tool_export_operand(const tool_export_node_t* node, uint32_t index, const char* fixed,
                         int64_t* out_values, uint32_t* out_count);

#endif
