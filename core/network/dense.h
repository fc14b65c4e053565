/* Conversion of a view with any strides to a constant's bytes. All later code relies on contiguous
 * row-major weights. */
#ifndef TENON_CORE_NETWORK_DENSE_H_
#define TENON_CORE_NETWORK_DENSE_H_

#include "core/network/network.h"

/* Adds weights from a view. With `borrow`, the bytes of a contiguous view are borrowed and must
 * outlive the network. Else a contiguous copy is made in the network's memory; strings are copied
 * with their characters. Strides NULL: contiguous. Views from 64 KiB on are borrowed even if they
 * are not aligned for their type, as in a mapped file; tenon__network_copy aligns them. Smaller
 * ones are copied if they are not aligned, because inference reads them. A long copy stops when the
 * network's interrupt is set: the weights are added with unset bytes, and the build ends. Returns
 * INVALID_ARGUMENT for an invalid view. */
tenon_status_t tenon__weights_from_view(tenon__network_t* network, const char* name,
                                        const tenon_tensor_view_t* view, bool borrow,
                                        const tenon_sink_t* sink, uint32_t* out_weights);

/* Returns true if the data are aligned for their type: to the element size, or to 8 bytes for
 * elements of 16 bytes, which are pairs. Packed types need no alignment. */
bool tenon__weights_are_aligned(tenon_dtype_t dtype, const void* data);
/* Replaces the data by an aligned copy that the network owns. The old bytes must be borrowed, as
 * they are not freed. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__weights_align(tenon__network_t* network, tenon__weights_t* weights);

#endif
