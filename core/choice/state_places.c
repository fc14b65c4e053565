#include "core/choice/state_places.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"

/* ---- Where ---- */

/* Does a symbol stand for a number of the value? Then the host has to look at it. */
static bool reads_numbers(const scheduling_t* s, uint32_t value) {
  const tenon__dim_pool_t* pool = s->tuning->network->pool;
  bool reads = false;
  for (uint32_t k = 0; k < tenon__symbol_count(pool) && !reads; ++k) {
    const tenon__symbol_t* symbol = tenon__symbol_get(pool, k);
    uint32_t graph = 0;
    uint32_t source = 0;
    uint32_t index = 0;
    reads = symbol->kind == TENON_SYMBOL_CONTENT && symbol->min != symbol->max &&
            tenon__symbol_source(s->tuning->network, symbol, &graph, &source, &index) &&
            graph == s->graph && source == value;
  }
  return reads;
}

static bool makes(const scheduling_t* s, const tenon__unit_t* unit, uint32_t value) {
  if (unit->kind == TENON_UNIT_REGION) {
    const struct tenon_region_t* region = unit->chosen.region;
    bool makes = false;
    for (uint32_t k = 0; k < region->output_count && !makes; ++k) {
      makes = region->outputs[k].value == value;
    }
    return makes;
  }
  return unit->kind == TENON_UNIT_VIEW && s->g->nodes[unit->node].outputs[unit->output] == value;
}

static bool reads(const scheduling_t* s, const tenon__unit_t* unit, uint32_t value) {
  const bool is_region = unit->kind == TENON_UNIT_REGION;
  const uint32_t count = is_region                       ? unit->chosen.region->input_count
                         : unit->kind == TENON_UNIT_VIEW ? s->g->nodes[unit->node].input_count
                                                         : 0;
  bool reads = false;
  for (uint32_t k = 0; k < count && !reads; ++k) {
    reads = (is_region ? unit->chosen.region->inputs[k].value
                       : s->g->nodes[unit->node].inputs[k]) == value;
  }
  return reads;
}

static uint32_t device_of(const scheduling_t* s, uint32_t value,
                          bool (*is_it)(const scheduling_t*, const tenon__unit_t*, uint32_t)) {
  for (uint32_t u = 0; u < s->units->count; ++u) {
    const tenon__unit_t* unit = &s->units->items[u];
    if (is_it(s, unit, value)) {
      return unit->kind == TENON_UNIT_REGION ? unit->chosen.region->device : unit->device;
    }
  }
  return TENON_NONE;
}

uint32_t tenon__scheduling_state_space(const scheduling_t* s, uint32_t k) {
  const tenon__state_node_t* state = &s->tuning->network->states[k];
  if (s->tuning->device_count < 2 || reads_numbers(s, state->read)) {
    return 0;
  }
  const bool is_made =
      state->update != TENON_NONE && s->g->values[state->update].producer != TENON_NONE;
  const uint32_t maker = is_made ? device_of(s, state->update, makes) : TENON_NONE;
  const uint32_t device = is_made ? maker : device_of(s, state->read, reads);
  return device == TENON_NONE ? 0 : device; /* a control step makes it, or nobody reads it */
}

uint32_t tenon__scheduling_state_of(const scheduling_t* s, uint32_t value, uint32_t space) {
  const tenon__network_t* network = s->tuning->network;
  const uint32_t count = s->graph == 0 ? network->state_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    if (network->states[k].update == value) {
      return s->state_spaces[k] == space ? k : TENON_NONE;
    }
  }
  return TENON_NONE;
}

/* ---- What they become ---- */

static bool is_there(const scheduling_t* s, uint32_t k) {
  const uint32_t home = s->home[s->tuning->network->states[k].update];
  const tenon__place_t* place = &s->schedule.places[home];
  return place->index == k &&
         (place->storage == TENON_STORAGE_NEXT || place->storage == TENON_STORAGE_STATE);
}

static tenon_status_t place_update(scheduling_t* s, uint32_t k) {
  const uint32_t update = s->tuning->network->states[k].update;
  const uint32_t space = s->state_spaces[k];
  uint32_t from = 0;
  uint32_t place = 0;
  if (update == TENON_NONE || s->home[update] == TENON_NONE || is_there(s, k)) {
    return TENON_OK;
  }
  TENON_TRY(tenon__scheduling_bring(s, update, space, &from));
  const tenon__place_t next = {
      .value = update, .storage = TENON_STORAGE_NEXT, .index = k, .space = space};
  return space == 0 ? TENON_OK : tenon__scheduling_copy_to(s, from, &next, &place);
}

tenon_status_t tenon__scheduling_place_updates(scheduling_t* s) {
  const uint32_t count = s->graph == 0 ? s->tuning->network->state_count : 0;
  for (uint32_t k = 0; k < count; ++k) {
    TENON_TRY(place_update(s, k));
  }
  return TENON_OK;
}
