/* One node on its way into a UFF file: what it says of itself, and how its operations begin. */
#ifndef TOOL_EXPORT_UFF_NODE_H_
#define TOOL_EXPORT_UFF_NODE_H_

#include "export/uff_network.h"

typedef struct tool_uff_node_t {
  tool_uff_network_t* network;
  const tenon_network_item_t* item;
  const char* word; /* of the table: a func, an operation */
} tool_uff_node_t;

/* False; why is kept. */
bool tool_uff_refuse(const tool_uff_node_t* node, const char* reason);

/* NULL: it has none of that name. */
const tenon_attribute_t* tool_uff_attribute(const tool_uff_node_t* node, const char* name);
int64_t tool_uff_attribute_int(const tool_uff_node_t* node, const char* name); /* 0 without one */
double tool_uff_attribute_float(const tool_uff_node_t* node, const char* name);
bool tool_uff_attribute_is(const tool_uff_node_t* node, const char* name, const char* value);
/* A list of spatial values: `otherwise` everywhere where it has not so many. */
void tool_uff_attribute_list(const tool_uff_node_t* node, const char* name, uint32_t count,
                             int64_t otherwise, int64_t* out_values);
/* `understood`: attributes by name, with blanks between them: "axis alpha=1.0". Those with a value
 * must have it, lists in each entry. False, and refused, for others, and for attributes that are
 * not named. */
bool tool_uff_understands(const tool_uff_node_t* node, const char* understood);

/* Of an input: 0 where it is not known. */
uint32_t tool_uff_rank(const tool_uff_node_t* node, uint32_t index);
int64_t tool_uff_axis(int64_t axis, uint32_t rank); /* negative ones from the end */
/* Input `index`, or attribute `fixed` in its place, as at most TOOL_UFF_RANK_LIMIT numbers. */
bool tool_uff_operand(const tool_uff_node_t* node, uint32_t index, const char* fixed,
                      int64_t* out_values, uint32_t* out_count);

/* A node of this operation over the first `count` inputs, under the target's name. NULL when one of
 * them is lacking. Constants come before it. */
tool_wire_writer_t* tool_uff_begin(const tool_uff_node_t* node, const char* operation,
                                   uint32_t count);
/* A list as a Const of its own; the name is freed by tool_free. */
char* tool_uff_write_list(const tool_uff_node_t* node, const char* what, uint32_t rank,
                          const int64_t* dims, const int64_t* values);

/* uff_windows.c */
bool tool_uff_convolution(const tool_uff_node_t* node);
bool tool_uff_pool(const tool_uff_node_t* node);
bool tool_uff_batch_norm(const tool_uff_node_t* node);
bool tool_uff_lrn(const tool_uff_node_t* node);
bool tool_uff_softmax(const tool_uff_node_t* node);
/* uff_movement.c */
bool tool_uff_permute(const tool_uff_node_t* node);
bool tool_uff_reshape(const tool_uff_node_t* node);
bool tool_uff_concatenate(const tool_uff_node_t* node);
bool tool_uff_pad(const tool_uff_node_t* node);
bool tool_uff_strided_slice(const tool_uff_node_t* node);
bool tool_uff_gather(const tool_uff_node_t* node);

#endif
