/* Refit: applies the weights that were set in an engine to everything derived from them. */
#ifndef TENON_CORE_BUILDER_REFIT_H_
#define TENON_CORE_BUILDER_REFIT_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"

/* Runs the optimiser again on the original network with the new weights, stores the derived weights
 * in the engine, and prepares its steps again. No context may be running. It takes as long as the
 * optimiser and packing; no kernel is chosen again. Returns UNSUPPORTED if the new weights lead the
 * optimiser to another network (for example, if two equal weights now differ). The set weights are
 * cleared in any case. On failure the engine is unchanged. */
tenon_status_t tenon__refit_commit(tenon__catalog_t* catalog, tenon__engine_t* engine);

#endif
