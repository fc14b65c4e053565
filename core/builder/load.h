/* Loads a plan. If the plugins are not those of the build, the plan's tuned part (kernels, tactics,
 * packed weights, layouts, memory) is rebuilt from its portable part. */
#ifndef TENON_CORE_BUILDER_LOAD_H_
#define TENON_CORE_BUILDER_LOAD_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"

/* Same as tenon__engine_create; the options must not set out_is_stale and release_data. `data` must
 * stay valid while the engine lives. *out_made_again is true if the engine is of a plan that was
 * rebuilt from this one without measuring. The errors of the first attempt are then warnings. If
 * the rebuild fails too, its error is returned. */
tenon_status_t tenon__load(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                           const tenon__engine_options_t* options, tenon__engine_t** out_engine,
                           bool* out_made_again);

#endif
