/* Writes networks as ONNX files, for `tenon convert`. network.h walks a network, onnx_node.h writes
 * a node, and onnx_file.h writes the messages of the file. */
#ifndef TOOL_EXPORT_EXPORT_H_
#define TOOL_EXPORT_EXPORT_H_

#include "data/pieces.h"
#include "tenon/tenon.h"

/* UNSUPPORTED if ONNX lacks a node. The message lists all such nodes. Large weights are borrowed
 * from the network, so free the pieces before you destroy it. */
tenon_status_t tool_export_onnx(tenon_network_t* network, tool_pieces_t* out_pieces);

#endif
