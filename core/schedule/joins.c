/* Concatenations in place. A concatenation qualifies if every producer can write its box and every
 * reader can read it there. It is taken if the copies that it saves cost more than slower reads and
 * writes. */
#include "core/schedule/joins.h"

#include <string.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/candidate/conversions.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/layout/place_rules.h"
#include "core/layout/readers.h"
#include "core/plan/place.h"
#include "core/region/retype.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/timing/box_time.h"

/* Wholes that are parts of wholes: strides are found by walking along them. */
enum { MOST_LEVELS = 32 };

typedef struct joining_t {
  tenon__tuning_t* tuning;
  uint32_t graph;
  const tenon__graph_t* g;
  const tenon__units_t* units;
  joins_t* joins;
  uint32_t* maker_of;     /* per value: the unit that is a region and makes it, or TENON_NONE */
  uint32_t* levels;       /* per value: of wholes below it */
  tenon__lists_t readers; /* per value: units */
} joining_t;

/* ---- Units ---- */

static const tenon__step_tactic_t* tactic_of(const tenon__unit_t* unit) {
  return &unit->chosen.candidates->items[unit->chosen.pick].tactic;
}

static uint32_t value_of(const tenon__unit_t* unit) {
  return unit->chosen.region->outputs[0].value;
}

static uint32_t output_number(const tenon__unit_t* unit, uint32_t value) {
  uint32_t k = 0;
  while (unit->chosen.region->outputs[k].value != value) {
    ++k;
  }
  return k;
}

static tenon_status_t find_makers(joining_t* j) {
  tenon__arena_t* arena = j->tuning->arena;
  const size_t values = j->g->value_count + 1u;
  j->levels = tenon__arena_allocate(arena, values, sizeof *j->levels);
  TENON_TRY_MEMORY(j->levels != NULL);
  TENON_TRY(tenon__units_makers(j->g, j->units, arena, &j->maker_of));
  return tenon__units_readers(j->g, j->units, arena, &j->readers);
}

/* ---- What can be a whole, what a part ---- */

/* Memory for it is planned, in whole bytes, and nobody reads its numbers for a shape. */
static bool is_planned(const joining_t* j, uint32_t value) {
  const tenon__type_t* type = &j->g->values[value].type;
  return tenon__type_is_plain(type) && tenon__dtype_bits(type->dtype) >= 8 &&
         type->contents == NULL &&
         !tenon__value_is_dynamic(j->tuning->network, j->graph, value, &j->tuning->profile->max);
}

static bool is_concatenation(const joining_t* j, const tenon__unit_t* unit) {
  const bool is_move = unit->kind == TENON_UNIT_REGION &&
                       unit->chosen.region->kind == TENON_REGION_MOVE &&
                       unit->chosen.region->covered_count > 0;
  if (!is_move || unit->chosen.region->outputs[0].dtype != TENON_DTYPE_UNDEFINED ||
      !tenon__index_map_joins(j->tuning->network->pool, unit->chosen.region->map) ||
      tenon__map_is_dynamic(j->tuning->network->pool, unit->chosen.region->map)) {
    return false;
  }
  return is_planned(j, value_of(unit));
}

static bool are_alike(const joining_t* j, uint32_t value, const uint32_t* a, const uint32_t* b) {
  return tenon__orders_alike(j->tuning->network->pool, &j->g->values[value].type, a, b);
}

/* The order in which a unit leaves its output number k. False: that depends on where its inputs
 * will lie. */
static bool output_order(const joining_t* j, const tenon__unit_t* unit, uint32_t k,
                         const uint32_t** out_order) {
  const struct tenon_region_t* region = unit->chosen.region;
  const tenon_argument_rule_t* rules = tactic_of(unit)->output_rules;
  const uint32_t kind = rules == NULL ? TENON_LAYOUT_ROW_MAJOR : rules[k].kind;
  const uint32_t first = region->outputs[0].value;
  const bool goes_with_first =
      k == 0 || (kind == TENON_LAYOUT_ANY && first != TENON_NONE &&
                 j->g->values[first].type.rank == j->g->values[region->outputs[k].value].type.rank);
  *out_order = kind == TENON_LAYOUT_EXACT ? rules[k].layout->order
               : goes_with_first          ? unit->chosen.order
                                          : NULL;
  return k == 0 || kind != TENON_LAYOUT_FOLLOWS;
}

/* Does its producer write it into a box of what lies as the whole does? Outputs of programs may
 * always be strided. */
static bool is_written_in_boxes(const joining_t* j, const tenon__unit_t* whole, uint32_t value) {
  const tenon__unit_t* maker = &j->units->items[j->maker_of[value]];
  const uint32_t k = output_number(maker, value);
  const tenon_argument_rule_t* rules = tactic_of(maker)->output_rules;
  const tenon_argument_rule_t* rule = tenon__rule_at(rules, k);
  const uint32_t* order = NULL;
  return maker->device == whole->device &&
         tenon__region_output_dtype(maker->chosen.region, k, rule) ==
             j->g->values[value].type.dtype &&
         (maker->chosen.region->outputs[k].aligned || tenon__rule_is_strided(rule)) &&
         !tenon__rule_asks_alignment(rule, j->g->values[value].type.dtype) &&
         output_order(j, maker, k, &order) &&
         are_alike(j, value_of(whole), order, whole->chosen.order);
}

/* Does everybody who reads the value take it with gaps, in the order of the whole? */
static bool is_read_in_boxes(const joining_t* j, const tenon__unit_t* whole, uint32_t value) {
  const uint32_t* readers = tenon__lists_get(&j->readers, value);
  for (uint32_t r = 0; r < tenon__lists_count(&j->readers, value); ++r) {
    const tenon__unit_t* unit = &j->units->items[readers[r]];
    if (unit == whole) {
      continue;
    }
    if (unit->kind != TENON_UNIT_REGION || unit->device != whole->device) {
      return false;
    }
    const struct tenon_region_t* region = unit->chosen.region;
    const tenon_argument_rule_t* rules = tactic_of(unit)->input_rules;
    for (uint32_t k = 0; k < region->input_count; ++k) {
      const tenon_argument_rule_t* rule = tenon__rule_at(rules, k);
      const bool takes =
          rule != NULL && tenon__rule_takes_boxes(rule, j->g->values[value].type.dtype) &&
          !tenon__rule_is_host(rule) &&
          tenon__region_input_dtype(region, k, rule) == j->g->values[value].type.dtype &&
          (rule->kind != TENON_LAYOUT_EXACT ||
           are_alike(j, value_of(whole), rule->layout->order, whole->chosen.order));
      if (region->inputs[k].value == value && !takes) {
        return false;
      }
    }
  }
  return true;
}

static bool can_be_part(const joining_t* j, const tenon__unit_t* whole, uint32_t value) {
  return j->maker_of[value] != TENON_NONE && j->joins->parts[value].unit == TENON_NONE &&
         (j->g->values[value].flags & TENON_VALUE_IS_OUTPUT) == 0 && is_planned(j, value) &&
         j->levels[value] < MOST_LEVELS && is_written_in_boxes(j, whole, value) &&
         is_read_in_boxes(j, whole, value);
}

/* ---- One concatenation ---- */

/* Rules may only require that a value is as long as its box. Then only the run can show
 * that boxes lie apart. */
static bool fills_box(const joining_t* j, const tenon__map_source_t* source, uint32_t value) {
  const tenon__type_t* type = &j->g->values[value].type;
  return type->rank == source->rank && tenon__dims_equal(type->dims, source->dims, source->rank);
}

static uint32_t source_value(const tenon__unit_t* whole, uint32_t source) {
  const struct tenon_region_t* region = whole->chosen.region;
  return region->inputs[region->map->sources[source].input].value;
}

/* Who copies what is no part, as if it lay in the whole's order. */
static tenon_status_t find_copy(const joining_t* j, const tenon__unit_t* whole, uint32_t value,
                                tenon__chosen_t* out_copy) {
  const orders_t orders = {
      .from = whole->chosen.order, .to = whole->chosen.order, .device = whole->device};
  return tenon__conversion_choose(j->tuning, j->graph, value, orders, j->tuning->arena, out_copy);
}

static tenon_status_t copy_time(const joining_t* j, const tenon__unit_t* whole, uint32_t value,
                                tenon__time_t* out_time) {
  tenon__chosen_t copy;
  TENON_TRY(find_copy(j, whole, value, &copy));
  *out_time = copy.candidates->count == 0 ? (tenon__time_t){.figure = TENON_FIGURE_NONE}
                                          : copy.candidates->items[0].time;
  return TENON_OK;
}

/* Can it be copied into its box? */
static tenon_status_t can_be_copied(const joining_t* j, const tenon__unit_t* whole, uint32_t value,
                                    bool* out_can) {
  tenon__chosen_t copy;
  TENON_TRY(find_copy(j, whole, value, &copy));
  const tenon_argument_rule_t* rules =
      copy.candidates->count == 0 ? NULL : copy.candidates->items[0].tactic.output_rules;
  *out_can = tenon__rule_takes_boxes(rules, j->g->values[value].type.dtype);
  return TENON_OK;
}

static bool is_part_of(const joining_t* j, uint32_t u, uint32_t source) {
  const join_part_t* part = &j->joins->parts[source_value(&j->units->items[u], source)];
  return part->unit == u && part->source == source;
}

/* All that can be parts, for the time being. */
static uint32_t take_parts(joining_t* j, uint32_t u) {
  const tenon__unit_t* whole = &j->units->items[u];
  uint32_t taken = 0;
  for (uint32_t s = 0; s < whole->chosen.region->map->source_count; ++s) {
    const uint32_t part = source_value(whole, s);
    if (can_be_part(j, whole, part) && fills_box(j, &whole->chosen.region->map->sources[s], part)) {
      j->joins->parts[part] = (join_part_t){.unit = u, .source = s};
      taken += 1;
    }
  }
  return taken;
}

static void give_parts_up(joining_t* j, uint32_t u) {
  const tenon__unit_t* whole = &j->units->items[u];
  for (uint32_t s = 0; s < whole->chosen.region->map->source_count; ++s) {
    if (is_part_of(j, u, s)) {
      j->joins->parts[source_value(whole, s)].unit = TENON_NONE;
    }
  }
}

static void note_whole(joining_t* j, uint32_t u) {
  const tenon__unit_t* whole = &j->units->items[u];
  uint32_t* level = &j->levels[value_of(whole)];
  j->joins->whole_of[value_of(whole)] = u;
  for (uint32_t s = 0; s < whole->chosen.region->map->source_count; ++s) {
    const uint32_t own = is_part_of(j, u, s) ? j->levels[source_value(whole, s)] + 1 : 0;
    *level = own > *level ? own : *level;
  }
}

/* ---- Times ---- */

/* The box of one source at the optimum, in arrays of the whole's rank. */
static bool find_box(const joining_t* j, const tenon__unit_t* whole, uint32_t source, int64_t* dims,
                     int64_t* begin) {
  const tenon__index_map_t* map = whole->chosen.region->map;
  const tenon__extents_t* optimum = &j->tuning->profile->optimum;
  bool is_known = tenon__extents_shape(optimum, map->rank, map->dims, dims);
  memset(begin, 0, map->rank * sizeof *begin);
  for (uint32_t d = 0; d < map->rank; ++d) {
    const bool is_axis =
        !tenon__dim_equal(map->sources[source].coordinates[d],
                          tenon__dim_coordinate(j->tuning->network->pool, d, map->dims[d]));
    const uint32_t earlier = is_axis ? source : 0;
    for (uint32_t k = 0; k < earlier && is_known; ++k) {
      int64_t extent = 0;
      is_known = tenon__extents_get(optimum, map->sources[k].dims[d], &extent);
      begin[d] += extent;
    }
  }
  return is_known;
}

/* What one unit takes longer with an argument in the box. */
static tenon_status_t add_loss(const joining_t* j, const tenon__unit_t* unit,
                               const tenon__box_t* box, tenon__box_time_t* inout_loss) {
  const tenon__candidate_t* candidate = &unit->chosen.candidates->items[unit->chosen.pick];
  tenon__box_time_t own;
  TENON_TRY(tenon__candidate_time_in_box(j->tuning, unit->chosen.region, candidate, box, &own));
  const bool is_near = own.time.seconds <= candidate->time.seconds * (1 + TENON_NOISE_SHARE);
  own.time.seconds = is_near ? 0 : own.time.seconds - candidate->time.seconds;
  inout_loss->time = tenon__time_sum(inout_loss->time, own.time);
  inout_loss->is_wrong = inout_loss->is_wrong || own.is_wrong;
  return TENON_OK;
}

/* Likewise one who reads the value, through as many inputs as it does. */
static tenon_status_t add_loss_of_reader(const joining_t* j, const tenon__unit_t* unit,
                                         uint32_t value, tenon__box_t box,
                                         tenon__box_time_t* inout_loss) {
  box.is_input = true;
  for (box.argument = 0; box.argument < unit->chosen.region->input_count; ++box.argument) {
    TENON_TRY(unit->chosen.region->inputs[box.argument].value == value
                  ? add_loss(j, unit, &box, inout_loss)
                  : TENON_OK);
  }
  return TENON_OK;
}

/* All who read it beside the whole. */
static tenon_status_t add_losses_of_readers(const joining_t* j, const tenon__unit_t* whole,
                                            uint32_t value, const tenon__box_t* box,
                                            tenon__box_time_t* inout_loss) {
  const uint32_t* readers = tenon__lists_get(&j->readers, value);
  for (uint32_t r = 0; r < tenon__lists_count(&j->readers, value); ++r) {
    const tenon__unit_t* unit = &j->units->items[readers[r]];
    const bool is_new = unit != whole && !tenon__list_holds(readers, r, readers[r]);
    TENON_TRY(is_new ? add_loss_of_reader(j, unit, value, *box, inout_loss) : TENON_OK);
  }
  return TENON_OK;
}

/* What all who write and read a part take longer than with a tensor of its own. */
static tenon_status_t find_loss(const joining_t* j, const tenon__unit_t* whole, uint32_t source,
                                tenon__box_time_t* out_loss) {
  int64_t dims[TENON_RANK_LIMIT];
  int64_t begin[TENON_RANK_LIMIT];
  const uint32_t value = source_value(whole, source);
  const tenon__unit_t* maker = &j->units->items[j->maker_of[value]];
  const tenon__box_t box = {.argument = output_number(maker, value),
                            .rank = whole->chosen.region->map->rank,
                            .dims = dims,
                            .begin = begin,
                            .order = whole->chosen.order};
  *out_loss = (tenon__box_time_t){.time = {.figure = TENON_FIGURE_NONE}};
  if (!find_box(j, whole, source, dims, begin)) {
    return TENON_OK;
  }
  out_loss->time.figure = TENON_FIGURE_MEASURED;
  TENON_TRY(add_loss(j, maker, &box, out_loss));
  return add_losses_of_readers(j, whole, value, &box, out_loss);
}

/* A part stays one unless it is wrong, or takes longer than it would to copy it. */
static tenon_status_t judge_part(joining_t* j, uint32_t u, uint32_t source, tenon__time_t* inout) {
  const tenon__unit_t* whole = &j->units->items[u];
  const uint32_t value = source_value(whole, source);
  const bool is_part = is_part_of(j, u, source);
  tenon__box_time_t loss = {.is_wrong = !is_part};
  tenon__time_t copy = {0};
  TENON_TRY(is_part ? find_loss(j, whole, source, &loss) : TENON_OK);
  if (!loss.is_wrong && !(loss.time.seconds > 0)) {
    *inout = tenon__time_sum(*inout, loss.time);
    return TENON_OK;
  }
  TENON_TRY(copy_time(j, whole, value, &copy));
  if (is_part && (loss.is_wrong || loss.time.seconds > copy.seconds)) {
    j->joins->parts[value].unit = TENON_NONE;
  }
  *inout = tenon__time_sum(*inout, is_part_of(j, u, source) ? loss.time : copy);
  return TENON_OK;
}

/* Are the parts, and copies of what is none, no slower than the move? Where times are not known the
 * bytes that stay where they are decide. */
static tenon_status_t pays(joining_t* j, uint32_t u, bool* out_pays) {
  const tenon__unit_t* whole = &j->units->items[u];
  const tenon__time_t move = whole->chosen.candidates->items[whole->chosen.pick].time;
  tenon__time_t own = {.figure = TENON_FIGURE_MEASURED};
  uint32_t part_count = 0;
  for (uint32_t s = 0; s < whole->chosen.region->map->source_count; ++s) {
    TENON_TRY(judge_part(j, u, s, &own));
    part_count += is_part_of(j, u, s) ? 1 : 0;
  }
  const bool is_measured =
      own.figure == TENON_FIGURE_MEASURED && move.figure == TENON_FIGURE_MEASURED;
  *out_pays = part_count > 0 && (!is_measured || own.seconds <= move.seconds);
  return TENON_OK;
}

static tenon_status_t join(joining_t* j, uint32_t u) {
  const tenon__unit_t* whole = &j->units->items[u];
  bool can = take_parts(j, u) > 0;
  TENON_TRY(can ? pays(j, u, &can) : TENON_OK);
  for (uint32_t s = 0; s < whole->chosen.region->map->source_count && can; ++s) {
    if (!is_part_of(j, u, s)) {
      TENON_TRY(can_be_copied(j, whole, source_value(whole, s), &can));
    }
  }
  if (can) {
    note_whole(j, u);
  } else {
    give_parts_up(j, u);
  }
  return TENON_OK;
}

tenon_status_t tenon__joins_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   const tenon__units_t* units, joins_t* out_joins) {
  const tenon__graph_t* g = tuning->network->graphs[graph];
  const size_t values = g->value_count + 1u;
  joining_t j = {.tuning = tuning, .graph = graph, .g = g, .units = units, .joins = out_joins};
  out_joins->parts = tenon__arena_allocate(tuning->arena, values, sizeof *out_joins->parts);
  out_joins->whole_of = tenon__arena_allocate(tuning->arena, values, sizeof *out_joins->whole_of);
  TENON_TRY_MEMORY(out_joins->parts != NULL && out_joins->whole_of != NULL);
  memset(out_joins->parts, 0xff, values * sizeof *out_joins->parts);
  memset(out_joins->whole_of, 0xff, values * sizeof *out_joins->whole_of);
  bool any = false;
  const uint32_t count = tuning->options.no_fusion ? 0 : units->count; /* one node a step */
  for (uint32_t u = 0; u < count; ++u) {
    if (is_concatenation(&j, &units->items[u])) {
      TENON_TRY(any ? TENON_OK : find_makers(&j));
      any = true;
      TENON_TRY(join(&j, u));
    }
  }
  return tenon__dim_pool_failed(tuning->network->pool) ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}
