/*
 * Views of tensors in the form of a region's arguments: one axis for each axis of the iteration
 * space, with stride 0 for broadcast axes. Kernels rely on views that never exceed the tensor.
 */
#ifndef TENON_CORE_KERNEL_ALIGN_H_
#define TENON_CORE_KERNEL_ALIGN_H_

#include "core/dimension/extents.h"

/* Arrays for a view's axes, with one entry for each axis of the space. */
typedef struct tenon__axes_t {
  int64_t* dims;
  int64_t* strides;
} tenon__axes_t;

/* Compute the view of a value's tensor for a region's input or output from the tensor's own view.
 * Its dims and strides (in elements) are written to `axes`, and its data pointer is moved to its
 * first element. Plain arguments are copied unchanged. For example, a bias [c] in a space [n, c, w]
 * gets dims [n, c, w] and strides [0, 1, 0]. Return INVALID_STATE if an extent is unknown, and
 * INVALID_DATA if the view would exceed the tensor or the extents do not fit the slot's. They send
 * no messages and allocate nothing. */
tenon_status_t tenon__region_align_input(const struct tenon_region_t* region, uint32_t input,
                                         const tenon__extents_t* extents,
                                         const tenon_tensor_view_t* tensor, tenon__axes_t axes,
                                         tenon_tensor_view_t* out_view);
tenon_status_t tenon__region_align_output(const struct tenon_region_t* region, uint32_t output,
                                          const tenon__extents_t* extents,
                                          const tenon_tensor_view_t* tensor, tenon__axes_t axes,
                                          tenon_tensor_view_t* out_view);

#endif
