/* Builds a plan from a network. core/builder/build.c shows the whole flow on one screen. */
#ifndef TENON_CORE_BUILDER_BUILD_H_
#define TENON_CORE_BUILDER_BUILD_H_

#include "core/builder/build_options.h"
#include "core/catalog/entry.h"
#include "core/network/network.h"

/* The network is not changed. Several builds may share it and the catalogue at once. The caller
 * owns the plan's bytes and frees them with the options' allocator and *out_plan_size. On failure
 * both outputs are unchanged. Returns INVALID_DATA if the network breaks its operators' rules,
 * UNSUPPORTED if no kernel computes a node, NOT_FOUND if a device is absent, and CANCELLED if the
 * application cancels. The message names the node. */
tenon_status_t tenon__build(const tenon__network_t* network, tenon__catalog_t* catalog,
                            const tenon__build_options_t* options, void** out_plan_data,
                            size_t* out_plan_size);

#endif
