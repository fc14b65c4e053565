/*
 * Refit, the engine's part: new weights wait until they are committed, then all or nothing. Weights
 * that the optimiser derived from others are made again from the plan's original (core/builder); here
 * is only what an engine can do with finished bytes.
 */
#ifndef TENON_CORE_ENGINE_REFIT_H_
#define TENON_CORE_ENGINE_REFIT_H_

#include "core/engine/types.h"

/* Refit, in the parts that core/builder/refit.c puts together. Weights by their name in the network:
 * the bytes are copied and kept until they are dropped. UNSUPPORTED, with what stands in the way,
 * when they cannot be replaced. */
bool tenon__engine_can_set_weights(const tenon__engine_t* engine, uint32_t index);
/* NOT_FOUND for a name that the plan does not have, INVALID_ARGUMENT for another number of bytes.
 * Setting it again replaces what waits. */
tenon_status_t tenon__engine_set_weights(tenon__engine_t* engine, const char* name,
                                         const void* data, size_t size_bytes);
/* NULL: none wait. Borrowed until they are set again or dropped. */
const void* tenon__engine_pending_weights(const tenon__engine_t* engine, uint32_t index);
void tenon__engine_drop_pending(tenon__engine_t* engine);
/* New bytes for each of the network's weights, NULL for those that stay, of the network's
 * allocator; adopted on success alone. All steps are prepared again; contexts bind anew. No context
 * may be running. It takes as long as loading: weights are packed anew. Old bytes that the network
 * owned are freed. */
tenon_status_t tenon__engine_exchange_weights(tenon__engine_t* engine, void** fresh);

#endif
