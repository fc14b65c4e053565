/*
 * A tensor's view as a region's argument wants it: with one axis for each axis of the iteration
 * space, stride 0 where it broadcasts. Kernels trust what comes out: it never leaves the tensor.
 */
#ifndef TENON_CORE_KERNEL_ALIGN_H_
#define TENON_CORE_KERNEL_ALIGN_H_

#include "core/dimension/extents.h"

/* Where a view's axes are written: room for the rank of the space when aligned. */
typedef struct tenon__axes_t {
  int64_t* dims;
  int64_t* strides;
} tenon__axes_t;

/* Arguments: a view of a value's tensor as a region's input or output wants it, given the tensor's
 * own view. The view's dims and strides are those of `axes`.
 * INVALID_STATE when an extent is unknown, INVALID_DATA when the view would leave the tensor or the
 * extents do not fit the slot's. Strides in elements, and the data pointer moved to the first
 * element of the view; plain arguments are copied as they are. A bias [c] of a space [n, c, w]
 * comes out as dims [n, c, w], strides [0, 1, 0]. Nothing is reported or allocated. */
tenon_status_t tenon__region_align_input(const struct tenon_region_t* region, uint32_t input,
                                         const tenon__extents_t* extents,
                                         const tenon_tensor_view_t* tensor, tenon__axes_t axes,
                                         tenon_tensor_view_t* out_view);
tenon_status_t tenon__region_align_output(const struct tenon_region_t* region, uint32_t output,
                                          const tenon__extents_t* extents,
                                          const tenon_tensor_view_t* tensor, tenon__axes_t axes,
                                          tenon_tensor_view_t* out_view);

#endif
