/*
 * A node as converters see it: the contract's source-node table over a graph's node. Version is 1
 * for all; there are no trees, bodies or blobs. Integers serve where floats are asked for; asking
 * for an attribute, even for its kind, marks it as read.
 */
#ifndef TENON_PARSER_UFF_SOURCE_H_
#define TENON_PARSER_UFF_SOURCE_H_

#include "program.h"

/* Made for each node that is converted; lives until the parse ends. */
struct tenon_source_t {
  tenon__uff_program_t* program;
  tenon__uff_node_t* node;
};

/* Constant. can_borrow is true of elements that lie in the mapped file. */
const tenon_source_table_t* tenon__uff_source_table(void);

/* unread.c: warns once, for each operation, which of its attributes nobody asked for: they might
 * have changed the result. Types, hints for speed or placement, and empty texts do not. Fails
 * only for want of memory. */
tenon_status_t tenon__uff_source_tell_unread(const tenon_source_t* source);

#endif
