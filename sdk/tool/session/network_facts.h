/* What a network holds, counted in the library's text of it (tenon_network_print and
 * tenon_engine_print_network): operators and constants. */
#ifndef TOOL_SESSION_NETWORK_FACTS_H_
#define TOOL_SESSION_NETWORK_FACTS_H_

#include "tenon/tenon.h"

typedef struct tool_op_count_t {
  char* op; /* "standard.relu/1" */
  uint32_t count;
} tool_op_count_t;

typedef struct tool_network_facts_t {
  tool_op_count_t* ops; /* the most frequent first, then by name */
  size_t op_count;
  uint32_t node_count; /* bodies' too */
  uint32_t constant_count;
  uint64_t constant_bytes;
} tool_network_facts_t;

/* The texts, freed by tool_free; not escaped. */
char* tool_network_text(const tenon_network_t* network);
char* tool_engine_text(const tenon_engine_t* engine);

void tool_network_facts_find(const char* text, tool_network_facts_t* out_facts);
void tool_network_facts_free(tool_network_facts_t* facts);

/* "weights 97.4 MiB, packed copies 97.3 (--tuned-only drops the originals)": what a plan of so many
 * bytes of weights holds. Freed by tool_free. */
char* tool_weights_words(const tenon_engine_t* engine, uint64_t weights_bytes);

#endif
