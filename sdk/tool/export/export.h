/* Networks as files of other formats. */
#ifndef TOOL_EXPORT_EXPORT_H_
#define TOOL_EXPORT_EXPORT_H_

#include "data/pieces.h"
#include "tenon/tenon.h"

/* One format: `suffix` of its files, and what writes a network in it. UNSUPPORTED, with the names
 * of all nodes for which the format has nothing. Large weights are lent by the network: the pieces
 * are freed before it is destroyed. */
typedef struct tool_export_format_t {
  const char* suffix; /* ".uff" */
  const char* summary;
  tenon_status_t (*write)(tenon_network_t* network, tool_pieces_t* out_pieces);
} tool_export_format_t;

tenon_status_t tool_export_uff(tenon_network_t* network, tool_pieces_t* out_pieces);
tenon_status_t tool_export_onnx(tenon_network_t* network, tool_pieces_t* out_pieces);

#endif
