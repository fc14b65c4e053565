/* The program of one node of a region, for kernels of several nodes. */
#ifndef TENON_CORE_REGION_NODE_PROGRAM_H_
#define TENON_CORE_REGION_NODE_PROGRAM_H_

#include "core/network/network.h"

/* Returns the program of a node with one output, over that output's shape, with inputs read as
 * broadcast: see the region table's node_program. NULL if it has none, or another form. Read-only,
 * so several threads may call it. */
const tenon_program_t* tenon__node_program(const tenon__network_t* network, uint32_t graph,
                                           uint32_t node);

#endif
