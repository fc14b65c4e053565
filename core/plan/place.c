/* What a plan can know of a place before it runs. */
#include "core/plan/place.h"

#include "core/base/status.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_arithmetic.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/dimension_prove.h"
#include "core/tensor/layout.h"

#define MOST_AXES 64u

static bool dim_is_dynamic(const tenon__dim_pool_t* pool, tenon_dim_t dim) {
  int64_t number = 0;
  if (tenon__dim_known(pool, dim, &number)) {
    return false;
  }
  return tenon__dim_mentions(pool, dim, TENON_SYMBOL_CONTENT) ||
         tenon__dim_mentions(pool, dim, TENON_SYMBOL_EXTENT) ||
         tenon__dim_mentions(pool, dim, TENON_SYMBOL_ITERATION);
}

bool tenon__dims_are_dynamic(const tenon__dim_pool_t* pool, uint32_t rank,
                             const tenon_dim_t* dims) {
  for (uint32_t k = 0; k < rank; ++k) {
    if (dim_is_dynamic(pool, dims[k])) {
      return true;
    }
  }
  return false;
}

bool tenon__map_is_dynamic(const tenon__dim_pool_t* pool, const tenon__index_map_t* map) {
  if (tenon__dims_are_dynamic(pool, map->rank, map->dims)) {
    return true;
  }
  for (uint32_t k = 0; k < map->source_count; ++k) {
    const tenon__map_source_t* source = &map->sources[k];
    if (tenon__dims_are_dynamic(pool, source->rank, source->dims) ||
        (source->coordinates != NULL &&
         tenon__dims_are_dynamic(pool, source->rank, source->coordinates))) {
      return true;
    }
  }
  return false;
}

bool tenon__value_is_dynamic(const tenon__network_t* network, uint32_t graph, uint32_t value,
                             const tenon__extents_t* max) {
  const tenon__value_node_t* v = &network->graphs[graph]->values[value];
  if (!tenon__type_is_plain(&v->type) ||
      tenon__dims_are_dynamic(network->pool, v->type.rank, v->type.dims)) {
    return true;
  }
  for (uint32_t k = 0; k < v->type.rank; ++k) {
    int64_t extent = 0;
    if (!tenon__extents_bound(max, v->type.dims[k], &extent)) {
      return true;
    }
  }
  return false;
}

bool tenon__place_bytes(const tenon__network_t* network, uint32_t graph,
                        const tenon__place_t* place, const tenon__extents_t* extents,
                        uint64_t* out_bytes) {
  const tenon__value_node_t* v = &network->graphs[graph]->values[place->value];
  const tenon_dtype_t dtype = tenon__place_dtype(network->graphs[graph], place);
  int64_t dims[MOST_AXES];
  if (v->type.rank > MOST_AXES ||
      !tenon__extents_bounds(extents, v->type.rank, v->type.dims, dims)) {
    return false;
  }
  uint64_t count = 0;
  size_t bytes = 0;
  if (!tenon__element_count(v->type.rank, dims, &count)) {
    return false;
  }
  const bool good = tenon__dtype_bytes(dtype, count, &bytes);
  *out_bytes = bytes;
  return good;
}

uint32_t tenon__place_root(const tenon__schedule_t* schedule, uint32_t place) {
  for (uint32_t steps = 0; steps <= TENON_PLACE_MOST_VIEWS; ++steps) {
    if (place >= schedule->place_count) {
      return TENON_NONE;
    }
    const tenon__place_t* p = &schedule->places[place];
    if (p->storage != TENON_STORAGE_VIEW && p->storage != TENON_STORAGE_PART) {
      return place;
    }
    place = p->base;
  }
  return TENON_NONE;
}

/* ---- Parts ---- */

static bool has_base(const tenon__place_t* place) {
  return place->storage == TENON_STORAGE_VIEW || place->storage == TENON_STORAGE_PART;
}

/* The place on the way from `place` that lies directly in `base`; TENON_NONE. */
static uint32_t below(const tenon__schedule_t* schedule, uint32_t place, uint32_t base) {
  while (has_base(&schedule->places[place])) {
    if (schedule->places[place].base == base) {
      return place;
    }
    place = schedule->places[place].base;
  }
  return TENON_NONE;
}

/* Where a part begins and ends in its base along one axis. */
static tenon_dim_t begin_of(const tenon__network_t* network, const tenon__place_t* part,
                            uint32_t axis) {
  return tenon__dim_subtract(network->pool,
                             tenon__dim_coordinate(network->pool, axis, part->map->dims[axis]),
                             part->map->sources[part->index].coordinates[axis]);
}

static tenon_dim_t end_of(const tenon__network_t* network, uint32_t graph,
                          const tenon__place_t* part, uint32_t axis) {
  const tenon__type_t* type = &network->graphs[graph]->values[part->value].type;
  return tenon__dim_add(network->pool, begin_of(network, part, axis), type->dims[axis]);
}

static bool boxes_lie_apart(const tenon__network_t* network, uint32_t graph,
                            const tenon__place_t* a, const tenon__place_t* b) {
  for (uint32_t d = 0; d < a->map->rank; ++d) {
    if (tenon__dim_never_above(network->pool, end_of(network, graph, a, d),
                               begin_of(network, b, d)) ||
        tenon__dim_never_above(network->pool, end_of(network, graph, b, d),
                               begin_of(network, a, d))) {
      return true;
    }
  }
  return false;
}

bool tenon__places_lie_apart(const tenon__network_t* network, uint32_t graph,
                             const tenon__schedule_t* schedule, uint32_t a, uint32_t b) {
  for (uint32_t own = a; has_base(&schedule->places[own]); own = schedule->places[own].base) {
    const uint32_t other = below(schedule, b, schedule->places[own].base);
    if (other != TENON_NONE) { /* the innermost place that holds both */
      return schedule->places[own].storage == TENON_STORAGE_PART &&
             schedule->places[other].storage == TENON_STORAGE_PART && own != other &&
             boxes_lie_apart(network, graph, &schedule->places[own], &schedule->places[other]);
    }
  }
  return false;
}

uint32_t tenon__schedule_find(const tenon__schedule_t* schedule, uint32_t value) {
  if (value == TENON_NONE) {
    return TENON_NONE;
  }
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    if (schedule->places[p].value == value && schedule->places[p].space == 0) {
      return p;
    }
  }
  return TENON_NONE;
}

/* ---- Places that may move ---- */

static bool makes(const tenon__schedule_t* schedule, const tenon__step_t* step, uint32_t place) {
  bool makes = false;
  for (uint32_t k = 0; k < step->output_count && !makes; ++k) {
    makes =
        step->outputs[k] != TENON_NONE && tenon__place_root(schedule, step->outputs[k]) == place;
  }
  return makes && step->kind == TENON_STEP_KERNEL;
}

bool tenon__place_can_move(const tenon__schedule_t* schedule, uint32_t before, uint32_t place) {
  const tenon__place_t* p = &schedule->places[place];
  bool is_made = false;
  for (uint32_t k = 0; k < before && !is_made; ++k) {
    is_made = makes(schedule, &schedule->steps[k], place);
  }
  return is_made && p->storage == TENON_STORAGE_ARENA && !p->at_bound && p->order == NULL;
}

/* ---- States ---- */

uint64_t tenon__plan_state_bytes(const tenon__plan_t* plan, uint32_t device) {
  const tenon__schedule_t* schedule = &plan->schedules[0];
  uint64_t sum = 0;
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    const tenon__place_t* place = &schedule->places[p];
    const bool is_old = place->storage == TENON_STORAGE_STATE &&
                        plan->network->states[place->index].read == place->value;
    uint64_t bytes = 0;
    if (place->space == device && (is_old || place->storage == TENON_STORAGE_NEXT) &&
        tenon__place_bytes(plan->network, 0, place, &plan->profile.max, &bytes)) {
      sum += bytes;
    }
  }
  return sum;
}

/* ---- A whole schedule ---- */

typedef struct classifier_t {
  const tenon__plan_t* plan;
  uint32_t graph;
  tenon__schedule_t* schedule;
  const tenon_sink_t* sink;
} classifier_t;

static const tenon__value_node_t* value_of(const classifier_t* c, uint32_t place) {
  return &c->plan->network->graphs[c->graph]->values[c->schedule->places[place].value];
}

/* The last map of parts that was judged. Parts of one whole share the sources of its map. */
typedef struct judged_map_t {
  const tenon__map_source_t* sources;
  bool is_dynamic;
} judged_map_t;

static bool place_map_is_dynamic(const tenon__dim_pool_t* pool, const tenon__place_t* place,
                                 judged_map_t* inout_last) {
  const tenon__index_map_t* map = place->map;
  if (map == NULL || place->storage != TENON_STORAGE_PART) {
    return map != NULL && tenon__map_is_dynamic(pool, map);
  }
  if (map->sources != inout_last->sources) {
    *inout_last = (judged_map_t){map->sources, tenon__map_is_dynamic(pool, map)};
  }
  return inout_last->is_dynamic;
}

static void classify_place(const classifier_t* c, judged_map_t* inout_last, tenon__place_t* place) {
  const tenon__network_t* network = c->plan->network;
  const tenon__value_node_t* v = &network->graphs[c->graph]->values[place->value];
  switch (place->storage) {
    case TENON_STORAGE_ARENA:
    case TENON_STORAGE_GROWING:
    case TENON_STORAGE_OUTPUT:
      place->is_dynamic =
          tenon__value_is_dynamic(network, c->graph, place->value, &c->plan->profile.max);
      if (place->is_dynamic) {
        place->storage = TENON_STORAGE_GROWING;
      }
      break;
    case TENON_STORAGE_VIEW:
    case TENON_STORAGE_PART:
      place->is_dynamic =
          tenon__dims_are_dynamic(network->pool, v->type.rank == TENON_NONE ? 0 : v->type.rank,
                                  v->type.dims) ||
          place_map_is_dynamic(network->pool, place, inout_last);
      break;
    case TENON_STORAGE_WEIGHTS:
    case TENON_STORAGE_INPUT:
    case TENON_STORAGE_PARAMETER:
    case TENON_STORAGE_STATE:
    default:
      place->is_dynamic = v->type.kind != TENON_ARGUMENT_TENSOR || v->type.rank == TENON_NONE ||
                          tenon__dims_are_dynamic(network->pool, v->type.rank, v->type.dims);
      break;
  }
}

static tenon_status_t classify_places(const classifier_t* c) {
  tenon__schedule_t* schedule = c->schedule;
  judged_map_t last = {0};
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    classify_place(c, &last, &schedule->places[k]);
  }
  /* A view of a dynamic place is dynamic, and a part of one cannot be. */
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    for (uint32_t base = k; schedule->places[base].storage == TENON_STORAGE_VIEW ||
                            schedule->places[base].storage == TENON_STORAGE_PART;) {
      base = schedule->places[base].base;
      schedule->places[k].is_dynamic =
          schedule->places[k].is_dynamic || schedule->places[base].is_dynamic;
    }
    if (schedule->places[k].storage == TENON_STORAGE_PART && schedule->places[k].is_dynamic) {
      return tenon__fail(c->sink, TENON_ERROR_INTERNAL,
                         "'%s' is to be written in place as a part, but the extents are known only "
                         "when running",
                         value_of(c, k)->name);
    }
  }
  return TENON_OK;
}

static bool any_dynamic(const tenon__schedule_t* schedule, const uint32_t* places, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    if (places[k] != TENON_NONE && schedule->places[places[k]].is_dynamic) {
      return true;
    }
  }
  return false;
}

static bool space_is_dynamic(const classifier_t* c, const tenon__expression_t* expression) {
  const uint32_t rank = expression->program.rank;
  if (tenon__dims_are_dynamic(c->plan->network->pool, rank, expression->space)) {
    return true;
  }
  for (uint32_t k = 0; k < rank; ++k) {
    int64_t extent = 0;
    if (!tenon__extents_get(&c->plan->profile.max, expression->space[k], &extent)) {
      return true;
    }
  }
  return false;
}

static bool region_is_dynamic(const classifier_t* c, const struct tenon_region_t* region) {
  if (region->expression != NULL && space_is_dynamic(c, region->expression)) {
    return true;
  }
  for (uint32_t k = 0; k < region->slot_count; ++k) {
    if (space_is_dynamic(c, &region->slots[k].expression)) {
      return true;
    }
  }
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const tenon__access_t* access = &region->inputs[k].access;
    if (region->inputs[k].aligned &&
        tenon__dims_are_dynamic(c->plan->network->pool, access->rank, access->coordinates)) {
      return true;
    }
  }
  return region->map != NULL && tenon__map_is_dynamic(c->plan->network->pool, region->map);
}

static bool contents_are_dynamic(const classifier_t* c, const tenon__step_t* step) {
  TENON_EACH_OUTPUT(k, step) {
    const tenon__value_node_t* v = value_of(c, step->outputs[k]);
    if (v->type.contents != NULL &&
        tenon__dims_are_dynamic(c->plan->network->pool, v->type.content_count, v->type.contents)) {
      return true;
    }
  }
  return false;
}

static void classify_steps(const classifier_t* c) {
  for (uint32_t s = 0; s < c->schedule->step_count; ++s) {
    tenon__step_t* step = &c->schedule->steps[s];
    step->is_dynamic = any_dynamic(c->schedule, step->inputs, step->input_count) ||
                       any_dynamic(c->schedule, step->outputs, step->output_count) ||
                       (step->kind == TENON_STEP_KERNEL && region_is_dynamic(c, step->region)) ||
                       (step->kind == TENON_STEP_CONTENTS && contents_are_dynamic(c, step));
  }
}

tenon_status_t tenon__schedule_classify(tenon__plan_t* plan, uint32_t graph,
                                        const tenon_sink_t* sink) {
  const classifier_t c = {
      .plan = plan, .graph = graph, .schedule = &plan->schedules[graph], .sink = sink};
  TENON_TRY(classify_places(&c));
  classify_steps(&c);
  return TENON_OK;
}
