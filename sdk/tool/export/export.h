/* Networks as files of other formats, for `tenon convert`. network.h walks a network for any
 * format; what a format is, stands in files that begin with its name (onnx_, uff_). */
#ifndef TOOL_EXPORT_EXPORT_H_
#define TOOL_EXPORT_EXPORT_H_

#include "data/pieces.h"
#include "tenon/tenon.h"

/* One format: a row of the table that the command chooses from by the name of the file to be
 * written. */
typedef struct tool_export_format_t {
  const char* suffix; /* ".uff" */
  const char* summary;
  /* UNSUPPORTED, with the names of all nodes for which the format has nothing, in one message.
   * Large weights are lent by the network: the pieces are freed before it is destroyed. */
  tenon_status_t (*write)(tenon_network_t* network, tool_pieces_t* out_pieces);
} tool_export_format_t;

tenon_status_t tool_export_uff(tenon_network_t* network, tool_pieces_t* out_pieces);
tenon_status_t tool_export_onnx(tenon_network_t* network, tool_pieces_t* out_pieces);

#endif
