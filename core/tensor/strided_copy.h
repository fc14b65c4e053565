/* Copying between tensors of any strides. */
#ifndef TENON_CORE_TENSOR_STRIDED_COPY_H_
#define TENON_CORE_TENSOR_STRIDED_COPY_H_

#include "tenon/plugin.h"

/* Between tensors of the same extents, of elements of whole bytes, that do not overlap. Strides may
 * be negative, or zero in `from`. Strings: their views. Numbers of unlike types are converted, as
 * tenon__element_store does. */
void tenon__strided_copy(const tenon_tensor_view_t* from, const tenon_tensor_view_t* to);

#endif
