/* Building: network in, plan out. core/builder/build.c is the whole flow on one screen. */
#ifndef TENON_CORE_BUILDER_BUILD_H_
#define TENON_CORE_BUILDER_BUILD_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"
#include "core/network/network.h"

/* The network is not changed. It may be shared by several builds at once, as the catalogue may. The
 * plan's bytes are the caller's, to be freed with the options' allocator and *out_plan_size; on
 * failure both are untouched. INVALID_DATA where the network breaks its operators' rules,
 * UNSUPPORTED where nobody computes a node, NOT_FOUND without a device, CANCELLED when the
 * application wants no more: each said with the node. */
tenon_status_t tenon__build(const tenon__network_t* network, tenon__catalog_t* catalog,
                            const tenon__build_options_t* options, void** out_plan_data,
                            size_t* out_plan_size);

#endif
