/*
 * An engine: a plan loaded on a device. Immutable (but for refit), shared, counted. Any thread may
 * hold it and make contexts of it. It is the last to let go of the plan's bytes, its kernels'
 * instances and packed weights; it borrows the catalogue, which outlives it.
 */
#ifndef TENON_CORE_ENGINE_ENGINE_H_
#define TENON_CORE_ENGINE_ENGINE_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"
#include "core/plan/plan.h"

/* `data` stays valid until release_data is called (also called when this fails). Reads and checks
 * the plan, opens its device, compares the plugins, and prepares every step. INVALID_DATA for a
 * plan that is broken, NOT_FOUND for what is not here, each with what is missing. *out_engine is
 * set on success alone, with one reference. */
tenon_status_t tenon__engine_create(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                    const tenon__engine_options_t* options,
                                    tenon__engine_t** out_engine);
void tenon__engine_retain(tenon__engine_t* engine);
/* The last one destroys it; NULL is fine. */
void tenon__engine_release(tenon__engine_t* engine);

/* Borrowed for the engine's life; inputs and outputs are those of plan->network->graphs[0]. */
const tenon__plan_t* tenon__engine_plan(const tenon__engine_t* engine);
const tenon_sink_t* tenon__engine_sink(const tenon__engine_t* engine);
/* Checks the plan's bytes against their digests, all of them, and the plugins' files against those
 * that the plan names, whatever the options accepted. Reads every byte. */
tenon_status_t tenon__engine_verify(const tenon__engine_t* engine);

#endif
