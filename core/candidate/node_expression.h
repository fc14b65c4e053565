/* What a node computes, as an expression over its graph's values. */
#ifndef TENON_CORE_CANDIDATE_NODE_EXPRESSION_H_
#define TENON_CORE_CANDIDATE_NODE_EXPRESSION_H_

#include "core/candidate/tuning.h"

/* Output `output` of a move (of an expression node: all of them) as an expression over graph
 * values; NULL when there is none. */
tenon_status_t tenon__node_expression(tenon__tuning_t* tuning, uint32_t graph, uint32_t node,
                                      uint32_t output, const tenon__expression_t** out_expression);

#endif
