/* Where a place's elements lie. */
#include "core/plan/place_view.h"

#include <string.h>

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

/* PART: source number `index` of the base's map, inverted: the box of the base that this place
 * fills. */
static tenon_status_t part_strides(const tenon__placement_t* placement, const tenon__place_t* place,
                                   uint32_t rank, const int64_t* base_strides, int64_t* out_strides,
                                   int64_t* out_offset) {
  const tenon__map_source_t* source = &place->map->sources[place->index];
  int64_t offset = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    /* coordinate d of the source = output coordinate k + constant, with d == k for parts */
    tenon_dim_t base;
    tenon_dim_t coefficients[TENON_RANK_LIMIT];
    int64_t shift = 0;
    if (!tenon__dim_affine(placement->network->pool, source->coordinates[d], place->map->rank,
                           &base, coefficients) ||
        !tenon__extents_get(placement->extents, base, &shift)) {
      return TENON_ERROR_INTERNAL;
    }
    out_strides[d] = base_strides[d];
    if (shift == INT64_MIN || !tenon__add_product(-shift, base_strides[d], &offset)) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  *out_offset = offset;
  return TENON_OK;
}

tenon_status_t tenon__place_strides(const tenon__placement_t* placement, uint32_t place,
                                    int64_t* out_dims, int64_t* out_strides, int64_t* out_offset) {
  const tenon__place_t* places = placement->schedule->places;
  const tenon__value_node_t* values = placement->network->graphs[placement->graph]->values;
  const tenon__extents_t* extents = placement->extents;
  const tenon__place_t* p = &places[place];
  const tenon__type_t* type = &values[p->value].type;
  if (type->rank > TENON_RANK_LIMIT ||
      !tenon__extents_shape(extents, type->rank, type->dims, out_dims)) {
    return TENON_ERROR_INVALID_STATE;
  }
  for (uint32_t d = 0; d < type->rank; ++d) {
    if (out_dims[d] < 0) {
      return TENON_ERROR_INVALID_DATA;
    }
  }
  if (!tenon__extents_fit(type->rank, out_dims)) {
    return TENON_ERROR_INVALID_DATA;
  }
  if (p->storage != TENON_STORAGE_VIEW && p->storage != TENON_STORAGE_PART) {
    *out_offset = 0;
    if (placement->root_strides != NULL) {
      memcpy(out_strides, placement->root_strides, type->rank * sizeof *out_strides);
      return TENON_OK;
    }
    const bool good = p->order == NULL
                          ? tenon__strides_row_major(type->rank, out_dims, out_strides)
                          : tenon__strides_ordered(type->rank, out_dims, p->order, out_strides);
    return good ? TENON_OK : TENON_ERROR_INVALID_DATA;
  }
  const tenon__type_t* whole = &values[places[p->base].value].type;
  int64_t base_dims[TENON_RANK_LIMIT];
  int64_t base_strides[TENON_RANK_LIMIT] = {0};
  int64_t base_offset = 0;
  int64_t offset = 0;
  TENON_TRY(tenon__place_strides(placement, p->base, base_dims, base_strides, &base_offset));
  if (p->storage == TENON_STORAGE_PART) {
    TENON_TRY(part_strides(placement, p, type->rank, base_strides, out_strides, &offset));
  } else {
    TENON_TRY(
        tenon__index_map_view(extents, p->map, base_dims, base_strides, out_strides, &offset));
  }
  const tenon__reach_t own = {type->rank, out_dims, out_strides, offset};
  const tenon__reach_t base = {whole->rank, base_dims, base_strides, 0};
  if (!tenon__reach_within(&own, &base) || !tenon__add_int64(base_offset, offset, out_offset)) {
    return TENON_ERROR_INVALID_DATA; /* a plan that somebody made up */
  }
  return TENON_OK;
}
