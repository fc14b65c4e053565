/* Copying tensors of any strides. */
#ifndef TENON_CORE_FRAME_COPY_H_
#define TENON_CORE_FRAME_COPY_H_

#include "tenon/plugin.h"

/* Copies a tensor of any strides into another of the same extents; the source's are what counts.
 * They must not overlap. UNSUPPORTED for elements within a byte that do not lie in rows on both
 * sides. Silent. */
tenon_status_t tenon__copy_tensor(const tenon_tensor_view_t* source,
                                  const tenon_tensor_view_t* target);

#endif
