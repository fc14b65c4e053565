/* Refit: the weights that were set in an engine, and everything that was derived from them. */
#ifndef TENON_CORE_BUILDER_REFIT_H_
#define TENON_CORE_BUILDER_REFIT_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"

/* The optimiser runs again on the original network with the new weights; what it derives goes into
 * the engine, whose steps are prepared again. UNSUPPORTED when the new weights lead the optimiser
 * elsewhere (two that were equal are not any more, say). No context may be running. Whatever is
 * returned, nothing is set any more. It takes as long as the optimiser and packing do; nothing is
 * chosen anew. The engine is as before where it fails. */
tenon_status_t tenon__refit_commit(tenon__catalog_t* catalog, tenon__engine_t* engine);

#endif
