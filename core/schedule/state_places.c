/* Memory of states: on the device that makes the next value, else of the first reader. A next value
 * that is made elsewhere is copied there. */
#include "core/schedule/state_places.h"

#include "core/base/status.h"
#include "core/dimension/dimension_pool.h"

/* ---- Where ---- */

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

static uint32_t reader_space(const scheduling_t* s, uint32_t value) {
  for (uint32_t u = 0; u < s->units->count; ++u) {
    const tenon__unit_t* unit = &s->units->items[u];
    if (reads(s, unit, value)) {
      return unit->kind == TENON_UNIT_REGION ? unit->chosen.region->device : unit->device;
    }
  }
  return 0;
}

uint32_t tenon__scheduling_state_space(const scheduling_t* s, uint32_t k) {
  const tenon__state_node_t* state = &s->tuning->network->states[k];
  if (s->tuning->device_count < 2 ||
      tenon__value_is_looked_at(s->tuning->network, s->graph, state->read)) {
    return 0;
  }
  const uint32_t maker = state->update == TENON_NONE
                             ? TENON_NONE
                             : tenon__maker_space(s->spaces, s->graph, state->update);
  return maker != TENON_NONE ? maker : reader_space(s, state->read);
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
