/* Comparison of a rule for an argument with the memory of a value: order of its axes, type,
 * alignment, for all extents of the profile. */
#include "core/layout/place_rules.h"

#include <string.h>

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan/place.h"
#include "core/plan/place_view.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"

/* ---- Orders ---- */

static uint32_t long_axes(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                          const uint32_t* order, uint32_t* out_axes) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < type->rank; ++k) {
    const uint32_t axis = order == NULL ? k : order[k];
    int64_t extent = 0;
    const bool is_known = tenon__dim_known(pool, type->dims[axis], &extent);
    if (!is_known || extent != 1) {
      out_axes[count++] = axis;
    }
  }
  return count;
}

bool tenon__orders_alike(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                         const uint32_t* a, const uint32_t* b) {
  uint32_t left[TENON_RANK_LIMIT];
  uint32_t right[TENON_RANK_LIMIT];
  if (a == b || type->rank > TENON_RANK_LIMIT || type->rank == TENON_NONE) {
    return true;
  }
  const uint32_t count = long_axes(pool, type, a, left);
  (void)long_axes(pool, type, b, right);
  return memcmp(left, right, count * sizeof *left) == 0;
}

/* ---- Rules ---- */

typedef struct placing_t {
  const tenon__tuning_t* tuning;
  uint32_t graph;
  const tenon__schedule_t* schedule;
} placing_t;

static const tenon__value_node_t* value_at(const placing_t* p, uint32_t place) {
  return &p->tuning->network->graphs[p->graph]->values[p->schedule->places[place].value];
}

static tenon_dtype_t dtype_at(const placing_t* p, uint32_t place) {
  return tenon__place_dtype(p->tuning->network->graphs[p->graph], &p->schedule->places[place]);
}

static bool suits_at(const placing_t* p, uint32_t place, const tenon_argument_rule_t* rule,
                     const tenon__extents_t* extents);

/* Does the place suit the rule for all extents? Some extents are not known at this point of the
 * profile, so there are no strides. The orders of dimensions are compared. A view with other extents
 * is row-major if its base is row-major. */
static bool suits_any_extents(const placing_t* p, uint32_t place, const tenon_argument_rule_t* rule,
                              const tenon__extents_t* extents) {
  const tenon__place_t* own = &p->schedule->places[place];
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  if (own->storage == TENON_STORAGE_VIEW &&
      (own->map->kind != TENON_MAP_LINEAR || !suits_at(p, own->base, NULL, extents))) {
    return false;
  }
  if (kind != TENON_LAYOUT_EXACT &&
      (tenon__rule_is_strided(rule) || kind != TENON_LAYOUT_ROW_MAJOR)) {
    return true;
  }
  const uint32_t* order = own->storage == TENON_STORAGE_VIEW ? NULL : own->order;
  return tenon__orders_alike(p->tuning->network->pool, &value_at(p, place)->type, order,
                             kind == TENON_LAYOUT_EXACT ? rule->layout->order : NULL);
}

static bool suits_at(const placing_t* p, uint32_t place, const tenon_argument_rule_t* rule,
                     const tenon__extents_t* extents) {
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  const tenon__value_node_t* v = value_at(p, place);
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t wanted[TENON_RANK_LIMIT];
  int64_t offset = 0;
  const tenon__placement_t placement = {.network = p->tuning->network,
                                        .graph = p->graph,
                                        .schedule = p->schedule,
                                        .extents = extents};
  const tenon_status_t status = tenon__place_strides(&placement, place, dims, strides, &offset);
  if (status == TENON_ERROR_INVALID_STATE) {
    return suits_any_extents(p, place, rule, extents);
  }
  if (status != TENON_OK) {
    return false;
  }
  if (kind == TENON_LAYOUT_EXACT) {
    const bool is_of_rank = rule->layout->rank == v->type.rank && rule->layout->order != NULL;
    const bool has_gaps = p->schedule->places[place].storage == TENON_STORAGE_PART;
    return is_of_rank &&
           ((tenon__strides_ordered(v->type.rank, dims, rule->layout->order, wanted) &&
             tenon__strides_equal(v->type.rank, dims, strides, wanted)) ||
            (has_gaps && tenon__rule_is_strided(rule) &&
             tenon__strides_in_order(v->type.rank, dims, strides, rule->layout->order)));
  }
  if (tenon__rule_is_strided(rule)) {
    return true;
  }
  if (kind == TENON_LAYOUT_ROW_MAJOR) {
    return tenon__strides_row_major(v->type.rank, dims, wanted) &&
           tenon__strides_equal(v->type.rank, dims, strides, wanted);
  }
  return tenon__strides_dense(v->type.rank, dims, strides);
}

/* Where the application's memory begins, a file's, and what the host's steps lend to bodies, nobody
 * knows when building; what we make is aligned to more than a rule can ask. */
static bool begins_aligned(const tenon__place_t* root) {
  switch (root->storage) {
    case TENON_STORAGE_INPUT:
    case TENON_STORAGE_OUTPUT:
      return false;
    case TENON_STORAGE_PARAMETER:
    case TENON_STORAGE_WEIGHTS:
      return root->space != 0;
    default:
      return true;
  }
}

/* The first element at one place of aligned memory, whatever the extents. */
static bool is_aligned(const placing_t* p, uint32_t place, uint32_t alignment) {
  const tenon__profile_t* profile = p->tuning->profile;
  const tenon__extents_t* const points[] = {&profile->min, &profile->optimum, &profile->max};
  const tenon__place_t* root = &p->schedule->places[tenon__place_root(p->schedule, place)];
  const int64_t bits = tenon__dtype_bits(dtype_at(p, place));
  int64_t offsets[3] = {0};
  if (!begins_aligned(root)) {
    return false;
  }
  for (int k = 0; k < 3; ++k) {
    int64_t dims[TENON_RANK_LIMIT];
    int64_t strides[TENON_RANK_LIMIT];
    const tenon__placement_t placement = {.network = p->tuning->network,
                                          .graph = p->graph,
                                          .schedule = p->schedule,
                                          .extents = points[k]};
    if (tenon__place_strides(&placement, place, dims, strides, &offsets[k]) != TENON_OK) {
      return root == &p->schedule->places[place];
    }
  }
  return offsets[0] == offsets[1] && offsets[0] == offsets[2] &&
         offsets[0] * bits % ((int64_t)alignment * 8) == 0;
}

bool tenon__place_is_aligned(const tenon__tuning_t* tuning, uint32_t graph,
                             const tenon__schedule_t* schedule, uint32_t place,
                             const tenon_argument_rule_t* rule) {
  const placing_t p = {tuning, graph, schedule};
  return !tenon__rule_asks_alignment(rule, dtype_at(&p, place)) ||
         is_aligned(&p, place, rule->alignment);
}

bool tenon__place_is_of_type(const tenon__schedule_t* schedule, uint32_t place,
                             const tenon__value_node_t* value, const tenon_argument_rule_t* rule) {
  const tenon_dtype_t own = value->type.dtype;
  const tenon_dtype_t kept = schedule->places[place].dtype;
  const tenon_dtype_t wanted = rule == NULL ? TENON_DTYPE_UNDEFINED : rule->dtype;
  return (kept == TENON_DTYPE_UNDEFINED ? own : kept) ==
         (wanted == TENON_DTYPE_UNDEFINED ? own : wanted);
}

bool tenon__place_suits(const tenon__tuning_t* tuning, uint32_t graph,
                        const tenon__schedule_t* schedule, uint32_t place,
                        const tenon_argument_rule_t* rule) {
  const placing_t p = {tuning, graph, schedule};
  const tenon__profile_t* profile = tuning->profile;
  const tenon__value_node_t* v = value_at(&p, place);
  if (v->type.kind != TENON_ARGUMENT_TENSOR || v->type.rank == TENON_NONE) {
    return true;
  }
  return tenon__place_is_of_type(schedule, place, v, rule) &&
         suits_at(&p, place, rule, &profile->optimum) && suits_at(&p, place, rule, &profile->min) &&
         suits_at(&p, place, rule, &profile->max) &&
         tenon__place_is_aligned(tuning, graph, schedule, place, rule);
}

tenon_status_t tenon__place_order(const tenon__tuning_t* tuning, uint32_t graph,
                                  const tenon__schedule_t* schedule, uint32_t place,
                                  tenon__arena_t* arena, const uint32_t** out_order) {
  const placing_t p = {tuning, graph, schedule};
  const tenon__place_t* own = &schedule->places[place];
  const uint32_t rank = value_at(&p, place)->type.rank;
  int64_t dims[TENON_RANK_LIMIT];
  int64_t strides[TENON_RANK_LIMIT];
  int64_t offset = 0;
  *out_order = own->order;
  const tenon__placement_t placement = {.network = tuning->network,
                                        .graph = graph,
                                        .schedule = schedule,
                                        .extents = &tuning->profile->optimum};
  if (own->storage != TENON_STORAGE_VIEW ||
      tenon__place_strides(&placement, place, dims, strides, &offset) != TENON_OK ||
      tenon__strides_are_row_major(rank, dims, strides) ||
      !tenon__strides_dense(rank, dims, strides)) {
    return TENON_OK;
  }
  uint32_t* order = tenon__arena_allocate(arena, rank + 1u, sizeof *order);
  TENON_TRY_MEMORY(order != NULL);
  tenon__strides_order(rank, strides, order);
  *out_order = order;
  return TENON_OK;
}
