/* A node's meaning as an expression over its graph's values. It is computed for single nodes, not
 * regions, because the check must not share code with the making of regions. */
#ifndef TENON_CORE_REHEARSAL_NODE_EXPRESSION_H_
#define TENON_CORE_REHEARSAL_NODE_EXPRESSION_H_

#include "core/timing/tuning.h"

/* Returns output `output` of a move (of an expression node: all outputs) as an expression; NULL if
 * there is none. Operands' indices are values of the graph, so that results of one node can be
 * passed to the next. In the tuning's arena. */
tenon_status_t tenon__node_expression(tenon__tuning_t* tuning, uint32_t graph, uint32_t node,
                                      uint32_t output, const tenon__expression_t** out_expression);

#endif
