/* How the operations of a UFF file begin. uff_nodes.c holds the table of operators; the
 * functions below are for its rows. */
#ifndef TOOL_EXPORT_UFF_NODE_H_
#define TOOL_EXPORT_UFF_NODE_H_

#include "export/node.h"
#include "export/uff_file.h"

/* uff_nodes.c: writes the node as operations of UFF; false, with network->reason, when there are
 * none. */
bool tool_uff_write_node(tool_export_network_t* network, const tenon_network_item_t* item);

/* A node of this operation over the first `count` inputs, under the target's name. NULL,
 * refused, when one of them is lacking. Constants are written before it, for the pointer lasts
 * only until the next node. */
tool_wire_writer_t* tool_uff_begin(const tool_export_node_t* node, const char* operation,
                                   uint32_t count);
/* A list as an i32 Const of its own, numbers beyond that saturated; the name is freed by
 * tool_free. */
char* tool_uff_write_list(const tool_export_node_t* node, const char* what, uint32_t rank,
                          const int64_t* dims, const int64_t* values);

/* uff_windows.c */
bool tool_uff_convolution(const tool_export_node_t* node);
bool tool_uff_pool(const tool_export_node_t* node);
bool tool_uff_batch_norm(const tool_export_node_t* node);
bool tool_uff_lrn(const tool_export_node_t* node);
bool tool_uff_softmax(const tool_export_node_t* node);
/* uff_movement.c */
bool tool_uff_permute(const tool_export_node_t* node);
bool tool_uff_reshape(const tool_export_node_t* node);
bool tool_uff_concatenate(const tool_export_node_t* node);
bool tool_uff_pad(const tool_export_node_t* node);
bool tool_uff_strided_slice(const tool_export_node_t* node);
bool tool_uff_gather(const tool_export_node_t* node);

#endif
