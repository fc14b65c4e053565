/* A constant's bytes from a view with any strides. */
#ifndef TENON_CORE_NETWORK_DENSE_H_
#define TENON_CORE_NETWORK_DENSE_H_

#include "core/network/network.h"

/* Weights from a view: borrowed where that is asked for and the view is dense, else a dense copy in
 * the network's memory; strings are copied with their characters. Strides NULL: dense.
 * INVALID_ARGUMENT for a view that cannot be. */
tenon_status_t tenon__weights_from_view(tenon__network_t* network, const char* name,
                                        const tenon_tensor_view_t* view, bool borrow,
                                        const tenon_sink_t* sink, uint32_t* out_weights);

#endif
