/* A node as converters see it: the contract's source-node table over a graph's node. */
#ifndef TENON_PARSER_UFF_SOURCE_H_
#define TENON_PARSER_UFF_SOURCE_H_

#include "program.h"

struct tenon_source_t {
  tenon__uff_program_t* program;
  tenon__uff_node_t* node;
};

const tenon_source_table_t* tenon__uff_source_table(void);

/* Says once, for each operation, which of its attributes nobody asked for. */
tenon_status_t tenon__uff_source_tell_unread(const tenon_source_t* source);

#endif
