/*
 * Schedules made by hand, for the tests of this module. They test writers and readers of memory,
 * not results.
 */
#ifndef TENON_CORE_PLAN_TEST_SCENE_H_
#define TENON_CORE_PLAN_TEST_SCENE_H_

#include "core/plan/plan_memory.h"

#include "core/base/allocator.h"
#include "core/base/arena.h"
#include "core/base/status.h"
#include "core/base/test.h"
#include "core/dimension/dimension.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/dimension/extents.h"
#include "core/network/network.h"
#include "core/plan/plan.h"

enum { SCENE_MOST = 64 };

typedef struct scene_t {
  tenon__plan_t* plan;
  tenon__network_t* network;
  tenon__graph_t* graph;
  tenon__schedule_t* schedule;
  tenon__test_messages_t messages;
} scene_t;

static inline tenon_dim_t constant(const scene_t* s, int64_t value) {
  return tenon__dim_constant(s->network->pool, value);
}

static inline tenon_dim_t symbol(const scene_t* s, const char* name, tenon__symbol_kind_t kind,
                                 int64_t max) {
  const tenon__symbol_t symbol = {
      .kind = kind, .name = name, .min = 1, .max = max, .bound = TENON_DIM_INVALID};
  return tenon__dim_symbol(s->network->pool, &symbol);
}

/* An empty main graph and a plan with one empty schedule for each of `graph_count` graphs. */
static inline bool start(scene_t* s, tenon_allocator_t allocator, uint32_t graph_count) {
  memset(s, 0, sizeof *s);
  if (tenon__plan_create(allocator, &s->plan) != TENON_OK ||
      tenon__network_create(allocator, &s->plan->network) != TENON_OK) {
    tenon__plan_destroy(s->plan);
    return false;
  }
  s->network = s->plan->network;
  for (uint32_t g = 1; g < graph_count; ++g) {
    uint32_t graph = 0;
    if (tenon__network_add_graph(s->network, "body", 0, &graph) != TENON_OK) {
      tenon__plan_destroy(s->plan);
      return false;
    }
  }
  s->plan->schedule_count = graph_count;
  s->plan->schedules =
      tenon__arena_allocate(&s->plan->arena, graph_count, sizeof *s->plan->schedules);
  for (uint32_t g = 0; s->plan->schedules != NULL && g < graph_count; ++g) {
    tenon__schedule_t* schedule = &s->plan->schedules[g];
    schedule->places = tenon__arena_allocate(&s->plan->arena, SCENE_MOST, sizeof *schedule->places);
    schedule->steps = tenon__arena_allocate(&s->plan->arena, SCENE_MOST, sizeof *schedule->steps);
    schedule->outputs = tenon__arena_allocate(&s->plan->arena, SCENE_MOST, sizeof(uint32_t));
  }
  s->graph = s->network->graphs[0];
  s->schedule = s->plan->schedules;
  return true;
}

static inline void in_graph(scene_t* s, uint32_t graph) {
  s->graph = s->network->graphs[graph];
  s->schedule = &s->plan->schedules[graph];
}

static inline void stop(scene_t* s) {
  tenon__plan_destroy(s->plan);
}

/* A value f32[extent] with one place of its own. */
static inline uint32_t add_place(scene_t* s, tenon__storage_t storage, tenon_dim_t extent) {
  uint32_t value = 0;
  const uint32_t graph = (uint32_t)(s->schedule - s->plan->schedules);
  tenon_dim_t* dims = tenon__arena_allocate(&s->plan->arena, 1, sizeof *dims);
  if (dims == NULL || tenon__graph_add_value(s->network, graph, "v", &value) != TENON_OK) {
    return 0;
  }
  dims[0] = extent;
  s->graph->values[value].type.dtype = TENON_DTYPE_FLOAT32;
  s->graph->values[value].type.rank = 1;
  s->graph->values[value].type.dims = dims;
  s->schedule->places[s->schedule->place_count] =
      (tenon__place_t){.value = value, .storage = storage, .alias = TENON_NONE};
  return s->schedule->place_count++;
}

static inline uint32_t add_arena(scene_t* s, int64_t extent) {
  return add_place(s, TENON_STORAGE_ARENA, constant(s, extent));
}

/* A view of all of `base`. */
static inline uint32_t add_view(scene_t* s, tenon__storage_t storage, uint32_t base,
                                int64_t extent) {
  const uint32_t place = add_place(s, storage, constant(s, extent));
  tenon__index_map_t* map = tenon__arena_allocate(&s->plan->arena, 1, sizeof *map);
  map->kind = TENON_MAP_LINEAR;
  s->schedule->places[place].base = base;
  s->schedule->places[place].map = map;
  return place;
}

/* A kernel's step; places end with TENON_NONE. The first output may overwrite the first input. */
static inline tenon__step_t* add_step(scene_t* s, const uint32_t* inputs, const uint32_t* outputs) {
  tenon__arena_t* arena = &s->plan->arena;
  tenon__step_t* step = &s->schedule->steps[s->schedule->step_count++];
  struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
  tenon__region_input_t* ins = tenon__arena_allocate(arena, SCENE_MOST, sizeof *ins);
  tenon__region_output_t* outs = tenon__arena_allocate(arena, SCENE_MOST, sizeof *outs);
  tenon_argument_rule_t* rules = tenon__arena_allocate(arena, SCENE_MOST, sizeof *rules);
  *step = (tenon__step_t){.kind = TENON_STEP_KERNEL, .name = "step", .region = region};
  for (; inputs[step->input_count] != TENON_NONE; ++step->input_count) {
    ins[step->input_count].value = s->schedule->places[inputs[step->input_count]].value;
  }
  for (; outputs[step->output_count] != TENON_NONE; ++step->output_count) {
    outs[step->output_count].value = s->schedule->places[outputs[step->output_count]].value;
  }
  step->inputs = tenon__arena_copy(arena, inputs, step->input_count * sizeof *inputs);
  step->outputs = tenon__arena_copy(arena, outputs, step->output_count * sizeof *outputs);
  rules[0].in_place = 1;
  step->tactic.output_rules = rules;
  *region = (struct tenon_region_t){.network = s->network,
                                    .kind = TENON_REGION_OPERATOR,
                                    .input_count = step->input_count,
                                    .inputs = ins,
                                    .output_count = step->output_count,
                                    .outputs = outs};
  return step;
}

#define PLACES(...) ((const uint32_t[]){__VA_ARGS__, TENON_NONE})
#define NOTHING ((const uint32_t[]){TENON_NONE})

static inline void add_output(scene_t* s, uint32_t place) {
  s->schedule->outputs[s->schedule->output_count++] = place;
}

/* Profile: every symbol of kind INPUT is 1, `optimum`, `max`. */
static inline tenon_status_t plan(scene_t* s, int64_t max) {
  tenon__profile_t* profile = &s->plan->profile;
  tenon__extents_t* points[3] = {&profile->min, &profile->optimum, &profile->max};
  const int64_t values[3] = {1, (max + 1) / 2, max};
  for (int k = 0; k < 3; ++k) {
    TENON_TRY(tenon__extents_create(&s->plan->arena, s->network->pool, points[k]));
    for (uint32_t i = 0; i < tenon__symbol_count(s->network->pool); ++i) {
      const tenon__symbol_t* found = tenon__symbol_get(s->network->pool, i);
      if (found->kind == TENON_SYMBOL_INPUT || (k == 2 && found->max < INT64_MAX)) {
        tenon__extents_set(points[k], i, values[k]);
      }
    }
    tenon__extents_update(points[k]);
  }
  return tenon__plan_memory(s->plan, tenon__test_listen(&s->messages));
}

static inline const tenon__place_t* place_of(const scene_t* s, uint32_t place) {
  return &s->schedule->places[place];
}

#endif
