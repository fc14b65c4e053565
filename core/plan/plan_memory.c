/*
 * Memory of a whole plan. For each graph: how long each place lives (counted in steps), which
 * outputs take over the memory of an input that dies, and then where the blocks lie. Bodies are
 * planned before the graph that holds their control step; their memory is a block of that step.
 */
#include "core/plan/plan_memory.h"

#include "core/base/allocator.h"
#include "core/base/status.h"
#include "core/plan/bounded.h"
#include "core/plan/branches.h"
#include "core/plan/in_place.h"
#include "core/plan/memory_planner.h"
#include "core/plan/place.h"

#define ALIGNMENT_BYTES 64u

/* One place while its graph is planned. What is true of memory (life, block) is kept at the place
 * that owns it: the end of a chain of views and aliases. */
typedef struct life_t {
  uint32_t owner; /* place */
  bool is_written;
  bool has_parts;
  uint32_t first_step;
  uint32_t last_step; /* until that is done; the number of steps: until the end */
  uint32_t last_user; /* the last step that reads or writes it, */
  uint32_t others;    /* and until when all others of them are done */
} life_t;

typedef struct graph_planner_t {
  tenon__plan_t* plan;
  uint32_t graph;
  tenon__schedule_t* schedule;
  const tenon_sink_t* sink;
  tenon__arena_t* arena;
  life_t* lives;      /* one for each place */
  uint32_t* overlaps; /* for each step the last that may be at work beside it */
} graph_planner_t;

static const tenon__value_node_t* value_of(const graph_planner_t* p, uint32_t place) {
  return &p->plan->network->graphs[p->graph]->values[p->schedule->places[place].value];
}

static uint32_t owner_of(const graph_planner_t* p, uint32_t place) {
  while (p->lives[place].owner != place) {
    place = p->lives[place].owner;
  }
  return place;
}

static tenon_status_t find_owners(graph_planner_t* p) {
  for (uint32_t k = 0; k < p->schedule->place_count; ++k) {
    const uint32_t root = tenon__place_root(p->schedule, k);
    if (root == TENON_NONE) {
      return tenon__fail(p->sink, TENON_ERROR_INTERNAL,
                         "the place of '%s' is a view of nothing, or of too many views",
                         value_of(p, k)->name);
    }
    p->lives[k].owner = root;
    if (p->schedule->places[k].storage == TENON_STORAGE_PART) {
      p->lives[root].has_parts = true;
    }
  }
  return TENON_OK;
}

/* ---- Lives ---- */

/* In the order of the steps. */
static void extend_life(graph_planner_t* p, uint32_t place, uint32_t step) {
  life_t* life = &p->lives[owner_of(p, place)];
  if (step > life->last_user) {
    life->others = life->last_step;
    life->last_user = step;
  }
  life->last_step = p->overlaps[step] > life->last_step ? p->overlaps[step] : life->last_step;
}

static tenon_status_t live_through_step(graph_planner_t* p, uint32_t s) {
  const tenon__step_t* step = &p->schedule->steps[s];
  TENON_EACH_INPUT(k, step) {
    const uint32_t place = step->inputs[k];
    const uint32_t owner = owner_of(p, place);
    const tenon__storage_t storage = p->schedule->places[owner].storage;
    if (!p->lives[owner].is_written &&
        (storage == TENON_STORAGE_ARENA || storage == TENON_STORAGE_GROWING)) {
      return tenon__fail(p->sink, TENON_ERROR_INTERNAL,
                         "step %u, '%s', reads '%s' before any step writes it", s, step->name,
                         value_of(p, place)->name);
    }
    extend_life(p, place, s);
  }
  TENON_EACH_OUTPUT(k, step) {
    life_t* life = &p->lives[owner_of(p, step->outputs[k])];
    if (!life->is_written) {
      life->is_written = true;
      life->first_step = s;
    }
    extend_life(p, step->outputs[k], s);
  }
  return TENON_OK;
}

/* The graph's outputs, and what states become for the next execution, are read after the last step.
 */
static void live_to_the_end(graph_planner_t* p) {
  const tenon__schedule_t* schedule = p->schedule;
  TENON_EACH_OUTPUT(k, schedule) {
    extend_life(p, schedule->outputs[k], schedule->step_count);
  }
  const tenon__network_t* network = p->plan->network;
  if (p->graph != 0) {
    return;
  }
  for (uint32_t k = 0; k < network->state_count; ++k) {
    for (uint32_t place = 0; place < schedule->place_count; ++place) {
      if (network->states[k].update != TENON_NONE &&
          schedule->places[place].value == network->states[k].update) {
        extend_life(p, place, schedule->step_count);
      }
    }
  }
}

static tenon_status_t find_sizes(graph_planner_t* p) {
  const tenon__profile_t* profile = &p->plan->profile;
  const tenon__extents_t* points[3] = {&profile->min, &profile->optimum, &profile->max};
  for (uint32_t k = 0; k < p->schedule->place_count; ++k) {
    tenon__place_t* place = &p->schedule->places[k];
    place->alias = TENON_NONE;
    place->offset = 0;
    place->size_bytes = 0;
    if (place->storage != TENON_STORAGE_ARENA && place->storage != TENON_STORAGE_OUTPUT) {
      continue;
    }
    for (uint32_t point = 0; point < 3; ++point) {
      uint64_t bytes = 0;
      if (tenon__place_bytes(p->plan->network, p->graph, place, points[point], &bytes)) {
        place->size_bytes = bytes > place->size_bytes ? bytes : place->size_bytes;
      } else if (point == 2) {
        return tenon__fail(p->sink, TENON_ERROR_OUT_OF_MEMORY,
                           "'%s' has more elements than can be counted, or fewer than none",
                           value_of(p, k)->name);
      }
    }
  }
  return TENON_OK;
}

/* ---- In place ---- */

/* How many arguments of the step lie in the memory of `owner`. */
static uint32_t count_arguments(const graph_planner_t* p, const tenon__step_t* step,
                                uint32_t owner) {
  uint32_t count = 0;
  for (uint32_t k = 0; k < step->input_count; ++k) {
    count += step->inputs[k] != TENON_NONE && owner_of(p, step->inputs[k]) == owner ? 1u : 0u;
  }
  for (uint32_t k = 0; k < step->output_count; ++k) {
    count += step->outputs[k] != TENON_NONE && owner_of(p, step->outputs[k]) == owner ? 1u : 0u;
  }
  return count;
}

static bool may_take_over(const graph_planner_t* p, uint32_t s, uint32_t input, uint32_t output) {
  const tenon__step_t* step = &p->schedule->steps[s];
  const uint32_t in = step->inputs[input];
  const uint32_t out = step->outputs[output];
  if (in == TENON_NONE || out == TENON_NONE) {
    return false;
  }
  const uint32_t owner = owner_of(p, in);
  return tenon__fits_in_place(p->plan, p->graph, step, input, output) &&
         p->lives[owner].last_user == s && (s == 0 || p->lives[owner].others < s) &&
         count_arguments(p, step, owner) == 1 && owner_of(p, out) == out &&
         p->lives[out].first_step == s && !p->lives[out].has_parts;
}

/* What a state becomes is written over what it was. */
static void take_over_one(graph_planner_t* p, uint32_t in, uint32_t out) {
  const uint32_t owner = owner_of(p, in);
  if (p->schedule->places[out].storage == TENON_STORAGE_NEXT) {
    p->schedule->places[out].storage = TENON_STORAGE_STATE;
    return;
  }
  p->schedule->places[out].alias = owner;
  p->lives[owner].last_step = p->lives[out].last_step;
  p->lives[owner].last_user = p->lives[out].last_user;
  p->lives[owner].others = p->lives[out].others;
  p->lives[out].owner = owner;
}

static void take_over(graph_planner_t* p) {
  for (uint32_t s = 0; s < p->schedule->step_count; ++s) {
    const tenon__step_t* step = &p->schedule->steps[s];
    const uint32_t count = step->kind == TENON_STEP_KERNEL && step->tactic.output_rules != NULL
                               ? step->output_count
                               : 0;
    for (uint32_t output = 0; output < count; ++output) {
      const uint32_t input = step->tactic.output_rules[output].in_place - 1u; /* 0: none */
      if (input < step->input_count && may_take_over(p, s, input, output)) {
        take_over_one(p, step->inputs[input], step->outputs[output]);
      }
    }
  }
}

/* ---- Blocks ---- */

static uint32_t bodies_of(const tenon__plan_t* plan, uint32_t graph, const tenon__step_t* step,
                          const uint32_t** out_bodies) {
  if (!tenon__step_is_control(step)) {
    return 0;
  }
  const tenon__node_t* node = &plan->network->graphs[graph]->nodes[step->node];
  *out_bodies = node->bodies;
  return node->body_count;
}

/* The bodies of one step are never alive together: the largest counts. */
static uint64_t largest_body(const tenon__plan_t* plan, uint32_t graph, const tenon__step_t* step,
                             uint32_t space, bool alive) {
  const uint32_t* bodies = NULL;
  const uint32_t count = bodies_of(plan, graph, step, &bodies);
  uint64_t most = 0;
  for (uint32_t k = 0; k < count; ++k) {
    const tenon__schedule_t* body = &plan->schedules[bodies[k]];
    const uint64_t bytes = alive ? body->alive_bytes[space] : body->memory_bytes[space];
    most = bytes > most ? bytes : most;
  }
  return most;
}

uint64_t tenon__step_body_bytes(const tenon__plan_t* plan, uint32_t graph,
                                const tenon__step_t* step, uint32_t space) {
  return largest_body(plan, graph, step, space, false);
}

static bool owns_block(const graph_planner_t* p, uint32_t place, uint32_t space) {
  return p->schedule->places[place].storage == TENON_STORAGE_ARENA &&
         p->schedule->places[place].space == space && p->lives[place].owner == place &&
         p->lives[place].is_written;
}

/* In one device's memory; `blocks` has room for all places and steps. */
static tenon_status_t place_blocks(graph_planner_t* p, uint32_t space, tenon__block_t* blocks) {
  tenon__schedule_t* schedule = p->schedule;
  /* The values of bodies that are alive at once may be fewer than what their memory takes: the
   * lower bound counts the former. */
  uint32_t count = 0;
  uint64_t ignored = 0;
  for (int counts_alive = 1; counts_alive >= 0; --counts_alive) {
    count = 0;
    for (uint32_t k = 0; k < schedule->place_count; ++k) {
      if (owns_block(p, k, space)) {
        blocks[count++] = (tenon__block_t){.size_bytes = schedule->places[k].size_bytes,
                                           .first_step = p->lives[k].first_step,
                                           .last_step = p->lives[k].last_step};
      }
    }
    for (uint32_t s = 0; s < schedule->step_count; ++s) {
      const tenon__step_t* step = &schedule->steps[s];
      blocks[count++] = (tenon__block_t){
          .size_bytes = largest_body(p->plan, p->graph, step, space, counts_alive != 0),
          .first_step = s,
          .last_step = s};
    }
    TENON_TRY(counts_alive != 0 ? tenon__memory_alive(p->plan->allocator, blocks, count,
                                                      &schedule->alive_bytes[space])
                                : tenon__memory_plan(p->plan->allocator, blocks, count,
                                                     &schedule->memory_bytes[space], &ignored));
  }
  count = 0;
  for (uint32_t k = 0; k < schedule->place_count; ++k) {
    if (owns_block(p, k, space)) {
      schedule->places[k].offset = blocks[count++].offset;
    }
  }
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    schedule->steps[s].body_offset[space] = blocks[count++].offset;
  }
  return TENON_OK;
}

static tenon_status_t place_all_blocks(graph_planner_t* p) {
  const size_t most = (size_t)p->schedule->place_count + p->schedule->step_count;
  tenon__block_t* blocks = tenon__arena_allocate(p->arena, most, sizeof *blocks);
  TENON_TRY_MEMORY(blocks != NULL);
  for (uint32_t space = 0; space < p->plan->device_count; ++space) {
    TENON_TRY(place_blocks(p, space, blocks));
  }
  return TENON_OK;
}

/* Aliases lie where their owner lies; what no step writes takes nothing. */
static void resolve_places(graph_planner_t* p) {
  for (uint32_t k = 0; k < p->schedule->place_count; ++k) {
    tenon__place_t* place = &p->schedule->places[k];
    if (place->storage == TENON_STORAGE_ARENA && place->alias != TENON_NONE) {
      place->alias = owner_of(p, k);
      place->offset = p->schedule->places[place->alias].offset;
    } else if (place->storage == TENON_STORAGE_ARENA && !p->lives[k].is_written) {
      place->size_bytes = 0;
    }
  }
}

/* ---- The whole ---- */

static tenon_status_t plan_graph(graph_planner_t* p) {
  p->lives = tenon__arena_allocate(p->arena, p->schedule->place_count, sizeof *p->lives);
  TENON_TRY_MEMORY(p->lives != NULL);
  TENON_TRY(find_owners(p));
  TENON_TRY(tenon__schedule_classify(p->plan, p->graph, p->sink));
  tenon__schedule_bound(p->plan, p->graph, p->schedule);
  TENON_TRY(tenon__branches_find(p->plan, p->graph, p->arena));
  TENON_TRY(tenon__branches_overlaps(p->schedule, p->arena, &p->overlaps));
  for (uint32_t s = 0; s < p->schedule->step_count; ++s) {
    TENON_TRY(live_through_step(p, s));
  }
  live_to_the_end(p);
  TENON_TRY(find_sizes(p));
  take_over(p);
  TENON_TRY(place_all_blocks(p));
  resolve_places(p);
  return TENON_OK;
}

typedef struct plan_planner_t {
  tenon__plan_t* plan;
  const tenon_sink_t* sink;
  uint8_t* marks; /* one for each graph: 0 not yet, 1 being planned, 2 done */
} plan_planner_t;

static tenon_status_t plan_with_bodies(plan_planner_t* planner, uint32_t graph);

static tenon_status_t plan_bodies(plan_planner_t* planner, uint32_t graph) {
  tenon__schedule_t* schedule = &planner->plan->schedules[graph];
  tenon_status_t status = TENON_OK;
  for (uint32_t s = 0; s < schedule->step_count; ++s) {
    const uint32_t* bodies = NULL;
    const uint32_t count = bodies_of(planner->plan, graph, &schedule->steps[s], &bodies);
    for (uint32_t k = 0; k < count && status == TENON_OK; ++k) {
      status = plan_with_bodies(planner, bodies[k]);
    }
  }
  return status;
}

static tenon_status_t plan_with_bodies(plan_planner_t* planner, uint32_t graph) {
  if (graph >= planner->plan->schedule_count || planner->marks[graph] == 1) {
    return tenon__fail(planner->sink, TENON_ERROR_INTERNAL,
                       "graph %u is its own body, or is none of the plan's", graph);
  }
  if (planner->marks[graph] == 2) {
    return TENON_OK;
  }
  if (!tenon__graph_alive(planner->plan->network, graph)) { /* no body any more: never runs */
    planner->plan->schedules[graph] = (tenon__schedule_t){0};
    planner->marks[graph] = 2;
    return TENON_OK;
  }
  planner->marks[graph] = 1;
  TENON_TRY(plan_bodies(planner, graph));
  tenon__arena_t arena;
  tenon__arena_initialize(&arena, planner->plan->allocator);
  graph_planner_t p = {.plan = planner->plan,
                       .graph = graph,
                       .schedule = &planner->plan->schedules[graph],
                       .sink = planner->sink,
                       .arena = &arena};
  const tenon_status_t status = plan_graph(&p);
  tenon__arena_deinitialize(&arena);
  planner->marks[graph] = 2;
  return status;
}

static bool take_offset(uint64_t size_bytes, uint64_t* inout_total, uint64_t* out_offset) {
  *out_offset = *inout_total;
  if (size_bytes > UINT64_MAX / 4 || *inout_total > UINT64_MAX / 4) {
    return false;
  }
  *inout_total += (size_bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  return true;
}

tenon_status_t tenon__plan_workspaces(tenon__plan_t* plan, const tenon_sink_t* sink) {
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    plan->devices[d].zeroed_bytes = 0;
    plan->devices[d].persistent_bytes = 0;
  }
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t s = 0; s < plan->schedules[g].step_count; ++s) {
      tenon__step_t* step = &plan->schedules[g].steps[s];
      const tenon__step_tactic_t* tactic = &step->tactic;
      tenon__plan_device_t* device = &plan->devices[step->device];
      if (!take_offset(tactic->zeroed_bytes, &device->zeroed_bytes, &step->zeroed_offset) ||
          !take_offset(tactic->persistent_bytes, &device->persistent_bytes,
                       &step->persistent_offset)) {
        return tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY,
                           "step '%s' asks for more memory than can be counted", step->name);
      }
    }
  }
  for (uint32_t d = 0; d < plan->device_count; ++d) {
    if (!tenon__plan_scratch_bytes(plan, d, plan->thread_count, &plan->devices[d].scratch_bytes,
                                   NULL)) {
      return tenon__fail(sink, TENON_ERROR_OUT_OF_MEMORY,
                         "a step asks for more scratch than can be counted");
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__plan_memory(tenon__plan_t* plan, const tenon_sink_t* sink) {
  uint8_t* marks = tenon__allocate(plan->allocator, plan->schedule_count, 1);
  TENON_TRY_MEMORY(marks != NULL);
  plan_planner_t planner = {.plan = plan, .sink = sink, .marks = marks};
  tenon_status_t status = TENON_OK;
  for (uint32_t g = 0; g < plan->schedule_count && status == TENON_OK; ++g) {
    status = plan_with_bodies(&planner, g);
  }
  tenon__free(plan->allocator, marks, plan->schedule_count);
  return status == TENON_OK ? tenon__plan_workspaces(plan, sink) : status;
}
