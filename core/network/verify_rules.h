/* Verification of a network by its operators' own rules: before a build, after each pass if
 * requested, and after reading a file. */
#ifndef TENON_CORE_NETWORK_VERIFY_RULES_H_
#define TENON_CORE_NETWORK_VERIFY_RULES_H_

#include "core/dimension/requirement.h"
#include "core/network/network.h"

/* Verifies all invariants: ids in range, single assignment, no cycles, types and shapes that agree
 * with the operators' rules, bodies' signatures. Reports the first error. Returns INTERNAL if the
 * core is at fault. */
tenon_status_t tenon__network_verify(const tenon__network_t* network, const tenon_sink_t* sink);
/* Same, and adds shape constraints for the run to the list. */
tenon_status_t tenon__network_verify_for_run(const tenon__network_t* network,
                                             tenon__requirements_t* inout_requirements,
                                             const tenon_sink_t* sink);

/* Verifies one live node by its operator's rules. A node with bodies has been checked with them. */
tenon_status_t tenon__node_verify(const tenon__network_t* network, uint32_t graph, uint32_t node,
                                  const tenon_sink_t* sink);

/* Returns true if the rules of its operator give a shape constraint for the run. Infers the node
 * again. */
bool tenon__node_requires(const tenon__network_t* network, uint32_t graph, uint32_t node);

/* Verifies the structure: ids in range, single assignment, bodies owned by their nodes and with
 * their signature, meanings that read existing inputs. Reports the first error and returns
 * `status`. tenon__graph_order finds cycles. */
tenon_status_t tenon__network_verify_structure(const tenon__network_t* network,
                                               tenon_status_t status, const tenon_sink_t* sink);

#endif
