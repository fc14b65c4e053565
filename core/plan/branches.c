/* Streams for the steps of a recording: each step is put on the stream on which it can begin first.
 * A step waits for earlier ones that use the same memory, unless both only read it. */
#include "core/plan/branches.h"

#include <string.h>

#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/plan/place.h"

/* ---- What may be recorded ---- */

/* In the device's own memory, where nothing moves it, or but between two places. What a body is
 * lent is kept for it at two places at most, or lies still itself. */
static bool lies_still(const tenon__schedule_t* schedule, uint32_t space, const uint32_t* places,
                       uint32_t count) {
  bool lies = true;
  for (uint32_t k = 0; k < count && lies; ++k) {
    const uint32_t root =
        places[k] == TENON_NONE ? TENON_NONE : tenon__place_root(schedule, places[k]);
    const tenon__storage_t storage =
        root == TENON_NONE ? TENON_STORAGE_ARENA : schedule->places[root].storage;
    lies = (root == TENON_NONE || schedule->places[root].space == space) &&
           (storage == TENON_STORAGE_ARENA || storage == TENON_STORAGE_WEIGHTS ||
            storage == TENON_STORAGE_STATE || storage == TENON_STORAGE_NEXT ||
            storage == TENON_STORAGE_PARAMETER);
  }
  return lies;
}

bool tenon__step_is_recordable(const tenon__schedule_t* schedule, const tenon__step_t* step) {
  return step->kind == TENON_STEP_KERNEL && step->device != 0 && !step->is_dynamic &&
         (step->tactic.flags & TENON_TACTIC_RECORDABLE) != 0 &&
         lies_still(schedule, step->device, step->inputs, step->input_count) &&
         lies_still(schedule, step->device, step->outputs, step->output_count);
}

/* ---- What meets ---- */

static bool is_read_only(const tenon__place_t* root) {
  return root->storage == TENON_STORAGE_WEIGHTS || root->storage == TENON_STORAGE_PARAMETER ||
         root->storage == TENON_STORAGE_INPUT;
}

static uint32_t add_uses(tenon__ordering_t* order, const uint32_t* places, uint32_t count,
                         bool writes, uint32_t at) {
  const tenon__schedule_t* schedule = order->schedule;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t root =
        places[k] == TENON_NONE ? TENON_NONE : tenon__place_root(schedule, places[k]);
    if (root != TENON_NONE && (writes || !is_read_only(&schedule->places[root]))) {
      order->uses[at++] = (tenon__memory_use_t){.place = places[k], .root = root, .writes = writes};
    }
  }
  return at;
}

tenon_status_t tenon__ordering_begin(tenon__arena_t* arena, const tenon__schedule_t* schedule,
                                     uint32_t first, uint32_t count, tenon__ordering_t* out_order) {
  size_t argument_count = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__step_t* step = &schedule->steps[first + k];
    argument_count += (size_t)step->input_count + step->output_count;
  }
  *out_order = (tenon__ordering_t){.schedule = schedule, .first = first, .count = count};
  out_order->use_begin = tenon__arena_allocate(arena, count + 1u, sizeof *out_order->use_begin);
  out_order->uses = tenon__arena_allocate(arena, argument_count + 1, sizeof *out_order->uses);
  out_order->done = tenon__arena_allocate(arena, count + 1u, sizeof *out_order->done);
  TENON_TRY_MEMORY(out_order->use_begin != NULL && out_order->uses != NULL &&
                   out_order->done != NULL);
  uint32_t at = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__step_t* step = &schedule->steps[first + k];
    out_order->use_begin[k] = at;
    at = add_uses(out_order, step->inputs, step->input_count, false, at);
    at = add_uses(out_order, step->outputs, step->output_count, true, at);
  }
  out_order->use_begin[count] = at;
  return TENON_OK;
}

/* The part of a whole in which a place lies, or its root. */
static uint32_t part_of(const tenon__schedule_t* schedule, uint32_t place) {
  while (schedule->places[place].storage == TENON_STORAGE_VIEW) {
    place = schedule->places[place].base;
  }
  return place;
}

/* Does `part` lie in `whole`, or is it that? */
static bool lies_in(const tenon__schedule_t* schedule, uint32_t part, uint32_t whole) {
  while (part != whole && (schedule->places[part].storage == TENON_STORAGE_PART ||
                           schedule->places[part].storage == TENON_STORAGE_VIEW)) {
    part = schedule->places[part].base;
  }
  return part == whole;
}

/* Two places of one root: parts of a whole lie beside one another. */
static bool are_apart(const tenon__schedule_t* schedule, uint32_t a, uint32_t b) {
  a = part_of(schedule, a);
  b = part_of(schedule, b);
  return !lies_in(schedule, a, b) && !lies_in(schedule, b, a);
}

static bool uses_meet(const tenon__schedule_t* schedule, const tenon__memory_use_t* a,
                      const tenon__memory_use_t* b) {
  if (!a->writes && !b->writes) {
    return false;
  }
  return a->root == b->root ? !are_apart(schedule, a->place, b->place)
                            : a->begin < b->end && b->begin < a->end;
}

/* What finds extents, and what reads them, leaves and finds them in memory of no place. */
static bool steps_meet(const tenon__ordering_t* order, uint32_t a, uint32_t b) {
  const tenon__step_t* steps = &order->schedule->steps[order->first];
  bool meet = steps[a].at_bound || steps[b].at_bound;
  for (uint32_t i = order->use_begin[a]; i < order->use_begin[a + 1] && !meet; ++i) {
    for (uint32_t j = order->use_begin[b]; j < order->use_begin[b + 1] && !meet; ++j) {
      meet = uses_meet(order->schedule, &order->uses[i], &order->uses[j]);
    }
  }
  return meet;
}

/* ---- Order ---- */

static void add_before(tenon__before_t* inout_before, const tenon__before_t* more) {
  for (uint32_t lane = 0; lane < TENON_LANE_LIMIT; ++lane) {
    const uint32_t step = more->steps[lane];
    inout_before->steps[lane] = step > inout_before->steps[lane] ? step : inout_before->steps[lane];
  }
}

void tenon__ordering_needs(const tenon__ordering_t* order, tenon__before_t* inout_known,
                           tenon__before_t* out_needs) {
  const tenon__step_t* steps = &order->schedule->steps[order->first];
  const uint32_t next = order->placed_count;
  *out_needs = (tenon__before_t){{0}};
  for (uint32_t k = next; k-- > 0;) {
    if (memcmp(inout_known, &order->last, sizeof order->last) == 0) {
      return; /* all of them are done before */
    }
    const uint32_t lane = steps[k].lane;
    if (inout_known->steps[lane] <= k && steps_meet(order, k, next)) {
      out_needs->steps[lane] = k + 1;
      add_before(inout_known, &order->done[k]);
    }
  }
}

void tenon__ordering_place(tenon__ordering_t* order, uint32_t lane, const tenon__before_t* known) {
  const uint32_t step = order->placed_count++;
  const uint32_t before = order->last.steps[lane];
  order->done[step] = *known;
  if (before > 0) {
    add_before(&order->done[step], &order->done[before - 1]);
  }
  order->done[step].steps[lane] = step + 1;
  order->last.steps[lane] = step + 1;
}

/* ---- Finding lanes ---- */

typedef struct lanes_t {
  tenon__ordering_t order;
  uint32_t limit;
  uint32_t count; /* that are in use */
  double* finish; /* per step, in seconds from the first's beginning */
  double serial;  /* of all steps in a row */
  double whole;   /* with lanes */
  tenon__step_t* steps;
} lanes_t;

static double seconds_of(const tenon__step_t* step) {
  return step->measured_seconds > 0 ? step->measured_seconds : TENON_NOISE_UNKNOWN_STEP_SECONDS;
}

/* When the next step could begin on a lane. */
static double begin_on(const lanes_t* l, uint32_t lane, const tenon__before_t* needs) {
  const uint32_t last = l->order.last.steps[lane];
  double begin = last == 0 ? 0 : l->finish[last - 1];
  for (uint32_t other = 0; other < TENON_LANE_LIMIT; ++other) {
    const uint32_t step = needs->steps[other];
    const double end =
        step == 0 ? 0 : l->finish[step - 1] + (other == lane ? 0 : TENON_NOISE_STREAM_WAIT_SECONDS);
    begin = end > begin ? end : begin;
  }
  return begin;
}

/* The lane on which it can begin first; behind what it needs rather than elsewhere. */
static uint32_t choose_lane(const lanes_t* l, const tenon__step_t* step,
                            const tenon__before_t* needs, double* out_begin) {
  uint32_t best = 0;
  *out_begin = begin_on(l, 0, needs);
  const uint32_t offered = seconds_of(step) > TENON_NOISE_FILLING_SECONDS ? 1
                           : l->count < l->limit                          ? l->count + 1
                                                                          : l->count;
  for (uint32_t lane = 1; lane < offered; ++lane) {
    const double begin = begin_on(l, lane, needs);
    const bool follows = needs->steps[lane] != 0 && needs->steps[lane] == l->order.last.steps[lane];
    if (begin < *out_begin || (begin <= *out_begin && follows)) {
      best = lane;
      *out_begin = begin;
    }
  }
  return best;
}

static void place_steps(lanes_t* l) {
  for (uint32_t k = 0; k < l->order.count; ++k) {
    tenon__before_t known = {{0}};
    tenon__before_t needs;
    double begin = 0;
    tenon__ordering_needs(&l->order, &known, &needs);
    const uint32_t lane = choose_lane(l, &l->steps[k], &needs, &begin);
    l->steps[k].lane = lane;
    l->count = lane + 1 > l->count ? lane + 1 : l->count;
    l->finish[k] = begin + seconds_of(&l->steps[k]);
    l->serial += seconds_of(&l->steps[k]);
    l->whole = l->finish[k] > l->whole ? l->finish[k] : l->whole;
    tenon__ordering_place(&l->order, lane, &known);
  }
}

static void put_in_a_row(tenon__step_t* steps, uint32_t count) {
  for (uint32_t k = 0; k < count; ++k) {
    steps[k].lane = 0;
  }
}

static tenon_status_t find_lanes(tenon__plan_t* plan, tenon__schedule_t* schedule, uint32_t first,
                                 uint32_t count, tenon__arena_t* arena) {
  lanes_t l = {.limit = plan->devices[schedule->steps[first].device].lane_limit,
               .count = 1,
               .steps = &schedule->steps[first]};
  put_in_a_row(l.steps, count);
  if (count < 3 || l.limit < 2) { /* two beside one another, and what reads both */
    return TENON_OK;
  }
  l.limit = l.limit > TENON_LANE_LIMIT ? TENON_LANE_LIMIT : l.limit;
  l.finish = tenon__arena_allocate(arena, count, sizeof *l.finish);
  TENON_TRY_MEMORY(l.finish != NULL);
  TENON_TRY(tenon__ordering_begin(arena, schedule, first, count, &l.order));
  place_steps(&l);
  if (l.whole > (1 - TENON_NOISE_STREAMS_SHARE) * l.serial) {
    put_in_a_row(l.steps, count);
  }
  return TENON_OK;
}

/* Consecutive steps that may be recorded together. */
static uint32_t count_together(const tenon__schedule_t* schedule, uint32_t first) {
  uint32_t count = 0;
  while (first + count < schedule->step_count &&
         schedule->steps[first + count].device == schedule->steps[first].device &&
         tenon__step_is_recordable(schedule, &schedule->steps[first + count])) {
    ++count;
  }
  return count;
}

tenon_status_t tenon__branches_find(tenon__plan_t* plan, uint32_t graph, tenon__arena_t* arena) {
  tenon__schedule_t* schedule = &plan->schedules[graph];
  uint32_t count = 0;
  for (uint32_t s = 0; s < schedule->step_count; s += count == 0 ? 1 : count) {
    count = count_together(schedule, s);
    TENON_TRY(count == 0 ? TENON_OK : find_lanes(plan, schedule, s, count, arena));
  }
  return TENON_OK;
}

/* ---- Overlaps ---- */

static tenon_status_t find_overlaps(const tenon__schedule_t* schedule, uint32_t first,
                                    uint32_t count, tenon__arena_t* arena, uint32_t* last) {
  const tenon__step_t* steps = &schedule->steps[first];
  tenon__ordering_t order;
  uint32_t lane_count = 1;
  for (uint32_t k = 0; k < count; ++k) {
    lane_count = steps[k].lane + 1 > lane_count ? steps[k].lane + 1 : lane_count;
  }
  if (lane_count == 1) {
    return TENON_OK;
  }
  TENON_TRY(tenon__ordering_begin(arena, schedule, first, count, &order));
  for (uint32_t k = 0; k < count; ++k) {
    tenon__before_t known = {{0}};
    tenon__before_t needs;
    tenon__ordering_needs(&order, &known, &needs);
    tenon__ordering_place(&order, steps[k].lane, &known);
    for (uint32_t before = 0; before < k; ++before) {
      if (order.done[k].steps[steps[before].lane] <= before) {
        last[first + before] = first + k;
      }
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__branches_overlaps(const tenon__schedule_t* schedule, tenon__arena_t* arena,
                                        uint32_t** out_last) {
  uint32_t* last = tenon__arena_allocate(arena, schedule->step_count + 1u, sizeof *last);
  TENON_TRY_MEMORY(last != NULL);
  for (uint32_t s = 0; s <= schedule->step_count; ++s) {
    last[s] = s;
  }
  uint32_t count = 0;
  for (uint32_t s = 0; s < schedule->step_count; s += count == 0 ? 1 : count) {
    count = count_together(schedule, s);
    TENON_TRY(count == 0 ? TENON_OK : find_overlaps(schedule, s, count, arena, last));
  }
  *out_last = last;
  return TENON_OK;
}
