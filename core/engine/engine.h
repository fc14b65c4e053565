/*
 * An engine: a plan loaded on a device. Immutable (except for refit), shared, reference-counted.
 * Any thread may hold it and create contexts of it. It owns the plan's bytes, the kernels'
 * instances and packed weights. It borrows the catalogue, which outlives it.
 */
#ifndef TENON_CORE_ENGINE_ENGINE_H_
#define TENON_CORE_ENGINE_ENGINE_H_

#include "core/catalog/entry.h"
#include "core/engine/types.h"
#include "core/plan/plan.h"

/* Reads and checks the plan, opens its devices, compares the plugins, and prepares each step.
 * `data` must stay valid until release_data is called, which also happens on failure. *out_engine
 * is set only on success, with one reference. Returns INVALID_DATA for a broken plan, and NOT_FOUND
 * for absent plugins, kernels or devices; the message names them. */
tenon_status_t tenon__engine_create(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                    const tenon__engine_options_t* options,
                                    tenon__engine_t** out_engine);
void tenon__engine_retain(tenon__engine_t* engine);
/* The last release destroys the engine. NULL is accepted. */
void tenon__engine_release(tenon__engine_t* engine);

/* Borrowed for the engine's life; inputs and outputs are those of plan->network->graphs[0]. */
const tenon__plan_t* tenon__engine_plan(const tenon__engine_t* engine);
const tenon_sink_t* tenon__engine_sink(const tenon__engine_t* engine);
/* Checks all of the plan's bytes against their digests, and the plugins' files against the plan's
 * digests, regardless of the options. Reads each byte. */
tenon_status_t tenon__engine_verify(const tenon__engine_t* engine);

#endif
