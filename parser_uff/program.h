/*
 * A graph on its way into a network: checked as a whole (convert.c), then node by node in the
 * graph's order. TensorFlow 1 has no conditions but Switch and Merge: control.c makes choices of
 * them.
 */
#ifndef TENON_PARSER_UFF_PROGRAM_H_
#define TENON_PARSER_UFF_PROGRAM_H_

#include "graph.h"

/* Nodes between a Switch and its Merge belong to a branch: one side of a condition that only the
 * run knows, within another one or not. Both sides are computed, and the Merge takes one: a
 * network has no effects, but a side must not fail on data of the other. */
typedef struct tenon__uff_branch_t {
  const struct tenon__uff_branch_t* outer; /* NULL: none */
  /* A scalar bool of the network. Two Switches on one value make branches of one condition. */
  tenon_value_t condition;
  uint32_t side; /* 1: taken when it is true */
  /* From 1, one more than `outer` has. */
  uint32_t depth;
} tenon__uff_branch_t;

/* The one of a parse, on the stack of tenon__uff_parser_parse. */
typedef struct tenon__uff_program_t {
  tenon_reader_t* reader;
  tenon__uff_graph_t graph;
  /* "operation:attribute" that were named as ignored: each once. */
  tenon_reader_names_t told;
  /* A node has no converter: nothing is built, once all are told. */
  bool is_lacking;
} tenon__uff_program_t;

/* Tells the host what the file says of itself, and reports the nodes that no converter takes;
 * not yet those behind a Switch, which may be dead. UNSUPPORTED when something was reported.
 * Converters for UFF's "_Op" are looked for as "_Op" first, then as TensorFlow's "Op". */
tenon_status_t tenon__uff_program_check(tenon__uff_program_t* program);
/* convert.c: builds the network: inputs in the order in which the graph was made, nodes,
 * outputs. The caller's shape of an input replaces the file's if it has the same rank; without
 * any rank INVALID_ARGUMENT says how to give one. */
tenon_status_t tenon__uff_program_convert(tenon__uff_program_t* program);

/* control.c: sets node->switches from those of its inputs: the most of them, one more behind a
 * Switch, one less for a Merge. Inputs must have theirs. */
void tenon__uff_control_count(const tenon__uff_program_t* program, tenon__uff_node_t* node);
/* What a node's inputs say about it, before it is converted: dead or lacking when one of them
 * is, else of the innermost branch among theirs. A Merge is dead only when all are, which its
 * conversion finds. */
void tenon__uff_control_enter(tenon__uff_program_t* program, tenon__uff_node_t* node);
/* Switch and Merge of TensorFlow. False: it is another operator. */
bool tenon__uff_control_is(const tenon__uff_program_t* program, const tenon__uff_node_t* node);
/* A Switch gives its data on the side that is known, or on both; a Merge what is alive, an
 * elementwise select where both sides have the same known extents, else a choice with two
 * bodies. UNSUPPORTED: a Merge whose inputs are not two sides of one condition, or whose second
 * output (which input came) is read. */
tenon_status_t tenon__uff_control_convert(tenon__uff_program_t* program, tenon__uff_node_t* node);

#endif
