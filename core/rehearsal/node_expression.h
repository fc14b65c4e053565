/* What a node computes, as an expression over its graph's values. Node by node and not by region:
 * the judge must not share the code that made the region. */
#ifndef TENON_CORE_REHEARSAL_NODE_EXPRESSION_H_
#define TENON_CORE_REHEARSAL_NODE_EXPRESSION_H_

#include "core/timing/tuning.h"

/* Output `output` of a move (of an expression node: all of them) as an expression over graph
 * values; NULL when there is none. Operands' indices are values of the graph, so that results of
 * one node can be handed to the next. In the tuning's arena. */
tenon_status_t tenon__node_expression(tenon__tuning_t* tuning, uint32_t graph, uint32_t node,
                                      uint32_t output, const tenon__expression_t** out_expression);

#endif
