/* Data that a build keeps: the network before the optimiser, and the signature of a network, which
 * shows whether new weights fit. */
#ifndef TENON_CORE_BUILDER_KEEP_ORIGINAL_H_
#define TENON_CORE_BUILDER_KEEP_ORIGINAL_H_

#include "core/builder/building.h"

/* Keep the network before the optimiser, and the optimised network's signature, for refit. Without
 * them a plan cannot be refitted. They do nothing if the options have tuned_only. Return
 * OUT_OF_MEMORY only. */
tenon_status_t tenon__building_keep_original(tenon__building_t* building);
tenon_status_t tenon__building_fingerprint(tenon__building_t* building);
/* Marks the weights on which outputs and states depend. `out_weights` has one entry for each
 * weight, all false at first. Uses the arena. */
tenon_status_t tenon__network_mark_needed(const tenon__network_t* network, tenon__arena_t* arena,
                                          bool* out_weights);
/* Two networks with the same signature are identical except for the bytes of their weights. The
 * signature depends on ids. It shows whether the optimiser has done the same again, id by id, not
 * whether two networks have the same meaning. */
tenon_status_t tenon__network_signature(const tenon__network_t* network,
                                        tenon__digest_t* out_digest);

#endif
