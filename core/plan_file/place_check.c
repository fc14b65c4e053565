/*
 * Places of a plan from outside: each refers to memory that is there, of the value's type, and
 * large enough at the profile's maximum. What is dynamic is derived, not believed.
 */
#include "core/plan_file/place_check.h"

#include "core/base/status.h"
#include "core/plan/bounded.h"
#include "core/plan/place.h"
#include "core/region/retype.h"
#include "core/tensor/layout.h"

#define ALIGNMENT_BYTES 64u

typedef struct checker_t {
  tenon__plan_t* plan;
  uint32_t graph_index;
  const tenon__graph_t* graph;
  tenon__schedule_t* schedule;
  const tenon_sink_t* sink;
  uint32_t* spaces;   /* of each state: in whose memory it lies; TENON_NONE: no place yet */
  bool* has_next;     /* of each state: is there a place of what it becomes? */
  uint32_t* input_of; /* for each value of the graph: which input it is, or TENON_NONE */
} checker_t;

static tenon_status_t broken(const checker_t* c, const tenon__place_t* place, const char* what) {
  return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                     "the plan is broken: in '%s', the place of '%s' %s", c->graph->name,
                     c->graph->values[place->value].name, what);
}

/* ---- One place ---- */

static bool weights_fit(const checker_t* c, const tenon__place_t* place) {
  const tenon__network_t* network = c->plan->network;
  const tenon__value_node_t* value = &c->graph->values[place->value];
  if (place->index >= network->weights_count || value->weights != place->index) {
    return false;
  }
  const tenon__weights_t* weights = &network->weights[place->index];
  return tenon__type_is_tensor_of(network->pool, &value->type, weights->dtype, weights->rank,
                                  weights->dims);
}

/* What a state was, or, in one place alone, becomes: all in one memory and in rows. */
static bool state_fits(const checker_t* c, const tenon__place_t* place) {
  const tenon__network_t* network = c->plan->network;
  if (c->graph_index != 0 || place->index >= network->state_count) {
    return false;
  }
  const tenon__state_node_t* state = &network->states[place->index];
  const bool is_next = place->storage == TENON_STORAGE_NEXT || state->read != place->value;
  const bool is_first = !is_next || !c->has_next[place->index];
  const bool is_there =
      c->spaces[place->index] == TENON_NONE || c->spaces[place->index] == place->space;
  c->has_next[place->index] = c->has_next[place->index] || is_next;
  c->spaces[place->index] = place->space;
  return is_first && is_there && place->order == NULL &&
         place->value == (is_next ? state->update : state->read) &&
         tenon__type_is_tensor_of(network->pool, &c->graph->values[place->value].type, state->dtype,
                                  state->rank, state->dims);
}

/* VIEW and PART: two tensors of one type, tied by a map of their ranks. */
static bool view_fits(const checker_t* c, const tenon__place_t* place) {
  if (place->base >= c->schedule->place_count || place->map == NULL) {
    return false;
  }
  const tenon__place_t* base = &c->schedule->places[place->base];
  const tenon__value_node_t* whole = &c->graph->values[base->value];
  const tenon__value_node_t* value = &c->graph->values[place->value];
  const tenon__index_map_t* map = place->map;
  if (value->type.kind != TENON_ARGUMENT_TENSOR || whole->type.kind != TENON_ARGUMENT_TENSOR ||
      place->space != base->space || value->type.dtype != whole->type.dtype ||
      place->dtype != base->dtype ||
      (map->kind == TENON_MAP_GENERAL && !tenon__index_map_is_view(c->plan->network->pool, map))) {
    return false;
  }
  if (place->storage == TENON_STORAGE_VIEW) {
    return map->source_count == 1 && map->fill == TENON_FILL_NONE &&
           map->rank == value->type.rank && map->sources[0].rank == whole->type.rank;
  }
  return map->kind == TENON_MAP_AFFINE && place->index < map->source_count &&
         map->rank == whole->type.rank && value->type.rank == whole->type.rank &&
         map->sources[place->index].rank == value->type.rank;
}

/* Only the places that the graph lists are given memory: by the application, or by who runs a body.
 */
static bool is_listed(const tenon__place_t* place, uint32_t number, const uint32_t* list,
                      uint32_t count) {
  return place->index < count && list[place->index] == number;
}

static bool is_border_place(const checker_t* c, uint32_t number, tenon__place_t* place) {
  const tenon__schedule_t* schedule = c->schedule;
  const bool is_main = c->graph_index == 0;
  if (place->storage == TENON_STORAGE_OUTPUT) {
    return is_main && place->index < c->graph->output_count &&
           c->graph->outputs[place->index] == place->value &&
           is_listed(place, number, schedule->outputs, schedule->output_count);
  }
  place->index = c->input_of[place->value];
  return is_main == (place->storage == TENON_STORAGE_INPUT) &&
         is_listed(place, number, schedule->inputs, schedule->input_count);
}

/* What the application finds, and what is no numbers, is the host's. What crosses into bodies:
 * control_check.h. */
static bool may_be_elsewhere(const checker_t* c, const tenon__place_t* place) {
  const tenon__type_t* type = &c->graph->values[place->value].type;
  return (place->storage == TENON_STORAGE_ARENA || place->storage == TENON_STORAGE_GROWING ||
          place->storage == TENON_STORAGE_WEIGHTS || place->storage == TENON_STORAGE_VIEW ||
          place->storage == TENON_STORAGE_PART || place->storage == TENON_STORAGE_STATE ||
          place->storage == TENON_STORAGE_NEXT || place->storage == TENON_STORAGE_PARAMETER) &&
         tenon__type_is_plain(type);
}

/* What a step makes for another may be kept in a narrower type; where it grows, it is as it is. */
static bool dtype_fits(const checker_t* c, const tenon__place_t* place) {
  const tenon__type_t* type = &c->graph->values[place->value].type;
  return place->dtype == TENON_DTYPE_UNDEFINED ||
         (tenon__type_is_plain(type) && type->contents == NULL &&
          (place->storage == TENON_STORAGE_ARENA || place->storage == TENON_STORAGE_VIEW ||
           place->storage == TENON_STORAGE_PART) &&
          tenon__dtype_may_be_kept_as(type->dtype, place->dtype));
}

static tenon_status_t check_reference(const checker_t* c, uint32_t number) {
  tenon__place_t* place = &c->schedule->places[number];
  bool fits = true;
  switch (place->storage) {
    case TENON_STORAGE_WEIGHTS:
      fits = weights_fit(c, place);
      break;
    case TENON_STORAGE_STATE:
    case TENON_STORAGE_NEXT:
      fits = state_fits(c, place);
      break;
    case TENON_STORAGE_INPUT:
    case TENON_STORAGE_PARAMETER:
    case TENON_STORAGE_OUTPUT:
      fits = is_border_place(c, number, place);
      break;
    case TENON_STORAGE_VIEW:
    case TENON_STORAGE_PART:
      fits = view_fits(c, place);
      break;
    case TENON_STORAGE_ARENA:
    case TENON_STORAGE_GROWING:
    default:
      break;
  }
  fits = fits && (place->space == 0 || may_be_elsewhere(c, place)) && dtype_fits(c, place);
  return fits ? TENON_OK : broken(c, place, "is not what it refers to");
}

/* ---- Memory ---- */

static bool lies_within(const tenon__place_t* place, uint64_t memory_bytes) {
  return place->offset % ALIGNMENT_BYTES == 0 && place->offset <= memory_bytes &&
         place->size_bytes <= memory_bytes - place->offset;
}

static bool alias_fits(const checker_t* c, const tenon__place_t* place) {
  if (place->alias == TENON_NONE) {
    return true;
  }
  if (place->alias >= c->schedule->place_count) {
    return false;
  }
  const tenon__place_t* owner = &c->schedule->places[place->alias];
  return owner != place && owner->storage == TENON_STORAGE_ARENA && owner->alias == TENON_NONE &&
         owner->space == place->space && owner->offset == place->offset &&
         owner->size_bytes == place->size_bytes;
}

/* The most that the value takes at one of the profile's points. */
static uint64_t largest_bytes(const checker_t* c, const tenon__place_t* place) {
  const tenon__profile_t* profile = &c->plan->profile;
  const tenon__extents_t* points[3] = {&profile->min, &profile->optimum, &profile->max};
  uint64_t largest = 0;
  for (uint32_t k = 0; k < 3; ++k) {
    uint64_t bytes = 0;
    if (tenon__place_bytes(c->plan->network, c->graph_index, place, points[k], &bytes)) {
      largest = bytes > largest ? bytes : largest;
    }
  }
  return largest;
}

static tenon_status_t check_memory(const checker_t* c, const tenon__place_t* place) {
  uint64_t bytes = 0;
  if (!tenon__place_bytes(c->plan->network, c->graph_index, place, &c->plan->profile.max, &bytes) ||
      bytes > place->size_bytes) {
    return broken(c, place, "is too small for it");
  }
  if (place->size_bytes > largest_bytes(c, place)) {
    return tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                       "the plan is broken: in '%s', the place of '%s' asks for %llu bytes, it "
                       "takes %llu",
                       c->graph->name, c->graph->values[place->value].name,
                       (unsigned long long)place->size_bytes,
                       (unsigned long long)largest_bytes(c, place));
  }
  if (place->storage == TENON_STORAGE_ARENA &&
      (!lies_within(place, c->schedule->memory_bytes[place->space]) || !alias_fits(c, place))) {
    return broken(c, place, "does not lie within its memory");
  }
  return TENON_OK;
}

/* ---- All ---- */

static tenon_status_t check_all(const checker_t* c) {
  tenon__schedule_t* schedule = c->schedule;
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    TENON_TRY(check_reference(c, k));
  }
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    if (tenon__place_root(schedule, k) == TENON_NONE) {
      return broken(c, &schedule->places[k], "is a view of itself, or of too many views");
    }
  }
  uint32_t buffer = 0;
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    buffer += schedule->places[k].storage == TENON_STORAGE_GROWING ? 1u : 0u;
  }
  if (tenon__schedule_classify(c->plan, c->graph_index, c->sink) != TENON_OK) {
    return TENON_ERROR_INVALID_DATA;
  }
  tenon__schedule_bound(c->plan, c->graph_index, schedule);
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    const tenon__place_t* place = &schedule->places[k];
    buffer -= place->storage == TENON_STORAGE_GROWING ? 1u : 0u;
    if (place->is_dynamic && place->dtype != TENON_DTYPE_UNDEFINED) {
      return broken(c, place, "is in another type, and its extents are known only when running");
    }
    const bool has_size =
        place->storage == TENON_STORAGE_ARENA || place->storage == TENON_STORAGE_OUTPUT;
    TENON_TRY(has_size ? check_memory(c, place) : TENON_OK);
  }
  return buffer == 0 ? TENON_OK
                     : tenon__fail(c->sink, TENON_ERROR_INVALID_DATA,
                                   "the plan is broken: in '%s', memory is planned for extents "
                                   "that are known only when running",
                                   c->graph->name);
}

tenon_status_t tenon__places_check(tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena,
                                   const tenon_sink_t* sink) {
  checker_t c = {.plan = plan,
                 .graph_index = graph,
                 .graph = plan->network->graphs[graph],
                 .schedule = &plan->schedules[graph],
                 .sink = sink};
  const uint32_t state_count = plan->network->state_count;
  c.input_of = tenon__arena_allocate(arena, c.graph->value_count, sizeof *c.input_of);
  c.spaces = tenon__arena_allocate(arena, state_count + 1u, sizeof *c.spaces);
  c.has_next = tenon__arena_allocate(arena, state_count + 1u, sizeof *c.has_next);
  TENON_TRY_MEMORY(c.input_of != NULL && c.spaces != NULL && c.has_next != NULL);
  for (uint32_t k = 0; k < state_count; ++k) {
    c.spaces[k] = TENON_NONE;
  }
  for (uint32_t k = 0; k < c.graph->value_count; ++k) {
    c.input_of[k] = TENON_NONE;
  }
  for (uint32_t k = 0; k < c.graph->input_count; ++k) {
    c.input_of[c.graph->inputs[k]] = k;
  }
  return check_all(&c);
}
