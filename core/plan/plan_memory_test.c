/* Schedules made by hand: what matters here is who writes and reads what, not what is computed. */
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

#define MOST 64u

typedef struct scene_t {
  tenon__plan_t* plan;
  tenon__network_t* network;
  tenon__graph_t* graph;
  tenon__schedule_t* schedule;
  tenon__test_messages_t messages;
} scene_t;

static tenon_dim_t constant(const scene_t* s, int64_t value) {
  return tenon__dim_constant(s->network->pool, value);
}

static tenon_dim_t symbol(const scene_t* s, const char* name, tenon__symbol_kind_t kind,
                          int64_t max) {
  const tenon__symbol_t symbol = {
      .kind = kind, .name = name, .min = 1, .max = max, .bound = TENON_DIM_INVALID};
  return tenon__dim_symbol(s->network->pool, &symbol);
}

/* An empty main graph and a plan with one empty schedule for each of `graph_count` graphs. */
static bool start(scene_t* s, tenon_allocator_t allocator, uint32_t graph_count) {
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
    schedule->places = tenon__arena_allocate(&s->plan->arena, MOST, sizeof *schedule->places);
    schedule->steps = tenon__arena_allocate(&s->plan->arena, MOST, sizeof *schedule->steps);
    schedule->outputs = tenon__arena_allocate(&s->plan->arena, MOST, sizeof(uint32_t));
  }
  s->graph = s->network->graphs[0];
  s->schedule = s->plan->schedules;
  return true;
}

static void in_graph(scene_t* s, uint32_t graph) {
  s->graph = s->network->graphs[graph];
  s->schedule = &s->plan->schedules[graph];
}

static void stop(scene_t* s) {
  tenon__plan_destroy(s->plan);
}

/* A value f32[extent] with one place of its own. */
static uint32_t add_place(scene_t* s, tenon__storage_t storage, tenon_dim_t extent) {
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

static uint32_t add_arena(scene_t* s, int64_t extent) {
  return add_place(s, TENON_STORAGE_ARENA, constant(s, extent));
}

/* A view of all of `base`. */
static uint32_t add_view(scene_t* s, tenon__storage_t storage, uint32_t base, int64_t extent) {
  const uint32_t place = add_place(s, storage, constant(s, extent));
  tenon__index_map_t* map = tenon__arena_allocate(&s->plan->arena, 1, sizeof *map);
  map->kind = TENON_MAP_LINEAR;
  s->schedule->places[place].base = base;
  s->schedule->places[place].map = map;
  return place;
}

/* A kernel's step; places end with TENON_NONE. The first output may overwrite the first input. */
static tenon__step_t* add_step(scene_t* s, const uint32_t* inputs, const uint32_t* outputs) {
  tenon__arena_t* arena = &s->plan->arena;
  tenon__step_t* step = &s->schedule->steps[s->schedule->step_count++];
  struct tenon_region_t* region = tenon__arena_allocate(arena, 1, sizeof *region);
  tenon__region_input_t* ins = tenon__arena_allocate(arena, MOST, sizeof *ins);
  tenon__region_output_t* outs = tenon__arena_allocate(arena, MOST, sizeof *outs);
  tenon_argument_rule_t* rules = tenon__arena_allocate(arena, MOST, sizeof *rules);
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

static void add_output(scene_t* s, uint32_t place) {
  s->schedule->outputs[s->schedule->output_count++] = place;
}

/* Profile: every symbol of kind INPUT is 1, `optimum`, `max`. */
static tenon_status_t plan(scene_t* s, int64_t max) {
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

static const tenon__place_t* place_of(const scene_t* s, uint32_t place) {
  return &s->schedule->places[place];
}

TENON_TEST(a_chain_in_place_needs_one_block) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t x = add_place(&s, TENON_STORAGE_INPUT, constant(&s, 100));
  const uint32_t a = add_arena(&s, 100);
  const uint32_t b = add_arena(&s, 100);
  const uint32_t c = add_arena(&s, 100);
  (void)add_step(&s, PLACES(x), PLACES(a));
  (void)add_step(&s, PLACES(a), PLACES(b));
  (void)add_step(&s, PLACES(b), PLACES(c));
  add_output(&s, c);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(place_of(&s, a)->alias, TENON_NONE); /* inputs are not ours to overwrite */
  EXPECT_INT(place_of(&s, b)->alias, a);
  EXPECT_INT(place_of(&s, c)->alias, a); /* the owner, not another alias */
  EXPECT_INT(place_of(&s, a)->size_bytes, 400);
  EXPECT_INT(s.schedule->memory_bytes[0], 448);
  EXPECT_INT(s.schedule->alive_bytes[0], 448);
  stop(&s);
}

/* Each of these stops an output from taking over its input. */
typedef enum obstacle_t {
  OBSTACLE_NONE,
  OBSTACLE_READ_LATER,
  OBSTACLE_VIEW_READ_LATER,
  OBSTACLE_GRAPH_OUTPUT,
  OBSTACLE_SECOND_ARGUMENT,
  OBSTACLE_VIEW_AS_SECOND_ARGUMENT,
  OBSTACLE_OTHER_TYPE,
  OBSTACLE_OTHER_SIZE,
  OBSTACLE_OTHER_ORDER,
  OBSTACLE_HAS_PARTS,
  OBSTACLE_COUNT,
} obstacle_t;

static bool is_taken_over(obstacle_t obstacle) {
  scene_t s;
  if (!start(&s, tenon__allocator_default(), 1)) {
    return false;
  }
  static const uint32_t order[1] = {0};
  const uint32_t a = add_arena(&s, 100);
  const uint32_t b = add_arena(&s, obstacle == OBSTACLE_OTHER_SIZE ? 99 : 100);
  const uint32_t view = add_view(&s, TENON_STORAGE_VIEW, a, 100);
  const uint32_t last = add_arena(&s, 1);
  (void)add_step(&s, NOTHING, PLACES(a));
  if (obstacle == OBSTACLE_HAS_PARTS) {
    (void)add_step(&s, NOTHING, PLACES(add_view(&s, TENON_STORAGE_PART, b, 50)));
  }
  (void)(obstacle == OBSTACLE_SECOND_ARGUMENT           ? add_step(&s, PLACES(a, a), PLACES(b))
         : obstacle == OBSTACLE_VIEW_AS_SECOND_ARGUMENT ? add_step(&s, PLACES(a, view), PLACES(b))
                                                        : add_step(&s, PLACES(a), PLACES(b)));
  if (obstacle == OBSTACLE_READ_LATER) {
    (void)add_step(&s, PLACES(a, b), PLACES(last));
  } else if (obstacle == OBSTACLE_VIEW_READ_LATER) {
    (void)add_step(&s, PLACES(view, b), PLACES(last));
  } else if (obstacle == OBSTACLE_GRAPH_OUTPUT) {
    add_output(&s, a);
  } else if (obstacle == OBSTACLE_OTHER_TYPE) {
    s.graph->values[place_of(&s, b)->value].type.dtype = TENON_DTYPE_FLOAT16;
  } else if (obstacle == OBSTACLE_OTHER_ORDER) {
    /* The only order of one dimension: it must not stand in the way. */
    s.schedule->places[b].order = order;
  }
  add_output(&s, b);
  const bool planned = plan(&s, 1) == TENON_OK;
  const bool taken = place_of(&s, b)->alias == a;
  const bool apart = place_of(&s, b)->offset != place_of(&s, a)->offset;
  stop(&s);
  return planned && (taken || !apart);
}

TENON_TEST(memory_is_taken_over_only_from_what_dies) {
  for (int k = 0; k < OBSTACLE_COUNT; ++k) {
    const bool expected = k == OBSTACLE_NONE || k == OBSTACLE_OTHER_ORDER;
    if (is_taken_over((obstacle_t)k) != expected) {
      tenon__test_fail(__FILE__, __LINE__, "obstacle %d", k);
    }
  }
}

TENON_TEST(other_values_with_the_same_bits_are_taken_over) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 100);
  const uint32_t b = add_arena(&s, 100);
  s.graph->values[place_of(&s, b)->value].type.dtype = TENON_DTYPE_INT32;
  (void)add_step(&s, NOTHING, PLACES(a));
  (void)add_step(&s, PLACES(a), PLACES(b));
  add_output(&s, b);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(place_of(&s, b)->alias, a);
  stop(&s);
}

/* An expression's argument must run along the output's axes, all of them, one to one. */
TENON_TEST(only_identity_accesses_are_taken_over) {
  for (int transposed = 0; transposed < 2; ++transposed) {
    scene_t s;
    REQUIRE(start(&s, tenon__allocator_default(), 1));
    const uint32_t a = add_arena(&s, 8);
    const uint32_t b = add_arena(&s, 8);
    tenon_dim_t dims[2] = {constant(&s, 8), constant(&s, 8)};
    s.graph->values[0].type.rank = s.graph->values[1].type.rank = 2;
    s.graph->values[0].type.dims = s.graph->values[1].type.dims = dims;
    (void)add_step(&s, NOTHING, PLACES(a));
    tenon__step_t* step = add_step(&s, PLACES(a), PLACES(b));
    const tenon_dim_t coordinates[2] = {
        tenon__dim_coordinate(s.network->pool, transposed != 0 ? 1 : 0, dims[0]),
        tenon__dim_coordinate(s.network->pool, transposed != 0 ? 0 : 1, dims[1])};
    const uint32_t axes[2] = {0, 1};
    const tenon__expression_t expression = {.program = {.rank = 2}, .space = dims};
    const tenon__region_input_t input = {.value = 0,
                                         .aligned = true,
                                         .space = TENON_SPACE_PROGRAM,
                                         .access = {.rank = 2, .coordinates = coordinates}};
    const tenon__region_output_t output = {
        .value = 1, .aligned = true, .axis_count = 2, .axes = axes};
    const struct tenon_region_t region = {.network = s.network,
                                          .kind = TENON_REGION_EXPRESSION,
                                          .input_count = 1,
                                          .inputs = &input,
                                          .output_count = 1,
                                          .outputs = &output,
                                          .expression = &expression};
    step->region = &region;
    add_output(&s, b);
    EXPECT_STATUS(plan(&s, 1), TENON_OK);
    EXPECT_INT(place_of(&s, b)->alias == a, transposed == 0);
    stop(&s);
  }
}

TENON_TEST(views_keep_their_base_alive) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 100);
  const uint32_t view = add_view(&s, TENON_STORAGE_VIEW, a, 100);
  const uint32_t view_of_view = add_view(&s, TENON_STORAGE_VIEW, view, 100);
  const uint32_t b = add_arena(&s, 300);
  const uint32_t c = add_arena(&s, 200);
  (void)add_step(&s, NOTHING, PLACES(a));
  (void)add_step(&s, NOTHING, PLACES(b));
  (void)add_step(&s, PLACES(view_of_view), PLACES(c));
  add_output(&s, c);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT(place_of(&s, a)->offset >= place_of(&s, b)->offset + 1200 ||
         place_of(&s, b)->offset >= place_of(&s, a)->offset + 400);
  EXPECT_INT(s.schedule->memory_bytes[0], 448 + 1216);
  stop(&s);
}

TENON_TEST(parts_are_written_into_one_block) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t whole = add_arena(&s, 200);
  const uint32_t left = add_view(&s, TENON_STORAGE_PART, whole, 100);
  const uint32_t right = add_view(&s, TENON_STORAGE_PART, whole, 100);
  const uint32_t between = add_arena(&s, 50);
  const uint32_t result = add_arena(&s, 10);
  (void)add_step(&s, NOTHING, PLACES(left));
  (void)add_step(&s, NOTHING, PLACES(between));
  (void)add_step(&s, PLACES(between), PLACES(right));
  (void)add_step(&s, PLACES(whole), PLACES(result));
  add_output(&s, result);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  /* The whole lives from its first part on. */
  EXPECT_INT(s.schedule->alive_bytes[0], 832 + 256);
  stop(&s);
}

TENON_TEST(outputs_and_states_live_to_the_end) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t out = add_arena(&s, 100);
  const uint32_t state = add_arena(&s, 100);
  const uint32_t later = add_arena(&s, 100);
  const uint32_t own = add_place(&s, TENON_STORAGE_OUTPUT, constant(&s, 1000));
  (void)add_step(&s, NOTHING, PLACES(out));
  (void)add_step(&s, NOTHING, PLACES(state));
  (void)add_step(&s, NOTHING, PLACES(later));
  (void)add_step(&s, PLACES(later), PLACES(own));
  add_output(&s, out);
  add_output(&s, own);
  tenon__state_node_t states[1] = {
      {.name = "s", .initial = TENON_NONE, .update = place_of(&s, state)->value}};
  s.network->states = states;
  s.network->state_count = 1;
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(s.schedule->memory_bytes[0], 3 * 448);
  EXPECT_INT(place_of(&s, own)->size_bytes, 4000); /* a size, but no block */
  s.network->states = NULL;
  s.network->state_count = 0;
  stop(&s);
}

TENON_TEST(what_only_the_run_knows_grows) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const tenon_dim_t batch = symbol(&s, "batch", TENON_SYMBOL_INPUT, INT64_MAX);
  const tenon_dim_t found = symbol(&s, "found", TENON_SYMBOL_EXTENT, 10);
  const uint32_t a = add_place(&s, TENON_STORAGE_ARENA, batch);
  const uint32_t b = add_place(&s, TENON_STORAGE_ARENA, found); /* bounded, and still */
  const uint32_t view = add_view(&s, TENON_STORAGE_VIEW, b, 10);
  const uint32_t text = add_arena(&s, 3);
  const uint32_t list = add_arena(&s, 3);
  const uint32_t out = add_place(&s, TENON_STORAGE_OUTPUT, found);
  s.graph->values[place_of(&s, text)->value].type.dtype = TENON_DTYPE_STRING;
  s.graph->values[place_of(&s, list)->value].type.kind = TENON_ARGUMENT_SEQUENCE;
  const tenon__step_t* first = add_step(&s, NOTHING, PLACES(a));
  const tenon__step_t* second = add_step(&s, PLACES(a), PLACES(b));
  const tenon__step_t* third = add_step(&s, PLACES(view), PLACES(text, list, out));
  EXPECT_STATUS(plan(&s, 16), TENON_OK);
  EXPECT_INT(place_of(&s, a)->storage, TENON_STORAGE_ARENA);
  EXPECT_INT(place_of(&s, a)->size_bytes, 64);
  EXPECT(!place_of(&s, a)->is_dynamic && !first->is_dynamic);
  EXPECT_INT(place_of(&s, b)->storage, TENON_STORAGE_GROWING);
  EXPECT(place_of(&s, b)->is_dynamic && second->is_dynamic);
  EXPECT(place_of(&s, view)->is_dynamic && third->is_dynamic);
  EXPECT_INT(place_of(&s, text)->storage, TENON_STORAGE_GROWING);
  EXPECT_INT(place_of(&s, list)->storage, TENON_STORAGE_GROWING);
  EXPECT_INT(place_of(&s, out)->storage, TENON_STORAGE_GROWING);
  EXPECT_INT(s.schedule->memory_bytes[0], 64);
  stop(&s);
}

/* Extents that shrink while the batch grows are largest at its minimum. */
TENON_TEST(the_largest_point_of_the_profile_counts) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  tenon__dim_pool_t* pool = s.network->pool;
  const tenon_dim_t batch = symbol(&s, "batch", TENON_SYMBOL_INPUT, INT64_MAX);
  const tenon_dim_t rest =
      tenon__dim_add(pool, constant(&s, 100), tenon__dim_multiply(pool, constant(&s, -1), batch));
  const uint32_t a = add_place(&s, TENON_STORAGE_ARENA, rest);
  (void)add_step(&s, NOTHING, PLACES(a));
  EXPECT_STATUS(plan(&s, 50), TENON_OK);
  EXPECT_INT(place_of(&s, a)->size_bytes, 99 * 4);
  EXPECT_STATUS(plan(&s, 101), TENON_ERROR_OUT_OF_MEMORY); /* -1 at the maximum */
  stop(&s);
}

TENON_TEST(bodies_are_blocks_of_their_step) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 3));
  for (uint32_t body = 1; body < 3; ++body) {
    in_graph(&s, body);
    const uint32_t p = add_place(&s, TENON_STORAGE_PARAMETER, constant(&s, 10));
    const uint32_t t = add_arena(&s, 100 * (int64_t)body);
    const uint32_t r = add_arena(&s, 10);
    (void)add_step(&s, PLACES(p), PLACES(t));
    (void)add_step(&s, PLACES(t), PLACES(r));
    add_output(&s, r);
  }
  in_graph(&s, 0);
  const uint32_t bodies[2] = {1, 2};
  tenon__node_t nodes[1] = {{.name = "if", .alive = true, .body_count = 2, .bodies = bodies}};
  s.graph->nodes = nodes;
  s.graph->node_count = 1;
  s.network->graphs[1]->owner = 0;
  s.network->graphs[2]->owner = 0;
  const uint32_t a = add_arena(&s, 10);
  const uint32_t b = add_arena(&s, 10);
  const uint32_t c = add_arena(&s, 500);
  (void)add_step(&s, NOTHING, PLACES(a));
  tenon__step_t* step = add_step(&s, PLACES(a), PLACES(b));
  step->kind = TENON_STEP_CHOOSE;
  step->node = 0;
  (void)add_step(&s, PLACES(b), PLACES(c));
  add_output(&s, c);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(s.plan->schedules[1].memory_bytes[0], 448 + 64);
  EXPECT_INT(s.plan->schedules[2].memory_bytes[0], 832 + 64);
  EXPECT_INT(step->body_offset[0] % 64, 0);
  /* The larger body is alive with a and b, and not with c. */
  EXPECT_INT(s.schedule->memory_bytes[0], 64 + 2048);
  EXPECT(step->body_offset[0] + 896 <= s.schedule->memory_bytes[0]);
  EXPECT_INT(s.schedule->alive_bytes[0], 64 + 2048);
  s.graph->nodes = NULL;
  s.graph->node_count = 0;
  stop(&s);
}

TENON_TEST(workspaces_follow_one_another) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 10);
  tenon__step_t* first = add_step(&s, NOTHING, PLACES(a));
  tenon__step_t* second = add_step(&s, PLACES(a), PLACES(add_arena(&s, 10)));
  first->tactic.scratch_bytes = 1000;
  first->tactic.zeroed_bytes = 10;
  first->tactic.persistent_bytes = 65;
  second->tactic.scratch_bytes = 500;
  second->tactic.scratch_bytes_per_thread = 200;
  second->tactic.zeroed_bytes = 20;
  second->tactic.persistent_bytes = 1;
  s.plan->thread_count = 3;
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(s.plan->devices[0].scratch_bytes, 1100);
  uint64_t bytes = 0;
  EXPECT(tenon__plan_scratch_bytes(s.plan, 0, 1, &bytes));
  EXPECT_INT(bytes, 1000);
  EXPECT(tenon__plan_scratch_bytes(s.plan, 0, 8, &bytes));
  EXPECT_INT(bytes, 2100);
  EXPECT_INT(first->zeroed_offset, 0);
  EXPECT_INT(second->zeroed_offset, 64);
  EXPECT_INT(s.plan->devices[0].zeroed_bytes, 128);
  EXPECT_INT(second->persistent_offset, 128);
  EXPECT_INT(s.plan->devices[0].persistent_bytes, 192);
  first->tactic.zeroed_bytes = UINT64_MAX;
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_OUT_OF_MEMORY);
  stop(&s);
}

TENON_TEST(refuses_what_is_read_before_it_is_written) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 10);
  const uint32_t b = add_arena(&s, 10);
  (void)add_step(&s, PLACES(a), PLACES(b));
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_INTERNAL);
  EXPECT_CONTAINS(s.messages.text, "reads 'v' before");
  stop(&s);
}

TENON_TEST(refuses_views_of_themselves) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_view(&s, TENON_STORAGE_VIEW, 1, 10);
  (void)add_view(&s, TENON_STORAGE_VIEW, a, 10);
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_INTERNAL);
  stop(&s);
}

TENON_TEST(refuses_parts_of_what_grows) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t whole =
      add_place(&s, TENON_STORAGE_ARENA, symbol(&s, "n", TENON_SYMBOL_EXTENT, INT64_MAX));
  (void)add_step(&s, NOTHING, PLACES(add_view(&s, TENON_STORAGE_PART, whole, 4)));
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_INTERNAL);
  stop(&s);
}

TENON_TEST(every_failing_allocation_of_planning_is_reported) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 10);
  const uint32_t b = add_arena(&s, 10);
  (void)add_step(&s, NOTHING, PLACES(a));
  (void)add_step(&s, PLACES(a), PLACES(b));
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  const tenon_allocator_t own = s.plan->allocator;
  for (uint64_t fail_at = 1; fail_at < 100; ++fail_at) {
    tenon__test_allocator_t state = {.fail_at = fail_at};
    s.plan->allocator = tenon__test_allocator(&state);
    const tenon_status_t status = tenon__plan_memory(s.plan, tenon__test_listen(&s.messages));
    EXPECT_INT(state.live_bytes, 0);
    if (state.allocation_count < fail_at) {
      EXPECT_STATUS(status, TENON_OK);
      break;
    }
    EXPECT_STATUS(status, TENON_ERROR_OUT_OF_MEMORY);
  }
  s.plan->allocator = own;
  stop(&s);
}
