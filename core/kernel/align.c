/* Views as a region's arguments want them: aligned to an iteration space through an affine access.
 * Whatever a plan says of accesses and spaces, no view leaves its tensor: INVALID_DATA. */
#include "core/kernel/align.h"

#include <string.h>

#include "core/base/status.h"
#include "core/network/network.h"
#include "core/region/region.h"
#include "core/tensor/layout.h"

static tenon_status_t space_extents(const struct tenon_region_t* region, uint32_t space,
                                    const tenon__extents_t* extents, int64_t* dims,
                                    uint32_t* out_rank) {
  const tenon_dim_t* space_dims = tenon__region_space(region, space, out_rank);
  return tenon__extents_shape(extents, *out_rank, space_dims, dims) ? TENON_OK
                                                                    : TENON_ERROR_INVALID_STATE;
}

/* A kernel walks its output, or the input that it reads, and a slot's operands together: the slot's
 * space is the shape of that. */
static bool slot_space_fits(const struct tenon_region_t* region, uint32_t slot,
                            const tenon__extents_t* extents, uint32_t rank, const int64_t* dims) {
  uint32_t k = 0;
  while (region->slots[k].slot != slot) {
    ++k;
  }
  const tenon__value_node_t* value =
      &region->network->graphs[region->graph]
           ->values[tenon__region_slot_value(region, &region->slots[k])];
  bool fits = value->type.rank == rank;
  for (uint32_t d = 0; fits && d < rank; ++d) {
    int64_t extent = 0;
    fits = tenon__extents_get(extents, value->type.dims[d], &extent) && extent == dims[d];
  }
  return fits;
}

tenon_status_t tenon__region_align_input(const struct tenon_region_t* region, uint32_t input,
                                         const tenon__extents_t* extents,
                                         const tenon_tensor_view_t* tensor, tenon__axes_t axes,
                                         tenon_tensor_view_t* out_view) {
  const tenon__region_input_t* in = &region->inputs[input];
  int64_t* dims = axes.dims;
  int64_t* strides = axes.strides;
  *out_view = *tensor;
  out_view->dims = dims;
  out_view->strides = strides;
  if (!in->aligned) {
    if (tensor->rank > 0) {
      memcpy(dims, tensor->dims, tensor->rank * sizeof *dims);
      memcpy(strides, tensor->strides, tensor->rank * sizeof *strides);
    }
    return TENON_OK;
  }
  uint32_t rank = 0;
  TENON_TRY(space_extents(region, in->space, extents, dims, &rank));
  const tenon__region_affine_t* affine = &region->affines[input];
  int64_t offset = 0;
  memset(strides, 0, rank * sizeof *strides);
  for (uint32_t d = 0; d < in->access.rank; ++d) {
    int64_t number = 0;
    if (!tenon__extents_get(extents, affine->base[d], &number)) {
      return TENON_ERROR_INVALID_STATE;
    }
    if (!tenon__add_product(number, tensor->strides[d], &offset)) {
      return TENON_ERROR_INVALID_DATA;
    }
    for (uint32_t k = 0; k < rank; ++k) {
      if (!tenon__extents_get(extents, affine->coefficients[(size_t)d * rank + k], &number)) {
        return TENON_ERROR_INVALID_STATE;
      }
      /* A symbolic extent that came out as 1 broadcasts. */
      if (number != 0 && (tensor->dims[d] != 1 || dims[k] == 1) &&
          !tenon__add_product(number, tensor->strides[d], &strides[k])) {
        return TENON_ERROR_INVALID_DATA;
      }
    }
  }
  const tenon__reach_t own = {.rank = rank, .dims = dims, .strides = strides, .offset = offset};
  const tenon__reach_t whole = {
      .rank = tensor->rank, .dims = tensor->dims, .strides = tensor->strides};
  if (!tenon__reach_within(&own, &whole) ||
      (in->space != TENON_SPACE_PROGRAM &&
       !slot_space_fits(region, in->space, extents, rank, dims))) {
    return TENON_ERROR_INVALID_DATA;
  }
  out_view->rank = rank;
  const uint32_t bits = tenon__dtype_bits(tensor->dtype);
  if (tensor->data != NULL && offset != 0) {
    const int64_t bit = offset * (int64_t)bits + tensor->bit_offset;
    out_view->data = (char*)tensor->data + bit / 8;
    out_view->bit_offset = (uint32_t)(bit % 8);
  }
  return TENON_OK;
}

tenon_status_t tenon__region_align_output(const struct tenon_region_t* region, uint32_t output,
                                          const tenon__extents_t* extents,
                                          const tenon_tensor_view_t* tensor, tenon__axes_t axes,
                                          tenon_tensor_view_t* out_view) {
  const tenon__region_output_t* out = &region->outputs[output];
  int64_t* dims = axes.dims;
  int64_t* strides = axes.strides;
  *out_view = *tensor;
  out_view->dims = dims;
  out_view->strides = strides;
  if (!out->aligned) {
    if (tensor->rank > 0) {
      memcpy(dims, tensor->dims, tensor->rank * sizeof *dims);
      memcpy(strides, tensor->strides, tensor->rank * sizeof *strides);
    }
    return TENON_OK;
  }
  uint32_t rank = 0;
  TENON_TRY(space_extents(region, TENON_SPACE_PROGRAM, extents, dims, &rank));
  memset(strides, 0, rank * sizeof *strides);
  const uint64_t reduced = region->expression->program.outputs[output].reduced_axes;
  for (uint32_t k = 0; k < rank; ++k) {
    if ((reduced >> k) & 1u) {
      dims[k] = 1;
    }
  }
  for (uint32_t k = 0; k < out->axis_count; ++k) {
    if (dims[out->axes[k]] != 1) {
      strides[out->axes[k]] = tensor->strides[k];
    }
  }
  const tenon__reach_t own = {.rank = rank, .dims = dims, .strides = strides};
  const tenon__reach_t whole = {
      .rank = tensor->rank, .dims = tensor->dims, .strides = tensor->strides};
  out_view->rank = rank;
  return tenon__reach_within(&own, &whole) ? TENON_OK : TENON_ERROR_INVALID_DATA;
}
