/* Numbers for the dimensions of a pool. */
#include "core/dimension/extents.h"

#include "core/base/status.h"
#include "core/dimension/dimension_apply.h"
#include "core/dimension/dimension_evaluate.h"
#include "core/dimension/dimension_pool.h"

tenon_status_t tenon__extents_create(tenon__arena_t* arena, const tenon__dim_pool_t* pool,
                                     tenon__extents_t* out_extents) {
  tenon__extents_t extents = {
      .pool = pool,
      .symbol_count = tenon__symbol_count(pool),
      .dim_count = tenon__dim_pool_count(pool),
  };
  extents.symbol_values = tenon__arena_allocate(arena, extents.symbol_count + 1u, sizeof(int64_t));
  extents.symbol_known = tenon__arena_allocate(arena, extents.symbol_count + 1u, 1);
  extents.values = tenon__arena_allocate(arena, extents.dim_count + 1u, sizeof(int64_t));
  extents.known = tenon__arena_allocate(arena, extents.dim_count + 1u, 1);
  TENON_TRY_MEMORY(extents.symbol_values != NULL && extents.symbol_known != NULL &&
                   extents.values != NULL && extents.known != NULL);
  *out_extents = extents;
  return TENON_OK;
}

void tenon__extents_set(tenon__extents_t* extents, uint32_t symbol, int64_t value) {
  extents->symbol_values[symbol] = value;
  extents->symbol_known[symbol] = 1;
}

void tenon__extents_update(tenon__extents_t* extents) {
  extents->version += 1;
  tenon__dim_pool_evaluate(extents->pool, extents->symbol_values, extents->symbol_known,
                           extents->values, extents->known);
}

tenon_status_t tenon__profile_open(tenon__arena_t* arena, const tenon__dim_pool_t* pool,
                                   tenon__profile_t* out_profile) {
  TENON_TRY(tenon__extents_create(arena, pool, &out_profile->optimum));
  tenon__extents_update(&out_profile->optimum);
  out_profile->min = out_profile->optimum;
  out_profile->max = out_profile->optimum;
  return TENON_OK;
}

static bool evaluate_operation(const tenon__extents_t* extents, const tenon__dim_view_t* view,
                               int64_t* out_value) {
  int64_t result = 0;
  if (!tenon__extents_get(extents, view->operands[0], &result)) {
    return false;
  }
  if (view->opcode == TENON_OPCODE_SELECT) {
    return tenon__extents_get(extents, view->operands[result != 0 ? 1 : 2], out_value);
  }
  for (uint32_t k = 1; k < view->operand_count; ++k) {
    int64_t operand = 0;
    if (!tenon__extents_get(extents, view->operands[k], &operand) ||
        !tenon__dim_apply(view->opcode, result, operand, &result)) {
      return false;
    }
  }
  *out_value = result;
  return true;
}

/* Dimensions that were made after the extents. */
static bool evaluate_late(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_value) {
  const tenon__dim_view_t view = tenon__dim_get(extents->pool, dim);
  if (view.kind == TENON_DIM_CONSTANT) {
    *out_value = view.value;
    return true;
  }
  if (view.kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = tenon__symbol_get(extents->pool, view.index);
    const bool given = view.index < extents->symbol_count && extents->symbol_known[view.index] != 0;
    *out_value = given ? extents->symbol_values[view.index] : symbol->min;
    return given || symbol->min == symbol->max;
  }
  return view.kind == TENON_DIM_OPERATION && evaluate_operation(extents, &view, out_value);
}

bool tenon__extents_get(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_value) {
  if (dim.id < extents->dim_count) {
    if (extents->known[dim.id] == 0) {
      return false;
    }
    *out_value = extents->values[dim.id];
    return true;
  }
  return dim.id != TENON_NONE && evaluate_late(extents, dim, out_value);
}

bool tenon__extents_shape(const tenon__extents_t* extents, uint32_t rank, const tenon_dim_t* dims,
                          int64_t* out_dims) {
  bool all_known = true;
  for (uint32_t k = 0; k < rank; ++k) {
    if (!tenon__extents_get(extents, dims[k], &out_dims[k])) {
      out_dims[k] = -1;
      all_known = false;
    }
  }
  return all_known;
}

/* The ranges in the pool are interval arithmetic over the symbols' ranges. */
bool tenon__extents_bound(const tenon__extents_t* extents, tenon_dim_t dim, int64_t* out_bound) {
  int64_t low = 0;
  int64_t high = 0;
  if (!tenon__extents_get(extents, dim, out_bound)) {
    return false;
  }
  if (extents->end == TENON_EXTENTS_POINT ||
      tenon__dim_get(extents->pool, dim).kind != TENON_DIM_OPERATION) {
    return true;
  }
  tenon__dim_range(extents->pool, dim, &low, &high);
  if (extents->end == TENON_EXTENTS_LEAST) {
    *out_bound = low < *out_bound ? low : *out_bound;
    return low != INT64_MIN;
  }
  *out_bound = high > *out_bound ? high : *out_bound;
  return high != INT64_MAX;
}

bool tenon__extents_bounds(const tenon__extents_t* extents, uint32_t rank, const tenon_dim_t* dims,
                           int64_t* out_dims) {
  bool all_known = true;
  for (uint32_t k = 0; k < rank; ++k) {
    if (!tenon__extents_bound(extents, dims[k], &out_dims[k])) {
      out_dims[k] = -1;
      all_known = false;
    }
  }
  return all_known;
}
