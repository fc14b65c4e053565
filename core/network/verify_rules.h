/* Verification of a network by its operators' own rules: of what a build begins with, of what each
 * pass made when that is asked for, and of what came from a file. */
#ifndef TENON_CORE_NETWORK_VERIFY_RULES_H_
#define TENON_CORE_NETWORK_VERIFY_RULES_H_

#include "core/dimension/requirement.h"
#include "core/network/network.h"

/* Everything that must hold: ids in range, single assignment, no cycles, types and shapes agree
 * with the operators' rules, bodies' signatures agree. Names the first fault. INTERNAL when we
 * broke it. */
tenon_status_t tenon__network_verify(const tenon__network_t* network, const tenon_sink_t* sink);
/* And what the rules leave to the run goes to the list. */
tenon_status_t tenon__network_verify_for_run(const tenon__network_t* network,
                                             tenon__requirements_t* inout_requirements,
                                             const tenon_sink_t* sink);

/* One node that is alive, by its operator's rules; what has bodies was checked with them. */
tenon_status_t tenon__node_verify(const tenon__network_t* network, uint32_t graph, uint32_t node,
                                  const tenon_sink_t* sink);

/* Do the rules of its operator leave a condition to the run? Infers the node again. */
bool tenon__node_requires(const tenon__network_t* network, uint32_t graph, uint32_t node);

/* Ids in range, single assignment, bodies owned by their nodes and of their signature, meanings
 * that read what is there. Names the first fault and returns `status` for it. Cycles are found by
 * tenon__graph_order. */
tenon_status_t tenon__network_verify_structure(const tenon__network_t* network,
                                               tenon_status_t status, const tenon_sink_t* sink);

#endif
