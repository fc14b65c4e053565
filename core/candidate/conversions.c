/* Copies of values: the region of a copy is made and timed when it is first needed, and remembered
 * for each value and pair of orders. */
#include "core/candidate/conversions.h"

#include "core/base/status.h"
#include "core/candidate/candidates.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/region/region_finish.h"
#include "core/region/retype.h"

typedef struct known_conversion_t {
  orders_t orders;
  tenon__time_t time;
  struct known_conversion_t* next;
} known_conversion_t;

static bool is_array(const tenon__value_node_t* value) {
  return value->type.kind == TENON_ARGUMENT_TENSOR && value->type.rank != TENON_NONE;
}

/* The coordinates of all copies, whether one is asked for or not: that depends on times, and the
 * pool is part of the plan, which is to be the same for the same times. */
static void make_coordinates(tenon__network_t* network, const tenon__graph_t* g) {
  for (uint32_t v = 0; v < g->value_count; ++v) {
    const tenon__value_node_t* value = &g->values[v];
    const uint32_t rank = value->alive && is_array(value) ? value->type.rank : 0;
    for (uint32_t k = 0; k < rank; ++k) {
      (void)tenon__dim_coordinate(network->pool, k, value->type.dims[k]);
    }
  }
}

tenon_status_t tenon__conversions_begin(tenon__tuning_t* tuning, uint32_t graph,
                                        tenon__arena_t* arena, conversions_t* out_conversions) {
  const tenon__graph_t* g = tuning->network->graphs[graph];
  *out_conversions = (conversions_t){.tuning = tuning, .graph = graph, .arena = arena};
  out_conversions->known =
      tenon__arena_allocate(arena, g->value_count + 1u, sizeof(struct known_conversion_t*));
  out_conversions->device_of =
      tenon__arena_allocate(arena, g->value_count + 1u, sizeof *out_conversions->device_of);
  make_coordinates(tuning->network, g);
  return out_conversions->known == NULL || out_conversions->device_of == NULL ||
                 tenon__dim_pool_failed(tuning->network->pool)
             ? TENON_ERROR_OUT_OF_MEMORY
             : TENON_OK;
}

/* A move in one type, or an expression from one to the other. */
static tenon_status_t make_copy(const tenon__network_t* network, uint32_t graph, uint32_t value,
                                const orders_t* orders, tenon__arena_t* arena,
                                struct tenon_region_t* out_region) {
  const tenon_dtype_t own = network->graphs[graph]->values[value].type.dtype;
  const tenon_dtype_t from = orders->from_dtype == TENON_DTYPE_UNDEFINED ? own : orders->from_dtype;
  const tenon_dtype_t to = orders->to_dtype == TENON_DTYPE_UNDEFINED ? own : orders->to_dtype;
  struct tenon_region_t plain;
  if (from != to) {
    return tenon__region_of_cast(arena, network, graph, value, (tenon_dtype_t[]){from, to},
                                 out_region);
  }
  TENON_TRY(tenon__region_of_copy(arena, network, graph, value, &plain));
  return tenon__region_retype(arena, &plain, &from, &to, out_region);
}

tenon_status_t tenon__conversion_choose(tenon__tuning_t* tuning, uint32_t graph, uint32_t value,
                                        orders_t orders, tenon__arena_t* arena,
                                        tenon__chosen_t* out_copy) {
  tenon__conversion_t conversion;
  struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
  TENON_TRY_MEMORY(region != NULL);
  TENON_TRY(make_copy(tuning->network, graph, value, &orders, arena, region));
  region->device = orders.device;
  TENON_TRY(tenon__region_finish(arena, tuning->profile, region));
  tenon__conversion_initialize(&conversion, tuning->network->graphs[graph]->values[value].type.rank,
                               orders.from, orders.to);
  *out_copy = (tenon__chosen_t){.region = region};
  return tenon__candidates_convert(tuning, region, &conversion, &out_copy->candidates);
}

static tenon_status_t find_time(const conversions_t* c, uint32_t value, orders_t orders,
                                tenon__time_t* out_time) {
  tenon__chosen_t copy;
  *out_time = (tenon__time_t){.figure = TENON_FIGURE_NONE};
  if (!is_array(&c->tuning->network->graphs[c->graph]->values[value])) {
    return TENON_OK;
  }
  TENON_TRY(tenon__conversion_choose(c->tuning, c->graph, value, orders, c->arena, &copy));
  if (copy.candidates->count > 0) {
    *out_time = copy.candidates->items[0].time;
  }
  return TENON_OK;
}

tenon_status_t tenon__conversions_time(conversions_t* conversions, uint32_t value, orders_t orders,
                                       tenon__time_t* out_time) {
  const known_conversion_t* known = conversions->known[value];
  while (known != NULL && !(known->orders.from == orders.from && known->orders.to == orders.to &&
                            known->orders.from_dtype == orders.from_dtype &&
                            known->orders.to_dtype == orders.to_dtype)) {
    known = known->next;
  }
  if (known == NULL) {
    known_conversion_t* found = tenon__arena_allocate(conversions->arena, 1, sizeof *found);
    TENON_TRY_MEMORY(found != NULL);
    orders.device = conversions->device_of[value];
    *found = (known_conversion_t){.orders = orders, .next = conversions->known[value]};
    TENON_TRY(find_time(conversions, value, orders, &found->time));
    conversions->known[value] = found;
    known = found;
  }
  *out_time = known->time;
  return TENON_OK;
}
