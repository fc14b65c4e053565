/* Copies of networks. */
#ifndef TENON_CORE_NETWORK_COPY_H_
#define TENON_CORE_NETWORK_COPY_H_

#include "core/network/network.h"

/* A deep copy (weights' bytes are shared, aligned where they were not; the source must outlive it).
 * Ids are kept. */
tenon_status_t tenon__network_copy(const tenon__network_t* network, tenon__network_t** out_network);

#endif
