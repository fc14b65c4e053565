/* Extents that only a run finds: of values that the graph's own steps make, and numbers that views
 * of values show. What is found is compared with what the plan says. A value may have taken the
 * place of another whose extents nobody knew: symbols that were made for those follow from its
 * shape. */
#include "core/frame/data_dependent.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"
#include "core/plan/place.h"

/* ---- Shapes ---- */

/* Does the symbol stand for just this extent? */
static bool is_own(const tenon__network_t* network, const tenon__symbol_t* symbol, uint32_t graph,
                   uint32_t value, uint32_t axis) {
  uint32_t its_graph = 0;
  uint32_t its_value = 0;
  uint32_t its_axis = 0;
  return symbol->kind == TENON_SYMBOL_EXTENT &&
         tenon__symbol_source(network, symbol, &its_graph, &its_value, &its_axis) &&
         its_graph == graph && its_value == value && its_axis == axis;
}

/* The most that an extent which a kernel finds can be. */
static int64_t bound_of(const tenon__extents_t* extents, const tenon__symbol_t* symbol) {
  int64_t bound = INT64_MAX;
  if (symbol->bound.id != TENON_NONE) {
    (void)tenon__extents_get(extents, symbol->bound, &bound);
  }
  return bound;
}

/* Kernels were chosen, and given memory, for what the symbol's range and the profile say. */
static bool is_expected(const tenon__plan_t* plan, uint32_t index, int64_t number) {
  const tenon__symbol_t* symbol = tenon__symbol_get(plan->network->pool, index);
  const tenon__extents_t* min = &plan->profile.min;
  const tenon__extents_t* max = &plan->profile.max;
  return symbol->min <= number && number <= symbol->max &&
         (min->symbol_known[index] == 0 || min->symbol_values[index] <= number) &&
         (max->symbol_known[index] == 0 || number <= max->symbol_values[index]);
}

tenon_status_t tenon__run_learn_shape(tenon__run_state_t* run, uint32_t graph, uint32_t value,
                                      uint32_t rank, const int64_t* dims, bool* out_changed) {
  const tenon__plan_t* plan = run->engine->plan;
  const tenon__network_t* network = plan->network;
  const tenon__value_node_t* v = &network->graphs[graph]->values[value];
  tenon__extents_t* extents = &run->extents;
  if (v->type.rank == TENON_NONE) {
    return TENON_OK; /* nothing says what it must be */
  }
  if (v->type.rank != rank) {
    return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "value '%s' has rank %u, the plan expects %u", v->name, rank, v->type.rank);
  }
  for (uint32_t k = 0; k < rank; ++k) {
    const tenon__dim_view_t dim = tenon__dim_get(network->pool, v->type.dims[k]);
    const bool is_known = dim.kind == TENON_DIM_SYMBOL && extents->symbol_known[dim.index] != 0;
    if (dim.kind != TENON_DIM_SYMBOL ||
        (is_known &&
         (extents->symbol_values[dim.index] == dims[k] ||
          !is_own(network, tenon__symbol_get(network->pool, dim.index), graph, value, k)))) {
      continue;
    }
    const int64_t bound = bound_of(extents, tenon__symbol_get(network->pool, dim.index));
    if (dims[k] > bound) {
      return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "value '%s': extent %u is %lld, its bound is %lld", v->name, k,
                         (long long)dims[k], (long long)bound);
    }
    if (!is_expected(plan, dim.index, dims[k])) {
      return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         "value '%s' has extent %lld on axis %u, which the plan does not allow for",
                         v->name, (long long)dims[k], k);
    }
    tenon__extents_set(extents, dim.index, dims[k]);
    *out_changed = true;
  }
  return TENON_OK;
}

/* `what` has these extents, and the plan says of the value's what is known now. */
static tenon_status_t compare(const tenon__run_state_t* run, const tenon__value_node_t* value,
                              const int64_t* dims, bool must_be_known) {
  for (uint32_t k = 0; k < value->type.rank; ++k) {
    int64_t expected = 0;
    const bool is_known = tenon__extents_get(&run->extents, value->type.dims[k], &expected);
    if (is_known ? expected != dims[k] : must_be_known) {
      return tenon__fail(run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                         is_known ? "value '%s' has extent %lld on axis %u, the plan expects %lld"
                                  : "value '%s' has extent %lld on axis %u, unknown to the plan",
                         value->name, (long long)dims[k], k, (long long)expected);
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__run_find_shape(tenon__run_state_t* run, uint32_t graph, uint32_t value,
                                     uint32_t rank, const int64_t* dims) {
  const tenon__value_node_t* v = &run->engine->plan->network->graphs[graph]->values[value];
  bool changed = false;
  TENON_TRY(tenon__run_learn_shape(run, graph, value, rank, dims, &changed));
  if (changed) {
    tenon__extents_update(&run->extents);
  }
  return v->type.rank == TENON_NONE ? TENON_OK : compare(run, v, dims, false);
}

tenon_status_t tenon__frame_check_memory(const tenon__frame_t* frame, uint32_t place) {
  const tenon__place_t* p = &frame->schedule->places[place];
  const tenon__place_state_t* state = &frame->places[place];
  const tenon__value_node_t* value =
      &frame->run->engine->plan->network->graphs[frame->graph]->values[p->value];
  const bool grows = p->storage == TENON_STORAGE_GROWING;
  const int64_t* dims = grows ? state->buffer->dims : state->dims;
  if ((grows && !state->buffer->was_set) ||
      (p->storage == TENON_STORAGE_PARAMETER && state->data == NULL)) {
    return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "value '%s' is read before it is written", value->name);
  }
  if (dims == NULL || value->type.rank == TENON_NONE) {
    return TENON_OK;
  }
  const uint32_t rank = grows ? state->buffer->rank : state->rank;
  if (rank != value->type.rank) {
    return tenon__fail(frame->run->engine->options.sink, TENON_ERROR_INVALID_DATA,
                       "value '%s' has rank %u, the plan expects %u", value->name, rank,
                       value->type.rank);
  }
  return compare(frame->run, value, dims, true);
}

/* ---- What each run finds anew ---- */

/* Where the symbols of the plan are seen by the graph's run. */
typedef struct occurrence_t {
  uint8_t* occurs;    /* of each symbol: as an extent of what grows, or as a number of a value */
  uint8_t* has_place; /* of each of the graph's values */
} occurrence_t;

static void mark_symbols(const tenon__dim_pool_t* pool, uint32_t count, const tenon_dim_t* dims,
                         uint8_t* occurs) {
  if (dims == NULL) {
    return;
  }
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__dim_view_t dim = tenon__dim_get(pool, dims[k]);
    if (dim.kind == TENON_DIM_SYMBOL) {
      occurs[dim.index] = 1;
    }
  }
}

static tenon_status_t find_occurrences(const tenon__frame_t* frame, occurrence_t* out_occurrence) {
  const tenon__network_t* network = frame->run->engine->plan->network;
  tenon__arena_t* arena = &frame->run->arena;
  out_occurrence->occurs =
      tenon__arena_allocate(arena, tenon__symbol_count(network->pool) + 1u, sizeof(uint8_t));
  out_occurrence->has_place = tenon__arena_allocate(
      arena, network->graphs[frame->graph]->value_count + 1u, sizeof(uint8_t));
  TENON_TRY_MEMORY(out_occurrence->occurs != NULL && out_occurrence->has_place != NULL);
  for (uint32_t p = 0; p < frame->schedule->place_count; ++p) {
    const tenon__place_t* place = &frame->schedule->places[p];
    const tenon__value_node_t* value = tenon__frame_value(frame, p);
    out_occurrence->has_place[place->value] = 1;
    mark_symbols(network->pool, value->type.content_count, value->type.contents,
                 out_occurrence->occurs);
    if ((place->storage == TENON_STORAGE_GROWING || place->at_bound) &&
        value->type.rank != TENON_NONE) {
      mark_symbols(network->pool, value->type.rank, value->type.dims, out_occurrence->occurs);
    }
  }
  return TENON_OK;
}

/* Does the graph's own run find the symbol? The extents of what its steps make; and of what has no
 * place (it is gone, or never leaves a step) those that others have in common with it. */
static bool is_found_in(const tenon__frame_t* frame, uint32_t symbol,
                        const occurrence_t* occurrence) {
  const tenon__network_t* network = frame->run->engine->plan->network;
  const tenon__symbol_t* s = tenon__symbol_get(network->pool, symbol);
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t index = 0;
  if (s->kind != TENON_SYMBOL_EXTENT && s->kind != TENON_SYMBOL_CONTENT) {
    return false;
  }
  const bool has_source = tenon__symbol_source(network, s, &graph, &value, &index) &&
                          network->graphs[graph]->values[value].alive;
  if (!has_source || (graph == frame->graph && occurrence->has_place[value] == 0)) {
    return occurrence->occurs[symbol] != 0;
  }
  /* What a parameter is comes from outside, before the steps run. */
  return graph == frame->graph &&
         (network->graphs[graph]->values[value].flags & TENON_VALUE_IS_INPUT) == 0;
}

static uint8_t numbers_of(const tenon__frame_t* frame, uint32_t place) {
  const tenon__engine_t* engine = frame->run->engine;
  const tenon__value_node_t* value = tenon__frame_value(frame, place);
  const char class = tenon__dtype_class(value->type.dtype);
  const bool is_learnt = value->type.contents != NULL && value->handle != TENON_NONE &&
                         engine->reads_contents[value->handle] != 0;
  const bool is_computed = frame->schedule->places[place].storage != TENON_STORAGE_WEIGHTS &&
                           (class == 'i' || class == 'u' || class == 'b');
  const bool is_host = frame->schedule->places[place].space == 0; /* where numbers are looked at */
  const uint32_t count =
      value->type.contents == NULL || !is_computed || !is_host ? 0 : value->type.content_count;
  bool is_compared = false;
  for (uint32_t c = 0; c < count && !is_compared; ++c) {
    const tenon__dim_view_t dim =
        tenon__dim_get(engine->plan->network->pool, value->type.contents[c]);
    is_compared = dim.kind != TENON_DIM_SYMBOL ||
                  tenon__symbol_get(engine->plan->network->pool, dim.index)->a != value->handle;
  }
  return (uint8_t)((is_learnt && is_host ? TENON_NUMBERS_LEARNT : 0u) |
                   (is_compared ? TENON_NUMBERS_COMPARED : 0u));
}

/* Views whose numbers nobody reads but through them. */
static tenon_status_t list_views(tenon__frame_t* frame) {
  const uint32_t place_count = frame->schedule->place_count;
  frame->sizing =
      tenon__arena_allocate(&frame->run->arena, place_count + 1u, sizeof *frame->sizing);
  TENON_TRY_MEMORY(frame->sizing != NULL);
  for (uint32_t p = 0; p < place_count; ++p) {
    if (frame->schedule->places[p].storage == TENON_STORAGE_VIEW && frame->numbers[p] != 0) {
      frame->sizing[frame->sizing_count++] = p;
    }
  }
  return TENON_OK;
}

static bool is_given(tenon__storage_t storage) {
  return storage == TENON_STORAGE_WEIGHTS || storage == TENON_STORAGE_PARAMETER ||
         storage == TENON_STORAGE_STATE || storage == TENON_STORAGE_INPUT;
}

/* Does a view of the place show numbers? */
static bool is_sizing(const tenon__frame_t* frame, uint32_t place) {
  bool is_sizing = false;
  for (uint32_t k = 0; k < frame->sizing_count && !is_sizing; ++k) {
    is_sizing = tenon__place_root(frame->schedule, frame->sizing[k]) == place;
  }
  return is_sizing;
}

/* So that a run goes through these alone. */
static tenon_status_t list_given(tenon__frame_t* frame) {
  const tenon__schedule_t* schedule = frame->schedule;
  frame->learns = frame->found_count > 0 || frame->at_bound_count > 0;
  frame->given =
      tenon__arena_allocate(&frame->run->arena, schedule->place_count + 1u, sizeof *frame->given);
  TENON_TRY_MEMORY(frame->given != NULL);
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    frame->learns = frame->learns || frame->numbers[p] != 0;
    if (is_given(schedule->places[p].storage) && (frame->numbers[p] != 0 || is_sizing(frame, p))) {
      frame->given[frame->given_count++] = p;
    }
  }
  return TENON_OK;
}

static bool is_output_of(const tenon__frame_t* frame, const tenon__step_t* step, uint32_t graph,
                         uint32_t value) {
  if (graph != frame->graph) {
    return false;
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    if (step->outputs[k] != TENON_NONE &&
        frame->schedule->places[step->outputs[k]].value == value) {
      return true;
    }
  }
  return false;
}

/* Is everything unknown in the dimension an extent of an output of the step? Of what is gone nobody
 * can tell. */
static bool is_found_by(const tenon__frame_t* frame, const tenon__step_t* step, tenon_dim_t dim) {
  const tenon__network_t* network = frame->run->engine->plan->network;
  int64_t extent = 0;
  if (tenon__extents_get(&frame->run->extents, dim, &extent)) {
    return true;
  }
  const tenon__dim_view_t view = tenon__dim_get(network->pool, dim);
  if (view.kind == TENON_DIM_SYMBOL) {
    const tenon__symbol_t* symbol = tenon__symbol_get(network->pool, view.index);
    uint32_t graph = 0;
    uint32_t value = 0;
    uint32_t axis = 0;
    const bool is_gone = !tenon__symbol_source(network, symbol, &graph, &value, &axis) ||
                         !network->graphs[graph]->values[value].alive;
    return symbol->kind == TENON_SYMBOL_EXTENT &&
           (is_gone || is_output_of(frame, step, graph, value));
  }
  bool is_open = false; /* else the expression has no value: a division by zero */
  for (uint32_t k = 0; k < view.operand_count; ++k) {
    is_open = is_open || !tenon__extents_get(&frame->run->extents, view.operands[k], &extent);
    if (!is_found_by(frame, step, view.operands[k])) {
      return false;
    }
  }
  return is_open;
}

bool tenon__frame_finds(const tenon__frame_t* frame, const tenon__step_t* step,
                        const tenon__value_node_t* value) {
  const uint32_t rank = value->type.rank == TENON_NONE ? 0 : value->type.rank;
  bool found = true;
  for (uint32_t d = 0; found && d < rank; ++d) {
    found = is_found_by(frame, step, value->type.dims[d]);
  }
  return found;
}

/* Does the found symbol stand for an extent that the value's shape says otherwise? */
static bool follows(const tenon__frame_t* frame, uint32_t symbol,
                    tenon__following_t* out_following) {
  const tenon__network_t* network = frame->run->engine->plan->network;
  uint32_t graph = 0;
  uint32_t value = 0;
  uint32_t axis = 0;
  const tenon__symbol_t* s = tenon__symbol_get(network->pool, symbol);
  if (s->kind != TENON_SYMBOL_EXTENT || !tenon__symbol_source(network, s, &graph, &value, &axis)) {
    return false;
  }
  const tenon__value_node_t* node = &network->graphs[graph]->values[value];
  if (!node->alive || node->type.rank == TENON_NONE || axis >= node->type.rank) {
    return false;
  }
  const tenon__dim_view_t dim = tenon__dim_get(network->pool, node->type.dims[axis]);
  *out_following = (tenon__following_t){symbol, node->type.dims[axis]};
  return dim.kind != TENON_DIM_SYMBOL || dim.index != symbol;
}

static tenon_status_t list_following(tenon__frame_t* frame) {
  tenon__following_t following;
  uint32_t count = 0;
  for (uint32_t k = 0; k < frame->found_count; ++k) {
    count += follows(frame, frame->found[k], &following) ? 1 : 0;
  }
  frame->following =
      tenon__arena_allocate(&frame->run->arena, count + 1u, sizeof *frame->following);
  TENON_TRY_MEMORY(frame->following != NULL);
  for (uint32_t k = 0; k < frame->found_count; ++k) {
    if (follows(frame, frame->found[k], &following)) {
      frame->following[frame->following_count++] = following;
    }
  }
  return TENON_OK;
}

void tenon__frame_follow(tenon__frame_t* frame) {
  tenon__extents_t* extents = &frame->run->extents;
  bool changed = frame->following_count > 0;
  while (changed) { /* each round makes at least one symbol known */
    changed = false;
    for (uint32_t k = 0; k < frame->following_count; ++k) {
      const tenon__following_t* following = &frame->following[k];
      int64_t extent = 0;
      if (extents->symbol_known[following->symbol] == 0 &&
          tenon__extents_get(extents, following->dim, &extent)) {
        tenon__extents_set(extents, following->symbol, extent);
        changed = true;
      }
    }
    if (changed) {
      tenon__extents_update(extents);
    }
  }
}

tenon_status_t tenon__frame_list_data_dependent(tenon__frame_t* frame) {
  const tenon__network_t* network = frame->run->engine->plan->network;
  tenon__arena_t* arena = &frame->run->arena;
  const uint32_t symbol_count = tenon__symbol_count(network->pool);
  occurrence_t occurrence;
  frame->found = tenon__arena_allocate(arena, symbol_count + 1u, sizeof *frame->found);
  frame->numbers =
      tenon__arena_allocate(arena, frame->schedule->place_count + 1u, sizeof *frame->numbers);
  TENON_TRY_MEMORY(frame->found != NULL && frame->numbers != NULL);
  TENON_TRY(find_occurrences(frame, &occurrence));
  for (uint32_t k = 0; k < symbol_count; ++k) {
    if (is_found_in(frame, k, &occurrence)) {
      frame->found[frame->found_count++] = k;
    }
  }
  for (uint32_t p = 0; p < frame->schedule->place_count; ++p) {
    frame->numbers[p] = numbers_of(frame, p);
  }
  TENON_TRY(list_following(frame));
  TENON_TRY(list_views(frame));
  return list_given(frame);
}

void tenon__frame_forget_data_dependent(tenon__frame_t* frame) {
  tenon__extents_t* extents = &frame->run->extents;
  bool changed = false;
  for (uint32_t k = 0; k < frame->found_count; ++k) {
    changed = changed || extents->symbol_known[frame->found[k]] != 0;
    extents->symbol_known[frame->found[k]] = 0;
  }
  if (changed) {
    tenon__extents_update(extents);
  }
}
