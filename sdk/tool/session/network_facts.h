/* What a network holds: operators and constants; and networks as text. For `tenon inspect`, of a
 * model that need not be buildable. */
#ifndef TOOL_SESSION_NETWORK_FACTS_H_
#define TOOL_SESSION_NETWORK_FACTS_H_

#include "tenon/tenon.h"

/* An operator and how many nodes are of it. */
typedef struct tool_op_count_t {
  /* "standard.relu/1"; of an expression or a move, a word for it. Owned. */
  char* op;
  uint32_t count;
} tool_op_count_t;

/* Counted over the main graph and all bodies. */
typedef struct tool_network_facts_t {
  tool_op_count_t* ops; /* the most frequent first, then by name */
  size_t op_count;
  uint32_t node_count; /* bodies' too */
  uint32_t constant_count;
  /* Of elements, each constant once, whoever reads it. */
  uint64_t constant_bytes;
} tool_network_facts_t;

/* Walks the network once; what it finds is freed by tool_network_facts_free. */
tenon_status_t tool_network_facts_find(tenon_network_t* network, tool_network_facts_t* out_facts);
void tool_network_facts_free(tool_network_facts_t* facts);

/* The library's texts (tenon_network_print, tenon_engine_print_network), freed by tool_free; not
 * escaped. */
char* tool_network_text(const tenon_network_t* network);
char* tool_engine_text(const tenon_engine_t* engine);

/* "weights 97.4 MiB, packed copies 97.3 (--tuned-only drops the originals)": what a plan holds.
 * Freed by tool_free. */
char* tool_weights_text(const tenon_engine_info_t* info);

#endif
