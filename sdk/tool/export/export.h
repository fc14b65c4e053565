/* Networks as ONNX files, for `tenon convert`. network.h walks a network, onnx_node.h writes a node,
 * onnx_file.h the messages of the file. */
#ifndef TOOL_EXPORT_EXPORT_H_
#define TOOL_EXPORT_EXPORT_H_

#include "data/pieces.h"
#include "tenon/tenon.h"

/* UNSUPPORTED lists all nodes without a counterpart in ONNX in one message. Large weights are borrowed
 * from the network: free the pieces before it is destroyed. */
tenon_status_t tool_export_onnx(tenon_network_t* network, tool_pieces_t* out_pieces);

#endif
