/* Memory of concatenations in place: the whole is made first, and each part is a box of it. A
 * producer that does not write its box gets a copy step. */
#include "core/schedule/schedule_parts.h"

#include "core/base/status.h"
#include "core/layout/place_rules.h"
#include "core/schedule/state_places.h"
#include "core/tensor/layout.h"

tenon_status_t tenon__scheduling_place_output(scheduling_t* s, uint32_t value,
                                              const output_form_t* form, uint32_t* out_place) {
  const tenon_dtype_t own = s->g->values[value].type.dtype;
  tenon__place_t place = {.value = value,
                          .storage = TENON_STORAGE_ARENA,
                          .order = form->order,
                          .dtype = form->dtype == own ? TENON_DTYPE_UNDEFINED : form->dtype,
                          .space = form->space};
  if (s->output_of[value] != TENON_NONE && form->order == NULL && form->space == 0 &&
      place.dtype == TENON_DTYPE_UNDEFINED && !tenon__rule_asks_alignment(form->rule, own)) {
    place.storage = TENON_STORAGE_OUTPUT;
    place.index = s->output_of[value];
    return tenon__scheduling_add_place(s, &place, out_place);
  }
  const uint32_t state = tenon__scheduling_state_of(s, value, form->space);
  if (state != TENON_NONE && form->order == NULL && place.dtype == TENON_DTYPE_UNDEFINED) {
    place.storage = TENON_STORAGE_NEXT;
    place.index = state;
  }
  return tenon__scheduling_add_place(s, &place, out_place);
}

static const tenon__chosen_t* chosen_of(const scheduling_t* s, uint32_t unit) {
  return &s->units->items[unit].chosen;
}

static uint32_t whole_of(const scheduling_t* s, uint32_t unit) {
  return chosen_of(s, unit)->region->outputs[0].value;
}

/* The place of a concatenation: its home, made when somebody asks first. */
static tenon_status_t place_whole(scheduling_t* s, uint32_t unit, uint32_t* out_place) {
  const tenon__chosen_t* chosen = chosen_of(s, unit);
  const uint32_t value = whole_of(s, unit);
  bool is_part = false;
  *out_place = s->home[value];
  if (*out_place != TENON_NONE) {
    return TENON_OK;
  }
  TENON_TRY(tenon__scheduling_place_part(s, value, chosen->order, out_place, &is_part));
  return is_part ? TENON_OK
                 : tenon__scheduling_place_output(
                       s, value,
                       &(output_form_t){.order = chosen->order, .space = chosen->region->device},
                       out_place);
}

/* Box number `source` of the whole, for the value. */
static tenon_status_t describe_part(scheduling_t* s, uint32_t value, uint32_t unit, uint32_t source,
                                    tenon__place_t* out_place) {
  const tenon__chosen_t* chosen = chosen_of(s, unit);
  uint32_t whole = 0;
  TENON_TRY(place_whole(s, unit, &whole));
  const tenon__index_map_t* map =
      tenon__arena_copy(s->arena, chosen->region->map, sizeof *chosen->region->map);
  *out_place = (tenon__place_t){.value = value,
                                .storage = TENON_STORAGE_PART,
                                .index = source,
                                .base = whole,
                                .map = map,
                                .order = s->schedule.places[whole].order,
                                .space = chosen->region->device};
  return map == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

tenon_status_t tenon__scheduling_place_part(scheduling_t* s, uint32_t value, const uint32_t* order,
                                            uint32_t* out_place, bool* out_is_part) {
  const join_part_t* part = &s->joins.parts[value];
  tenon__place_t place;
  *out_is_part =
      part->unit != TENON_NONE &&
      tenon__orders_alike(s->tuning->network->pool, &s->g->values[whole_of(s, part->unit)].type,
                          order, chosen_of(s, part->unit)->order);
  if (!*out_is_part) {
    return TENON_OK;
  }
  TENON_TRY(describe_part(s, value, part->unit, part->source, &place));
  return tenon__scheduling_add_place(s, &place, out_place);
}

bool tenon__scheduling_joins(const scheduling_t* s, uint32_t unit) {
  const tenon__unit_t* u = &s->units->items[unit];
  return u->kind == TENON_UNIT_REGION && u->chosen.region->output_count > 0 &&
         u->chosen.region->outputs[0].value != TENON_NONE &&
         s->joins.whole_of[u->chosen.region->outputs[0].value] == unit;
}

/* Did its producer write the value there? */
static bool is_in_place(const scheduling_t* s, uint32_t value, uint32_t whole, uint32_t source) {
  const uint32_t home = s->home[value];
  const tenon__place_t* place = home == TENON_NONE ? NULL : &s->schedule.places[home];
  return place != NULL && place->storage == TENON_STORAGE_PART && place->base == whole &&
         place->index == source;
}

tenon_status_t tenon__scheduling_join(scheduling_t* s, uint32_t unit) {
  const struct tenon_region_t* region = chosen_of(s, unit)->region;
  uint32_t whole = 0;
  TENON_TRY(place_whole(s, unit, &whole));
  for (uint32_t k = 0; k < region->map->source_count; ++k) {
    const uint32_t value = region->inputs[region->map->sources[k].input].value;
    tenon__place_t part;
    uint32_t from = 0;
    uint32_t to = 0;
    if (is_in_place(s, value, whole, k)) {
      continue;
    }
    TENON_TRY(describe_part(s, value, unit, k, &part));
    TENON_TRY(tenon__scheduling_bring(s, value, part.space, &from));
    TENON_TRY(tenon__scheduling_copy_to(s, from, &part, &to));
  }
  return TENON_OK;
}
