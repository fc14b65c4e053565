/* What a build puts by: the network as it was before the optimiser, and the signature of a network,
 * by which new weights are known to fit. */
#ifndef TENON_CORE_BUILDER_KEEP_ORIGINAL_H_
#define TENON_CORE_BUILDER_KEEP_ORIGINAL_H_

#include "core/builder/building.h"

/* For refit: the network before the optimiser, and afterwards what it became. Without it, plans
 * cannot be refitted. Nothing where the options say tuned_only. OUT_OF_MEMORY only, as the next. */
tenon_status_t tenon__building_keep_original(tenon__building_t* building);
tenon_status_t tenon__building_fingerprint(tenon__building_t* building);
/* Which weights the outputs and the states need; `out_weights`: one for each, all false. In the
 * arena. */
tenon_status_t tenon__network_mark_needed(const tenon__network_t* network, tenon__arena_t* arena,
                                          bool* out_weights);
/* Two networks with the same signature are the same but for the bytes of their weights. Ids count:
 * it tells whether the optimiser did the same again, number by number, and not whether two networks
 * mean the same. */
tenon_status_t tenon__network_signature(const tenon__network_t* network,
                                        tenon__digest_t* out_digest);

#endif
