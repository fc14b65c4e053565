/* For tests: a plan for the sample network. It cannot run, because its kernels do not exist. */
#ifndef TENON_CORE_PLAN_FILE_SAMPLE_PLAN_H_
#define TENON_CORE_PLAN_FILE_SAMPLE_PLAN_H_

#include "core/plan/plan_memory.h"
#include "core/plan_file/sample_network.h"

enum { SAMPLE_MOST_PLACES = 32, SAMPLE_MOST_STEPS = 16 };

static inline uint32_t sample_add_place(sample_t* s, uint32_t value, tenon__storage_t storage,
                                        uint32_t index) {
  tenon__schedule_t* schedule = &s->plan->schedules[s->graph];
  if (s->failed || schedule->place_count == SAMPLE_MOST_PLACES) {
    s->failed = true;
    return 0;
  }
  schedule->places[schedule->place_count] =
      (tenon__place_t){.value = value, .storage = storage, .index = index, .alias = TENON_NONE};
  return schedule->place_count++;
}

static inline uint32_t sample_add_view(sample_t* s, uint32_t value, tenon__storage_t storage,
                                       uint32_t base, const tenon__index_map_t* map,
                                       uint32_t index) {
  const uint32_t place = sample_add_place(s, value, storage, index);
  if (!s->failed) {
    s->plan->schedules[s->graph].places[place].base = base;
    s->plan->schedules[s->graph].places[place].map = map;
  }
  return place;
}

static inline tenon__step_t* sample_add_step(sample_t* s, tenon__step_kind_t kind, const char* name,
                                             const uint32_t* inputs, uint32_t input_count,
                                             uint32_t output) {
  static tenon__step_t nowhere;
  tenon__schedule_t* schedule = &s->plan->schedules[s->graph];
  if (s->failed || schedule->step_count == SAMPLE_MOST_STEPS) {
    s->failed = true;
    return &nowhere;
  }
  tenon__step_t* step = &schedule->steps[schedule->step_count++];
  *step = (tenon__step_t){.kind = kind,
                          .name = name,
                          .node = TENON_NONE,
                          .input_count = input_count,
                          .inputs = sample_copy(s, inputs, input_count * sizeof *inputs),
                          .output_count = 1,
                          .outputs = sample_copy(s, &output, sizeof output)};
  return step;
}

static inline tenon__step_t* sample_add_kernel(sample_t* s, const char* name,
                                               const struct tenon_region_t* region,
                                               const uint32_t* inputs, uint32_t output) {
  static const char configuration[5] = {1, 2, 3, 4, 5};
  tenon__step_t* step =
      sample_add_step(s, TENON_STEP_KERNEL, name, inputs, region->input_count, output);
  step->plugin = "test";
  step->kernel = "plain";
  step->kernel_version = 3;
  step->validity = "library 7";
  step->measured_seconds = 0.25;
  step->region = sample_copy(s, region, sizeof *region);
  step->tactic = (tenon__step_tactic_t){.name = "tile 4",
                                        .configuration = configuration,
                                        .configuration_size = sizeof configuration,
                                        .scratch_bytes = 100,
                                        .scratch_bytes_per_thread = 40,
                                        .zeroed_bytes = 10,
                                        .persistent_bytes = 20,
                                        .launches = 1};
  return step;
}

#define SAMPLE_ARENA(s) (&(s)->plan->arena)

static inline struct tenon_region_t sample_node_region(sample_t* s, uint32_t node) {
  struct tenon_region_t region = {0};
  if (!s->failed) {
    sample_try(s, tenon__region_of_node(SAMPLE_ARENA(s), s->network, s->graph, node, &region));
  }
  return region;
}

static inline struct tenon_region_t sample_expression_region(sample_t* s, uint32_t node) {
  struct tenon_region_t region = {0};
  if (s->failed) {
    return region;
  }
  const tenon__node_t* n = &s->network->graphs[s->graph]->nodes[node];
  tenon__expression_t own = *n->expression;
  tenon_operand_t* operands =
      sample_copy(s, own.program.operands, own.program.operand_count * sizeof *operands);
  for (uint32_t k = 0; !s->failed && k < own.program.operand_count; ++k) {
    operands[k].index = n->inputs[operands[k].index];
  }
  own.program.operands = operands;
  if (!s->failed) {
    const tenon__graph_expression_t source = {
        .expression = &own, .values = n->outputs, .covered = &node, .covered_count = 1};
    sample_try(
        s, tenon__region_of_expression(SAMPLE_ARENA(s), s->network, s->graph, &source, &region));
  }
  return region;
}

static inline void sample_schedule_body(sample_t* s, uint32_t graph, bool doubles) {
  s->graph = graph;
  const tenon__graph_t* g = s->network->graphs[graph];
  tenon__schedule_t* schedule = &s->plan->schedules[graph];
  const uint32_t parameter = sample_add_place(s, g->inputs[0], TENON_STORAGE_PARAMETER, 0);
  const uint32_t result = sample_add_place(s, g->outputs[0], TENON_STORAGE_ARENA, 0);
  const struct tenon_region_t region =
      doubles ? sample_expression_region(s, 0) : sample_node_region(s, 0);
  const uint32_t inputs[2] = {parameter, parameter};
  (void)sample_add_kernel(s, "body", &region, inputs, result);
  schedule->input_count = 1;
  schedule->inputs[0] = parameter;
  schedule->output_count = 1;
  schedule->outputs[0] = result;
  s->graph = 0;
}

/* The operator with the following sum in its slot 0. */
static inline struct tenon_region_t sample_fused_region(sample_t* s, const sample_nodes_t* n) {
  struct tenon_region_t region = sample_node_region(s, n->twist);
  const tenon_dim_t dims[2] = {s->batch, s->four};
  const tenon__expression_t* sum = sample_sum(s, dims, 2, false, TENON_OPERAND_SLOT_VALUE);
  if (s->failed) {
    return region;
  }
  tenon__expression_t own = *sum;
  tenon_operand_t* operands = sample_copy(s, own.program.operands, 2 * sizeof *operands);
  const uint32_t covered[2] = {n->twist, n->scale};
  if (!s->failed) {
    operands[1].index = n->x;
    own.program.operands = operands;
    const tenon__slot_filling_t filling = {
        .kind = TENON_SLOT_EPILOGUE, .expression = &own, .value = sample_output(s, n->scale)};
    sample_try(s, tenon__region_fill_slot(SAMPLE_ARENA(s), &region, &filling));
    region.covered = sample_copy(s, covered, sizeof covered);
    region.covered_count = 2;
  }
  return region;
}

typedef struct sample_places_t {
  uint32_t x, condition, w, r, a, d, rows, turned, joined, left, right;
  uint32_t ends[4];
  uint32_t update;
} sample_places_t;

static inline void sample_make_places(sample_t* s, const sample_nodes_t* n, sample_places_t* p) {
  static const uint32_t turned_order[2] = {1, 0};
  const tenon__graph_t* g = s->network->graphs[0];
  p->x = sample_add_place(s, n->x, TENON_STORAGE_INPUT, 0);
  p->condition = sample_add_place(s, n->condition, TENON_STORAGE_INPUT, 1);
  p->w = sample_add_place(s, n->w, TENON_STORAGE_WEIGHTS, 0);
  (void)sample_add_place(s, n->labels, TENON_STORAGE_WEIGHTS, 1);
  p->r = sample_add_place(s, n->r, TENON_STORAGE_STATE, 0);
  p->a = sample_add_place(s, sample_output(s, n->sum), TENON_STORAGE_ARENA, 0);
  p->d = sample_add_place(s, sample_output(s, n->scale), TENON_STORAGE_ARENA, 0);
  p->rows = sample_add_place(s, sample_output(s, n->scale), TENON_STORAGE_ARENA, 0);
  p->joined = sample_add_place(s, sample_output(s, n->join), TENON_STORAGE_ARENA, 0);
  if (s->failed) {
    return;
  }
  s->plan->schedules[0].places[p->d].order = turned_order;
  p->turned = sample_add_view(s, sample_output(s, n->turn), TENON_STORAGE_VIEW, p->rows,
                              g->nodes[n->turn].maps, 0);
  p->left = sample_add_view(s, sample_output(s, n->left), TENON_STORAGE_PART, p->joined,
                            g->nodes[n->join].maps, 0);
  p->right = sample_add_view(s, sample_output(s, n->right), TENON_STORAGE_PART, p->joined,
                             g->nodes[n->join].maps, 1);
  const uint32_t ends[4] = {n->last, n->choose, n->dims_of, n->found};
  for (uint32_t k = 0; k < 4; ++k) {
    p->ends[k] = sample_add_place(s, sample_output(s, ends[k]), TENON_STORAGE_OUTPUT, k);
  }
  p->update = sample_add_place(s, sample_output(s, n->update), TENON_STORAGE_ARENA, 0);
}

/* Rules for a kernel that writes its output with reversed dimensions. */
static inline void sample_ask_for_order(sample_t* s, tenon__step_t* step) {
  static const uint32_t turned_order[2] = {1, 0};
  static const tenon_layout_t layout = {
      .size = sizeof(tenon_layout_t), .name = "columns", .order = turned_order, .rank = 2};
  const tenon_argument_rule_t exact = {.kind = TENON_LAYOUT_EXACT, .layout = &layout};
  const tenon_argument_rule_t any[2] = {
      {.kind = TENON_LAYOUT_ROW_MAJOR, .flags = TENON_RULE_STRIDED},
      {.kind = TENON_LAYOUT_FOLLOWS, .argument = 0}};
  step->tactic.output_rules = sample_copy(s, &exact, sizeof exact);
  step->tactic.input_rules = sample_copy(s, any, sizeof any);
  step->tactic.numerics =
      (tenon_numerics_t){.accumulator_dtype = TENON_DTYPE_FLOAT32, .error_bound = 2.0};
  step->refusals = "other:kernel: was slower\n";
}

static inline void sample_make_steps(sample_t* s, const sample_nodes_t* n,
                                     const sample_places_t* p) {
  struct tenon_region_t region = sample_expression_region(s, n->sum);
  (void)sample_add_kernel(s, "sum", &region, (const uint32_t[]){p->x, p->w}, p->a);
  region = sample_fused_region(s, n);
  sample_ask_for_order(
      s, sample_add_kernel(s, "twist", &region, (const uint32_t[]){p->a, p->x}, p->d));
  if (!s->failed) {
    sample_try(s, tenon__region_of_copy(SAMPLE_ARENA(s), s->network, 0, sample_output(s, n->scale),
                                        &region));
  }
  (void)sample_add_kernel(s, "d (copy)", &region, &p->d, p->rows);
  region = sample_node_region(s, n->left);
  (void)sample_add_kernel(s, "left", &region, &p->a, p->left);
  region = sample_node_region(s, n->right);
  (void)sample_add_kernel(s, "right", &region, &p->rows, p->right);
  region = sample_node_region(s, n->last);
  (void)sample_add_kernel(s, "last", &region, &p->joined, p->ends[0]);
  sample_add_step(s, TENON_STEP_CHOOSE, "choose", (const uint32_t[]){p->condition, p->turned}, 2,
                  p->ends[1])
      ->node = n->choose;
  sample_add_step(s, TENON_STEP_CONTENTS, "dims_of", NULL, 0, p->ends[2])->node = n->dims_of;
  region = sample_node_region(s, n->found);
  (void)sample_add_kernel(s, "found", &region, &p->ends[1], p->ends[3]);
  region = sample_expression_region(s, n->update);
  (void)sample_add_kernel(s, "update", &region, &p->r, p->update);
}

static inline void sample_make_profile(sample_t* s) {
  tenon__profile_t* profile = &s->plan->profile;
  tenon__extents_t* points[3] = {&profile->min, &profile->optimum, &profile->max};
  const uint32_t symbol = tenon__dim_get(s->network->pool, s->batch).index;
  for (uint32_t k = 0; k < 3 && !s->failed; ++k) {
    sample_try(s, tenon__extents_create(SAMPLE_ARENA(s), s->network->pool, points[k]));
    if (!s->failed) {
      tenon__extents_set(points[k], symbol, 1 + (int64_t)k);
      tenon__extents_update(points[k]);
    }
  }
}

static inline void sample_make_schedules(sample_t* s, const sample_nodes_t* n) {
  tenon__plan_t* plan = s->plan;
  plan->schedule_count = s->network->graph_count;
  plan->schedules =
      tenon__arena_allocate(SAMPLE_ARENA(s), plan->schedule_count, sizeof *plan->schedules);
  for (uint32_t g = 0; plan->schedules != NULL && g < plan->schedule_count; ++g) {
    tenon__schedule_t* schedule = &plan->schedules[g];
    schedule->places =
        tenon__arena_allocate(SAMPLE_ARENA(s), SAMPLE_MOST_PLACES, sizeof *schedule->places);
    schedule->steps =
        tenon__arena_allocate(SAMPLE_ARENA(s), SAMPLE_MOST_STEPS, sizeof *schedule->steps);
    schedule->inputs = tenon__arena_allocate(SAMPLE_ARENA(s), 8, sizeof(uint32_t));
    schedule->outputs = tenon__arena_allocate(SAMPLE_ARENA(s), 8, sizeof(uint32_t));
    s->failed = s->failed || schedule->places == NULL || schedule->steps == NULL ||
                schedule->inputs == NULL || schedule->outputs == NULL;
  }
  s->failed = s->failed || plan->schedules == NULL;
  if (s->failed) {
    return;
  }
  sample_places_t p = {0};
  sample_make_places(s, n, &p);
  sample_make_steps(s, n, &p);
  plan->schedules[0].input_count = 2;
  plan->schedules[0].inputs[0] = p.x;
  plan->schedules[0].inputs[1] = p.condition;
  plan->schedules[0].output_count = 4;
  memcpy(plan->schedules[0].outputs, p.ends, sizeof p.ends);
  sample_schedule_body(s, n->bodies[0], true);
  sample_schedule_body(s, n->bodies[1], false);
}

static inline void sample_describe(sample_t* s) {
  static const float packed_data[32] = {5, 6, 7};
  const tenon__packed_t packed[2] = {
      {.key = {{1}}, .format = "panel/1", .data = packed_data, .size_bytes = sizeof packed_data},
      {.key = {{2}}, .format = "blob", .data = packed_data, .size_bytes = 3}};
  const tenon__plan_plugin_t plugins[2] = {{.name = "test", .version = "1.0", .digest = {{9}}},
                                           {.name = "other", .version = "0.1"}};
  tenon__plan_t* plan = s->plan;
  plan->packed = sample_copy(s, packed, sizeof packed);
  plan->packed_count = 2;
  plan->plugins = sample_copy(s, plugins, sizeof plugins);
  plan->plugin_count = 2;
  plan->devices[0].name = "machine";
  plan->devices[0].fingerprint = "a machine";
  plan->patches = "fold: sum\n";
  plan->thread_count = 2;
  plan->flags = TENON_PLAN_STRICT;
}

/* Returns NULL after a failure. The caller destroys the plan, then the library. */
static inline tenon__plan_t* sample_plan_create(const sample_library_t* library,
                                                tenon_allocator_t allocator,
                                                const tenon_sink_t* sink) {
  sample_t s = {.library = library, .sink = sink};
  sample_nodes_t n = {0};
  if (tenon__plan_create(allocator, &s.plan) != TENON_OK) {
    return NULL;
  }
  sample_try(&s, tenon__network_create(allocator, &s.plan->network));
  s.network = s.plan->network;
  if (!s.failed) {
    const tenon__symbol_t symbol = {.kind = TENON_SYMBOL_INPUT,
                                    .name = "batch",
                                    .min = 1,
                                    .max = 3,
                                    .bound = TENON_DIM_INVALID};
    s.batch = tenon__dim_symbol(s.network->pool, &symbol);
    s.four = tenon__dim_constant(s.network->pool, 4);
    sample_make_nodes(&s, &n);
  }
  if (!s.failed) {
    sample_make_schedules(&s, &n);
    sample_make_profile(&s);
    sample_describe(&s);
  }
  if (!s.failed) {
    sample_try(&s, tenon__plan_memory(s.plan, sink));
  }
  if (s.failed) {
    tenon__plan_destroy(s.plan);
    return NULL;
  }
  return s.plan;
}

#endif
