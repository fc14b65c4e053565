/* What one node of a region computes, where kernels of several nodes may take it as their own. */
#ifndef TENON_CORE_REGION_NODE_PROGRAM_H_
#define TENON_CORE_REGION_NODE_PROGRAM_H_

#include "core/network/network.h"

/* The program of a node of one output, over that output's shape, that reads its inputs as
 * broadcasting has them: see the region table's node_program. NULL: it has none, or another one.
 * Only looks, so it may be asked while others look. */
const tenon_program_t* tenon__node_program(const tenon__network_t* network, uint32_t graph,
                                           uint32_t node);

#endif
