/*
 * The engine's part of a refit. New weights are kept until they are committed, then all or none are
 * applied. core/builder computes weights that the optimiser has derived from others. This file
 * handles final bytes only.
 */
#ifndef TENON_CORE_ENGINE_REFIT_H_
#define TENON_CORE_ENGINE_REFIT_H_

#include "core/engine/types.h"

/* The steps of a refit, which core/builder/refit.c combines. Returns true if the weights at `index`
 * can be replaced. */
bool tenon__engine_can_set_weights(const tenon__engine_t* engine, uint32_t index);
/* Sets new weights by their name in the network. The bytes are copied and kept until they are
 * dropped; a second call replaces them. Returns NOT_FOUND for an unknown name, INVALID_ARGUMENT for
 * another number of bytes, and UNSUPPORTED, with the reason, if the weights cannot be replaced. */
tenon_status_t tenon__engine_set_weights(tenon__engine_t* engine, const char* name,
                                         const void* data, size_t size_bytes);
/* Returns pending bytes, or NULL. Borrowed until they are set again or dropped. */
const void* tenon__engine_pending_weights(const tenon__engine_t* engine, uint32_t index);
void tenon__engine_drop_pending(tenon__engine_t* engine);
/* Replaces the bytes of the network's weights and prepares all steps again; contexts bind again.
 * `fresh` has new bytes of the network's allocator for each weight, or NULL for unchanged ones;
 * adopted only on success. Old bytes that the network owned are freed. No context may be running.
 * It takes as long as loading, because weights are packed again. */
tenon_status_t tenon__engine_exchange_weights(tenon__engine_t* engine, void** fresh);

#endif
