/* Loading a plan. Where the plugins are not those that it was built with, its tuned part (kernels,
 * tactics, packed weights, layouts, memory) is made again from its portable part. */
#ifndef TENON_CORE_BUILDER_LOAD_H_
#define TENON_CORE_BUILDER_LOAD_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"

/* As tenon__engine_create, whose out_is_stale and release_data the options do not set. `data` stays
 * valid while the engine lives. *out_made_again: the engine is one of another plan, made of this
 * one without measuring; the faults of the first attempt are warnings then. Where that fails too
 * its fault is given. */
tenon_status_t tenon__load(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                           const tenon__engine_options_t* options, tenon__engine_t** out_engine,
                           bool* out_made_again);

#endif
