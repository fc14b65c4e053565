/* Index maps: kinds, views, composition. A coordinate is an expression over the output's
 * coordinates; all questions come down to its affine form and to proofs about its range. */
#include "core/tensor/index_map.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_prove.h"
#include "core/tensor/layout.h"

/* Affine in at most one coordinate, with whatever coefficients are free of coordinates? */
static bool is_simple(tenon__dim_pool_t* pool, tenon_dim_t coordinate, uint32_t rank) {
  tenon_dim_t base = TENON_DIM_INVALID;
  tenon_dim_t parts[TENON_RANK_LIMIT];
  if (!tenon__dim_affine(pool, coordinate, rank, &base, parts)) {
    return false;
  }
  uint32_t varying = 0;
  for (uint32_t i = 0; i < rank; ++i) {
    int64_t value = 0;
    varying += tenon__dim_known(pool, parts[i], &value) && value == 0 ? 0u : 1u;
  }
  return varying <= 1;
}

void tenon__index_map_classify(tenon__dim_pool_t* pool, tenon__index_map_t* inout_map) {
  inout_map->kind = TENON_MAP_AFFINE;
  for (uint32_t s = 0; s < inout_map->source_count; ++s) {
    const tenon__map_source_t* source = &inout_map->sources[s];
    if (source->coordinates == NULL && source->rank > 0) {
      inout_map->kind = TENON_MAP_LINEAR;
      return;
    }
    for (uint32_t i = 0; i < source->rank; ++i) {
      if (inout_map->rank > TENON_RANK_LIMIT ||
          !is_simple(pool, source->coordinates[i], inout_map->rank)) {
        inout_map->kind = TENON_MAP_GENERAL;
      }
    }
  }
}

/* Is every coordinate of the source affine, in however many coordinates of the output? */
static bool is_affine(tenon__dim_pool_t* pool, const tenon__map_source_t* source, uint32_t rank) {
  tenon_dim_t base = TENON_DIM_INVALID;
  tenon_dim_t parts[TENON_RANK_LIMIT];
  for (uint32_t i = 0; i < source->rank; ++i) {
    if (!tenon__dim_affine(pool, source->coordinates[i], rank, &base, parts)) {
      return false;
    }
  }
  return true;
}

/* Is 0 <= coordinate < extent wherever the output has a point? */
static bool always_in_range(tenon__dim_pool_t* pool, tenon_dim_t coordinate, tenon_dim_t extent) {
  const tenon_dim_t last = tenon__dim_add(pool, extent, tenon__dim_constant(pool, -1));
  return !tenon__dim_equal(last, TENON_DIM_INVALID) &&
         tenon__dim_never_above(pool, tenon__dim_constant(pool, 0), coordinate) &&
         tenon__dim_never_above(pool, coordinate, last);
}

bool tenon__index_map_is_view(tenon__dim_pool_t* pool, const tenon__index_map_t* map) {
  if (map->source_count != 1 || map->rank > TENON_RANK_LIMIT) {
    return false;
  }
  const tenon__map_source_t* source = &map->sources[0];
  if (map->kind == TENON_MAP_LINEAR) {
    return true;
  }
  if (source->rank > TENON_RANK_LIMIT || !is_affine(pool, source, map->rank)) {
    return false;
  }
  for (uint32_t i = 0; i < source->rank; ++i) {
    if (!always_in_range(pool, source->coordinates[i], source->dims[i])) {
      return false;
    }
  }
  return true;
}

static bool same_dims(const tenon__index_map_t* map) {
  const tenon__map_source_t* source = &map->sources[0];
  return source->rank == map->rank && tenon__dims_equal(source->dims, map->dims, map->rank);
}

/* The axis along which a source stands elsewhere than at the output's beginning; TENON_NONE. */
static uint32_t shifted_axis(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                             const tenon__map_source_t* source) {
  for (uint32_t d = 0; d < map->rank; ++d) {
    if (!tenon__dim_equal(source->coordinates[d], tenon__dim_coordinate(pool, d, map->dims[d]))) {
      return d;
    }
  }
  return TENON_NONE;
}

/* Does the source begin there along the axis, and span all others? */
static bool begins_at(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                      const tenon__map_source_t* source, uint32_t axis, tenon_dim_t place) {
  for (uint32_t d = 0; d < map->rank; ++d) {
    const tenon_dim_t own = tenon__dim_coordinate(pool, d, map->dims[d]);
    const tenon_dim_t wanted = d == axis ? tenon__dim_subtract(pool, own, place) : own;
    if (!tenon__dim_equal(source->coordinates[d], wanted) ||
        (d != axis && !tenon__dim_equal(source->dims[d], map->dims[d]))) {
      return false;
    }
  }
  return true;
}

bool tenon__index_map_joins(tenon__dim_pool_t* pool, const tenon__index_map_t* map) {
  if (map->kind != TENON_MAP_AFFINE || map->source_count < 2 || map->rank > TENON_RANK_LIMIT) {
    return false;
  }
  for (uint32_t s = 0; s < map->source_count; ++s) {
    if (map->sources[s].rank != map->rank) {
      return false;
    }
  }
  const uint32_t axis = shifted_axis(pool, map, &map->sources[1]);
  tenon_dim_t place = tenon__dim_constant(pool, 0);
  const uint32_t count = axis == TENON_NONE ? 0 : map->source_count;
  for (uint32_t s = 0; s < count; ++s) {
    if (!begins_at(pool, map, &map->sources[s], axis, place)) {
      return false;
    }
    place = tenon__dim_add(pool, place, map->sources[s].dims[axis]);
  }
  return axis != TENON_NONE && tenon__dim_equal(place, map->dims[axis]);
}

bool tenon__index_map_is_identity(tenon__dim_pool_t* pool, const tenon__index_map_t* map) {
  if (map->source_count != 1 || !same_dims(map)) {
    return false;
  }
  if (map->kind == TENON_MAP_LINEAR) {
    return true;
  }
  for (uint32_t i = 0; i < map->rank; ++i) {
    const tenon_dim_t coordinate = map->sources[0].coordinates[i];
    if (!tenon__dim_equal(coordinate, tenon__dim_coordinate(pool, i, map->dims[i]))) {
      return false;
    }
  }
  return true;
}

/* The place of a point in row-major order: sum of coordinates times the extents after them. */
static tenon_dim_t linear_place(tenon__dim_pool_t* pool, const tenon__index_map_t* map) {
  tenon_dim_t place = tenon__dim_constant(pool, 0);
  for (uint32_t i = 0; i < map->rank; ++i) {
    place = tenon__dim_multiply(pool, place, map->dims[i]);
    int64_t extent = 0;
    if (!tenon__dim_known(pool, map->dims[i], &extent) || extent != 1) {
      place = tenon__dim_add(pool, place, tenon__dim_coordinate(pool, i, map->dims[i]));
    }
  }
  return place;
}

tenon_status_t tenon__index_map_coordinates(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                            const tenon__index_map_t* map, uint32_t source_index,
                                            const tenon_dim_t** out_coordinates) {
  const tenon__map_source_t* source = &map->sources[source_index];
  if (map->kind != TENON_MAP_LINEAR) {
    *out_coordinates = source->coordinates;
    return TENON_OK;
  }
  tenon_dim_t* coordinates = tenon__arena_allocate(arena, source->rank + 1u, sizeof(*coordinates));
  TENON_TRY_MEMORY(coordinates != NULL);
  const tenon_dim_t zero = tenon__dim_constant(pool, 0);
  tenon_dim_t rest = linear_place(pool, map);
  bool valid = true;
  uint32_t first = 0; /* the outermost axis that varies takes all that is left */
  int64_t extent = 0;
  while (first + 1 < source->rank && tenon__dim_known(pool, source->dims[first], &extent) &&
         extent == 1) {
    coordinates[first++] = zero;
  }
  for (uint32_t i = source->rank; i > first; --i) {
    const tenon_dim_t dim = source->dims[i - 1];
    if (tenon__dim_known(pool, dim, &extent) && extent == 1) {
      coordinates[i - 1] = zero;
    } else if (i - 1 == first) {
      coordinates[i - 1] = rest;
    } else {
      coordinates[i - 1] = tenon__dim_combine(pool, TENON_OPCODE_MOD, rest, dim);
      rest = tenon__dim_combine(pool, TENON_OPCODE_FLOOR_DIV, rest, dim);
    }
    valid = valid && !tenon__dim_equal(coordinates[i - 1], TENON_DIM_INVALID);
  }
  if (!valid) {
    return tenon__dim_pool_failed(pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_UNSUPPORTED;
  }
  *out_coordinates = coordinates;
  return TENON_OK;
}

/* Both linear: the same order of elements under the outer extents. */
static void compose_linear(const tenon__index_map_t* outer, const tenon__index_map_t* inner,
                           tenon__map_source_t* source, tenon__index_map_t* out_map) {
  *source = inner->sources[0];
  source->coordinates = NULL;
  *out_map = *outer;
  out_map->kind = TENON_MAP_LINEAR;
  out_map->source_count = 1;
  out_map->sources = source;
}

bool tenon__index_map_keeps_elements(const tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                                     const tenon__type_t* source) {
  const tenon__type_t output = tenon__type_tensor(source->dtype, map->rank, map->dims);
  int64_t dims[TENON_RANK_LIMIT];
  uint64_t had = 0;
  uint64_t has = 0;
  return map->kind != TENON_MAP_LINEAR || map->fill != TENON_FILL_NONE ||
         !tenon__type_element_count(pool, source, &had) ||
         !tenon__type_extents(pool, &output, dims) ||
         (tenon__element_count(map->rank, dims, &has) && had == has);
}

tenon_status_t tenon__index_map_compose(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                        const tenon__index_map_t* outer,
                                        const tenon__index_map_t* inner,
                                        tenon__index_map_t* out_map) {
  if (outer->source_count != 1 || inner->source_count != 1 || outer->fill != TENON_FILL_NONE ||
      inner->fill != TENON_FILL_NONE || outer->rank > TENON_RANK_LIMIT ||
      inner->rank > TENON_RANK_LIMIT) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__map_source_t* source = tenon__arena_copy(arena, &inner->sources[0], sizeof(*source));
  tenon_dim_t* coordinates =
      tenon__arena_allocate(arena, inner->sources[0].rank + 1u, sizeof(*coordinates));
  TENON_TRY_MEMORY(source != NULL && coordinates != NULL);
  if (outer->kind == TENON_MAP_LINEAR && inner->kind == TENON_MAP_LINEAR) {
    compose_linear(outer, inner, source, out_map);
    return TENON_OK;
  }
  const tenon_dim_t* outer_coordinates = NULL;
  const tenon_dim_t* inner_coordinates = NULL;
  TENON_TRY(tenon__index_map_coordinates(pool, arena, outer, 0, &outer_coordinates));
  TENON_TRY(tenon__index_map_coordinates(pool, arena, inner, 0, &inner_coordinates));
  for (uint32_t i = 0; i < source->rank; ++i) {
    coordinates[i] = tenon__dim_substitute(pool, inner_coordinates[i], outer_coordinates,
                                           outer->sources[0].rank, NULL);
    if (tenon__dim_equal(coordinates[i], TENON_DIM_INVALID)) {
      return tenon__dim_pool_failed(pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_ERROR_UNSUPPORTED;
    }
  }
  source->coordinates = coordinates;
  tenon__index_map_t map = *outer;
  map.sources = source;
  tenon__index_map_classify(pool, &map);
  const bool was_linear = outer->kind == TENON_MAP_LINEAR || inner->kind == TENON_MAP_LINEAR;
  if (was_linear && !is_affine(pool, source, map.rank)) {
    return TENON_ERROR_UNSUPPORTED; /* division by extents at every element: not worth it */
  }
  *out_map = map;
  return TENON_OK;
}
