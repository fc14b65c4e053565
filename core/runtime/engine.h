/* An engine: a plan loaded on a device. Immutable (but for refit), shared, counted. */
#ifndef TENON_CORE_RUNTIME_ENGINE_H_
#define TENON_CORE_RUNTIME_ENGINE_H_

#include "core/catalog/entry.h"
#include "core/plan/plan.h"
#include "core/runtime/types.h"

/* `data` stays valid until release_data is called (also called when this fails). */
tenon_status_t tenon__engine_create(tenon__catalog_t* catalog, const void* data, size_t size_bytes,
                                    const tenon__engine_options_t* options,
                                    tenon__engine_t** out_engine);
void tenon__engine_retain(tenon__engine_t* engine);
void tenon__engine_release(tenon__engine_t* engine);

const tenon__plan_t* tenon__engine_plan(const tenon__engine_t* engine);
const tenon_sink_t* tenon__engine_sink(const tenon__engine_t* engine);
/* Inputs and outputs are those of plan->network->graphs[0]; extents of an input at the profile's
 * points. */
tenon_status_t tenon__engine_verify(const tenon__engine_t* engine);

#endif
