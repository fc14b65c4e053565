/* Parts of verification: a network's structure alone, for what was read from a file; one node. */
#ifndef TENON_CORE_NETWORK_VERIFY_H_
#define TENON_CORE_NETWORK_VERIFY_H_

#include "core/network/network.h"

/* Ids in range, single assignment, bodies owned by their nodes and of their signature, meanings
 * that read what is there. Names the first fault and returns `status` for it. Cycles are found by
 * tenon__graph_order. */
tenon_status_t tenon__network_verify_structure(const tenon__network_t* network,
                                               tenon_status_t status, const tenon_sink_t* sink);

#endif
