/* Layouts of views, from numbers that are computed once for each view: the order of the view
 * follows from the order of its source. Equal orders have one copy, so that pointers can be
 * compared. */
#include "core/layout/view_layouts.h"

#include <string.h>

#include "core/base/status.h"
#include "core/tensor/index_map_run.h"
#include "core/tensor/layout.h"

tenon_status_t tenon__view_layouts_begin(const tenon__tuning_t* tuning, uint32_t graph,
                                         tenon__arena_t* scratch, tenon__arena_t* arena,
                                         view_layouts_t* out_views) {
  const tenon__graph_t* g = tuning->network->graphs[graph];
  const size_t count = g->value_count + 1u;
  *out_views = (view_layouts_t){.tuning = tuning, .g = g, .scratch = scratch, .arena = arena};
  out_views->order_of = tenon__arena_allocate(scratch, count, sizeof *out_views->order_of);
  out_views->strides_of = tenon__arena_allocate(scratch, count, sizeof *out_views->strides_of);
  out_views->has_gaps = tenon__arena_allocate(scratch, count, sizeof *out_views->has_gaps);
  out_views->is_on_copy = tenon__arena_allocate(scratch, count, sizeof *out_views->is_on_copy);
  TENON_TRY_MEMORY(out_views->order_of != NULL && out_views->strides_of != NULL &&
                   out_views->has_gaps != NULL && out_views->is_on_copy != NULL);
  return TENON_OK;
}

/* What a view is a view of, in numbers. */
typedef struct base_t {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
} base_t;

static bool describe(const view_layouts_t* v, uint32_t value, bool in_rows, base_t* out_base) {
  const tenon__type_t* type = &v->g->values[value].type;
  if (type->kind != TENON_ARGUMENT_TENSOR || type->rank > TENON_RANK_LIMIT ||
      !tenon__extents_shape(&v->tuning->profile->optimum, type->rank, type->dims, out_base->dims)) {
    return false;
  }
  if (!in_rows && v->has_gaps[value]) {
    memcpy(out_base->strides, v->strides_of[value], type->rank * sizeof *out_base->strides);
    return true;
  }
  return tenon__strides_ordered(type->rank, out_base->dims, in_rows ? NULL : v->order_of[value],
                                out_base->strides);
}

/* The one copy of an order; NULL for rows, and where there are too many. */
static const uint32_t* intern(view_layouts_t* v, uint32_t rank, const uint32_t* order) {
  uint32_t k = 0;
  while (k < rank && order[k] == k) {
    k++;
  }
  if (k == rank) {
    return NULL;
  }
  for (k = 0; k < v->order_count; ++k) {
    if (v->ranks[k] == rank && memcmp(v->orders[k], order, rank * sizeof *order) == 0) {
      return v->orders[k];
    }
  }
  if (k == VIEW_MOST_ORDERS) {
    return NULL;
  }
  v->ranks[k] = rank;
  v->orders[k] = tenon__arena_copy(v->arena, order, rank * sizeof *order);
  v->order_count += v->orders[k] != NULL ? 1 : 0;
  return v->orders[k];
}

/* The view's order, or its strides. */
static tenon_status_t set(view_layouts_t* v, uint32_t value, const base_t* own) {
  const uint32_t rank = v->g->values[value].type.rank;
  uint32_t order[TENON_RANK_LIMIT];
  if (tenon__strides_are_row_major(rank, own->dims, own->strides)) {
    return TENON_OK;
  }
  if (tenon__strides_dense(rank, own->dims, own->strides)) {
    tenon__strides_order(rank, own->strides, order);
    v->order_of[value] = intern(v, rank, order);
    return TENON_OK;
  }
  if (v->strides_of[value] == NULL) {
    v->strides_of[value] = tenon__arena_allocate(v->scratch, rank, sizeof(int64_t));
    TENON_TRY_MEMORY(v->strides_of[value] != NULL);
  }
  v->has_gaps[value] = true;
  memcpy(v->strides_of[value], own->strides, rank * sizeof *own->strides);
  return TENON_OK;
}

tenon_status_t tenon__view_layouts_follow(view_layouts_t* v, const tenon__unit_t* view) {
  const tenon__node_t* node = &v->g->nodes[view->node];
  const tenon__index_map_t* map = &node->maps[view->output];
  const uint32_t source = node->inputs[map->sources[0].input];
  const uint32_t value = node->outputs[view->output];
  const tenon__extents_t* optimum = &v->tuning->profile->optimum;
  const bool is_in_rows = v->order_of[source] == NULL && !v->has_gaps[source];
  base_t base;
  base_t own;
  int64_t offset = 0;
  v->order_of[value] = NULL;
  v->has_gaps[value] = false;
  v->is_on_copy[value] = map->kind == TENON_MAP_LINEAR && !is_in_rows;
  if (!describe(v, source, false, &base) || !describe(v, value, true, &own)) {
    return TENON_OK;
  }
  tenon_status_t status =
      tenon__index_map_view(optimum, map, base.dims, base.strides, own.strides, &offset);
  v->is_on_copy[value] = status != TENON_OK;
  if (status != TENON_OK && describe(v, source, true, &base)) {
    status = tenon__index_map_view(optimum, map, base.dims, base.strides, own.strides, &offset);
  }
  return status == TENON_OK ? set(v, value, &own) : TENON_OK;
}
