/* A constant's bytes from a view with any strides. Everything after this point may count on weights
 * that are dense and row-major. */
#ifndef TENON_CORE_NETWORK_DENSE_H_
#define TENON_CORE_NETWORK_DENSE_H_

#include "core/network/network.h"

/* Weights from a view: borrowed where that is asked for and the view is dense, else a dense copy in
 * the network's memory; strings are copied with their characters. Strides NULL: dense. Large ones
 * are borrowed even where they are not aligned for their type (a mapped file puts them anywhere):
 * tenon__network_copy aligns them. INVALID_ARGUMENT for a view that cannot be. What is borrowed
 * must outlive the network. A long copy is left off when the network's interrupt is set, as the
 * build ends then: bytes are unset, but weights are added. "Large" is from 64 KiB on; smaller ones
 * are copied when they are not aligned, since inference reads them at once. */
tenon_status_t tenon__weights_from_view(tenon__network_t* network, const char* name,
                                        const tenon_tensor_view_t* view, bool borrow,
                                        const tenon_sink_t* sink, uint32_t* out_weights);

/* Whether the bytes lie as elements of their type must: at a multiple of their size, of 8 for
 * elements of 16 bytes, which are pairs. Packed types lie anywhere. */
bool tenon__weights_are_aligned(tenon_dtype_t dtype, const void* data);
/* Replaces the data by an aligned copy that the network owns; the old bytes are not freed, so they
 * must have been borrowed. OUT_OF_MEMORY only. */
tenon_status_t tenon__weights_align(tenon__network_t* network, tenon__weights_t* weights);

#endif
