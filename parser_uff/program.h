/* A graph on its way into a network. */
#ifndef TENON_PARSER_UFF_PROGRAM_H_
#define TENON_PARSER_UFF_PROGRAM_H_

#include "graph.h"

/* Nodes between a Switch and its Merge belong to a branch: one side of a condition that only the
 * run knows, within another one or not. */
typedef struct tenon__uff_branch_t {
  const struct tenon__uff_branch_t* outer; /* NULL: none */
  tenon_value_t condition;
  uint32_t side; /* 1: taken when it is true */
  uint32_t depth;
} tenon__uff_branch_t;

typedef struct tenon__uff_program_t {
  tenon_reader_t* reader;
  tenon__uff_graph_t graph;
  tenon_reader_names_t told; /* attributes that were named as ignored */
  bool is_lacking;           /* a node has no converter */
} tenon__uff_program_t;

/* Tells the host what the file says of itself, and reports the nodes that no converter takes; not
 * yet those behind a Switch, which may be dead. */
tenon_status_t tenon__uff_program_check(tenon__uff_program_t* program);
/* convert.c: builds the network. */
tenon_status_t tenon__uff_program_convert(tenon__uff_program_t* program);

/* control.c: how many Switches a node lies behind, by those of its inputs. */
void tenon__uff_control_count(const tenon__uff_program_t* program, tenon__uff_node_t* node);
/* What a node's inputs say about it, before it is converted: dead or lacking when one of them is,
 * else of the innermost branch among theirs. */
void tenon__uff_control_enter(tenon__uff_program_t* program, tenon__uff_node_t* node);
/* Switch and Merge, which TensorFlow 1 makes conditions of. False: it is another operator. */
bool tenon__uff_control_is(const tenon__uff_program_t* program, const tenon__uff_node_t* node);
tenon_status_t tenon__uff_control_convert(tenon__uff_program_t* program, tenon__uff_node_t* node);

#endif
