/* Copying tensors of any strides. */
#ifndef TENON_CORE_FRAME_COPY_H_
#define TENON_CORE_FRAME_COPY_H_

#include "tenon/plugin.h"

/* Copies a tensor of any strides into another of the same extents, which are read from the source.
 * They must not overlap. Returns UNSUPPORTED for elements smaller than a byte that are not
 * row-major on both sides. Sends no message. */
tenon_status_t tenon__copy_tensor(const tenon_tensor_view_t* source,
                                  const tenon_tensor_view_t* target);

#endif
