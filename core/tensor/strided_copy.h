/* Copying between tensors of any strides. */
#ifndef TENON_CORE_TENSOR_STRIDED_COPY_H_
#define TENON_CORE_TENSOR_STRIDED_COPY_H_

#include "tenon/plugin.h"

/* Copies between tensors of the same extents, with elements of whole bytes, that do not overlap.
 * Strides may be negative, or zero in `from`. String views are copied. Numbers of different types
 * are converted as by tenon__element_store. */
void tenon__strided_copy(const tenon_tensor_view_t* from, const tenon_tensor_view_t* to);

#endif
