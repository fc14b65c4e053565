/* What a plan says of extents and numbers, and the run finds otherwise: refused, by the value's
 * name. Nothing reads past what was found. */
#include "core/base/allocator.h"
#include "core/context/border.h"
#include "core/context/context.h"
#include "core/dimension/dimension_algebra.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/node.h"
#include "core/plan/plan.h"
#include "tests/support/core_world.h"

enum { LARGE = 1 << 22 };

/* ---- Networks ---- */

/* h' = h + h, `trips` times; what h was is collected. Inputs: trips, x. */
static void make_repeat(core_world_t* world) {
  test_fixture_t* b = &world->fixture;
  const tenon_builder_table_t* build = b->build;
  const tenon_value_t trips = test_input_of(b, "trips", TENON_DTYPE_INT64, SCALAR);
  const tenon_value_t x = test_input(b, "x", DIMS(3));
  tenon_value_t p[3] = {{0}};
  tenon_value_t y[2] = {{0}};
  uint32_t body = 0;
  EXPECT_STATUS(build->begin_body(b->builder, "body"), TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0,
                                      NULL, &p[0]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0,
                                      NULL, &p[1]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(b->builder, "h", x, &p[2]), TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, p[1]), TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, test_binary(b, "test.plus/1", "sum", p[2], p[2])),
                TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, p[2]), TENON_OK);
  EXPECT_STATUS(build->end_body(b->builder, &body), TENON_OK);
  EXPECT_STATUS(build->begin(b->builder, "test.repeat/1", "loop"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(b->builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(build->attribute_ints(b->builder, "axes", (const int64_t[]){0}, 1), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, trips), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, NO_VALUE), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, x), TENON_OK);
  EXPECT_STATUS(build->add_body(b->builder, body), TENON_OK);
  EXPECT_STATUS(build->end(b->builder, y, 2), TENON_OK);
  EXPECT_STATUS(build->output(b->builder, y[0], "last"), TENON_OK);
  EXPECT_STATUS(build->output(b->builder, y[1], "collected"), TENON_OK);
}

static tenon_status_t run_repeat(core_world_t* world) {
  static const int64_t trips = 2;
  static const float x[3] = {1, 2, 3};
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_INT64, SCALAR, &trips), TENON_OK);
  EXPECT_STATUS(core_world_set(world, 1, TENON_DTYPE_FLOAT32, DIMS(3), x), TENON_OK);
  return tenon__context_run(world->context);
}

static uint32_t add_branch_body(test_fixture_t* b, const char* op, tenon_value_t like) {
  tenon_value_t p = {0};
  uint32_t body = 0;
  EXPECT_STATUS(b->build->begin_body(b->builder, op), TENON_OK);
  EXPECT_STATUS(b->build->body_parameter_like(b->builder, "p", like, &p), TENON_OK);
  EXPECT_STATUS(b->build->body_result(b->builder, test_unary(b, op, NULL, p)), TENON_OK);
  EXPECT_STATUS(b->build->end_body(b->builder, &body), TENON_OK);
  return body;
}

/* Inputs: condition, x. */
static void make_branch(core_world_t* world) {
  test_fixture_t* b = &world->fixture;
  const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t x = test_input(b, "x", DIMS(3));
  tenon_value_t y = {0};
  const uint32_t bodies[2] = {add_branch_body(b, "test.scale/1", x),
                              add_branch_body(b, "test.ramp/1", x)};
  EXPECT_STATUS(b->build->begin(b->builder, "test.branch/1", "branch"), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, condition), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, x), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, bodies[0]), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, bodies[1]), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &y, 1), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, y, "chosen"), TENON_OK);
}

static tenon_status_t run_branch(core_world_t* world) {
  static const bool condition = true;
  static const float x[3] = {1, 2, 3};
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_BOOL, SCALAR, &condition), TENON_OK);
  EXPECT_STATUS(core_world_set(world, 1, TENON_DTYPE_FLOAT32, DIMS(3), x), TENON_OK);
  return tenon__context_run(world->context);
}

/* The first two elements of x. */
static tenon_status_t take_two(const tenon_enqueue_t* call) {
  const int64_t two[1] = {2};
  void* data = NULL;
  const tenon_status_t status = call->host->allocate_output(call->run, 0, 1, two, &data);
  if (status == TENON_OK) {
    memcpy(data, call->inputs[0].tensor.data, 2 * sizeof(float));
  }
  return status;
}

static const char* const takes_compress[] = {"test.compress/1", NULL};
static const tenon_kernel_t compress = {.size = sizeof(tenon_kernel_t),
                                        .name = "two",
                                        .device = "cpu",
                                        .version = 1,
                                        .operators = takes_compress,
                                        .enqueue = take_two};

/* exp(compress(x)): the first has as many elements as its kernel finds. */
static void make_found(core_world_t* world) {
  test_fixture_t* b = &world->fixture;
  const tenon_value_t found =
      test_unary(b, "test.compress/1", "found", test_input(b, "x", DIMS(5)));
  const tenon_value_t y = test_unary(b, "test.exponential/1", "y", found);
  EXPECT_STATUS(b->build->output(b->builder, found, "found"), TENON_OK);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
}

static tenon_status_t run_found(core_world_t* world) {
  static const float x[5] = {1, 2, 3, 4, 5};
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(5), x), TENON_OK);
  return tenon__context_run(world->context);
}

/* ---- Changes ---- */

static tenon__value_node_t* value_of(tenon__plan_t* plan, uint32_t graph, const char* name) {
  tenon__graph_t* g = plan->network->graphs[graph];
  for (uint32_t v = 0; v < g->value_count; ++v) {
    if (g->values[v].alive && strcmp(g->values[v].name, name) == 0) {
      return &g->values[v];
    }
  }
  tenon__test_fail(__FILE__, __LINE__, "there is no value '%s'", name);
  return &g->values[0];
}

static void set_extent(const tenon__plan_t* plan, tenon__value_node_t* value, tenon_dim_t dim) {
  tenon_dim_t* dims =
      tenon__arena_copy(&plan->network->arena, value->type.dims, value->type.rank * sizeof *dims);
  if (dims != NULL && value->type.rank > 0) {
    dims[0] = dim;
    value->type.dims = dims;
  }
}

/* An extent that only the run knows needs memory that grows. */
static void let_grow(tenon__plan_t* plan, uint32_t graph, uint32_t output) {
  tenon__schedule_t* schedule = &plan->schedules[graph];
  schedule->places[schedule->outputs[output]].storage = TENON_STORAGE_GROWING;
}

static tenon__value_node_t* output_of(tenon__plan_t* plan, uint32_t graph, uint32_t index) {
  tenon__graph_t* g = plan->network->graphs[graph];
  return &g->values[g->outputs[index]];
}

static void collects_a_constant(tenon__plan_t* plan) {
  set_extent(plan, output_of(plan, 0, 1), tenon__dim_constant(plan->network->pool, LARGE));
}
static void collects_at_least_much(tenon__plan_t* plan) {
  tenon__value_node_t* value = output_of(plan, 0, 1);
  tenon__dim_pool_t* pool = plan->network->pool;
  set_extent(plan, value,
             tenon__dim_combine(pool, TENON_OPCODE_MAX, value->type.dims[0],
                                tenon__dim_constant(pool, LARGE)));
}
static void carries_much(tenon__plan_t* plan) {
  tenon__value_node_t* value = output_of(plan, 0, 0);
  set_extent(plan, value, output_of(plan, 0, 1)->type.dims[0]);
  let_grow(plan, 0, 0);
}
static void passes_much(tenon__plan_t* plan) {
  tenon__dim_pool_t* pool = plan->network->pool;
  const tenon_dim_t much =
      tenon__dim_combine(pool, TENON_OPCODE_MAX, value_of(plan, 0, "trips")->type.contents[0],
                         tenon__dim_constant(pool, LARGE));
  set_extent(plan, value_of(plan, 1, "h"), much);
  set_extent(plan, value_of(plan, 1, "sum"), much);
  let_grow(plan, 1, 1);
  plan->schedules[0].memory_bytes[0] = 0;
  plan->schedules[1].memory_bytes[0] = 0;
}
static void counts_iterations_by_many(tenon__plan_t* plan) {
  static tenon_dim_t dims[1];
  tenon__value_node_t* value = value_of(plan, 1, "i");
  dims[0] = tenon__dim_constant(plan->network->pool, LARGE);
  value->type.rank = 1;
  value->type.dims = dims;
}
static void gives_much(tenon__plan_t* plan) {
  tenon__value_node_t* condition = value_of(plan, 0, "condition");
  tenon__dim_pool_t* pool = plan->network->pool;
  EXPECT_STATUS(tenon__value_make_contents(plan->network, 0, plan->network->graphs[0]->inputs[0]),
                TENON_OK);
  set_extent(plan, output_of(plan, 0, 0),
             tenon__dim_combine(pool, TENON_OPCODE_ADD, condition->type.contents[0],
                                tenon__dim_constant(pool, LARGE - 1)));
  let_grow(plan, 0, 0);
}
static void finds_a_constant(tenon__plan_t* plan) {
  set_extent(plan, value_of(plan, 0, "found"), tenon__dim_constant(plan->network->pool, 4));
  set_extent(plan, value_of(plan, 0, "y"), tenon__dim_constant(plan->network->pool, 4));
}
static void finds_at_least_much(tenon__plan_t* plan) {
  tenon__dim_pool_t* pool = plan->network->pool;
  const tenon_dim_t own = value_of(plan, 0, "found")->type.dims[0];
  const tenon_dim_t much =
      tenon__dim_combine(pool, TENON_OPCODE_ADD, own, tenon__dim_constant(pool, LARGE));
  set_extent(plan, value_of(plan, 0, "found"), much);
  set_extent(plan, value_of(plan, 0, "y"), much);
}
static void finds_more_than_it_may(tenon__plan_t* plan) {
  const tenon__dim_view_t own =
      tenon__dim_get(plan->network->pool, value_of(plan, 0, "found")->type.dims[0]);
  EXPECT_INT(own.kind, TENON_DIM_SYMBOL);
  tenon__symbol_set_range(plan->network->pool, own.index, 3, 5);
}
static void knows_the_condition(tenon__plan_t* plan) {
  static tenon_dim_t contents[1];
  tenon__value_node_t* value = value_of(plan, 0, "condition");
  contents[0] = tenon__dim_constant(plan->network->pool, 0);
  value->type.contents = contents;
  value->type.content_count = 1;
}

/* ---- Found when running ---- */

static void expect_caught(void (*make)(core_world_t* world), void (*change)(tenon__plan_t* plan),
                          tenon_status_t (*run)(core_world_t* world), const char* message) {
  core_world_t world;
  core_world_begin(&world, &compress, 1);
  make(&world);
  const tenon_status_t loaded = core_world_load_changed(&world, change);
  if (loaded == TENON_OK) {
    EXPECT_STATUS(tenon__context_create(world.engine, 0, NULL, &world.context), TENON_OK);
  }
  if (world.context == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "not loaded: %s", world.fixture.messages.text);
  } else {
    EXPECT_STATUS(run(&world), TENON_ERROR_INVALID_DATA);
    EXPECT_CONTAINS(world.fixture.messages.text, message);
  }
  core_world_end(&world);
}

TENON_TEST(what_a_loop_collects_is_as_much_as_was_collected) {
  expect_caught(make_repeat, collects_a_constant, run_repeat,
                "has extent 2 on axis 0, the plan expects 4194304");
  expect_caught(make_repeat, collects_at_least_much, run_repeat,
                "has extent 2 on axis 0, the plan expects 4194304");
}

TENON_TEST(what_a_loop_carries_is_as_much_as_was_carried) {
  expect_caught(make_repeat, carries_much, run_repeat,
                "has extent 3 on axis 0, the plan expects 2");
}

TENON_TEST(what_a_body_gets_is_as_much_as_it_is_given) {
  expect_caught(make_repeat, passes_much, run_repeat,
                "'h' has extent 3 on axis 0, the plan expects 4194304");
  expect_caught(make_repeat, counts_iterations_by_many, run_repeat,
                "'i' has extent 1 on axis 0, the plan expects 4194304");
}

TENON_TEST(what_a_branch_gives_is_as_much_as_it_gave) {
  expect_caught(make_branch, gives_much, run_branch,
                "has extent 3 on axis 0, the plan expects 4194304");
}

TENON_TEST(what_a_kernel_finds_is_as_much_as_it_found) {
  expect_caught(make_found, finds_a_constant, run_found,
                "'found' has extent 2 on axis 0, the plan expects 4");
  expect_caught(make_found, finds_at_least_much, run_found,
                "'found' has extent 2 on axis 0, unknown to the plan");
  expect_caught(make_found, finds_more_than_it_may, run_found,
                "'found' has extent 2 on axis 0, which the plan does not allow for");
}

TENON_TEST(numbers_that_the_plan_knows_are_those_that_come) {
  expect_caught(make_branch, knows_the_condition, run_branch,
                "element 0 of 'condition' is 1, the plan expects 0");
}

/* What each run finds anew says nothing about the next. */
TENON_TEST(each_run_finds_its_own) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  make_repeat(&world);
  if (core_world_start(&world)) {
    static const float x[3] = {1, 2, 3};
    EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(3), x), TENON_OK);
    for (int64_t trips = 3; trips >= 0; --trips) {
      EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_INT64, SCALAR, &trips), TENON_OK);
      core_world_expect_ran(&world);
      EXPECT_INT(tenon__context_get_output(world.context, 1)->tensor.dims[0], trips);
    }
  }
  core_world_end(&world);
}

/* ---- Seen when loading ---- */

static tenon__node_t* loop_of(tenon__plan_t* plan) {
  tenon__graph_t* g = plan->network->graphs[0];
  for (uint32_t n = 0; n < g->node_count; ++n) {
    if (g->nodes[n].alive && g->nodes[n].body_count > 0) {
      return &g->nodes[n];
    }
  }
  return &g->nodes[0];
}

static tenon__scope_attribute_t* attribute_of(tenon__plan_t* plan, const char* name) {
  return tenon__drop_const(tenon__node_attribute(loop_of(plan), name));
}

static void collects_along_no_axis(tenon__plan_t* plan) {
  static const int64_t axes[1] = {INT64_C(1) << 57};
  attribute_of(plan, "axes")->integers = axes;
}
static void collects_along_an_axis_before_the_first(tenon__plan_t* plan) {
  static const int64_t axes[1] = {-3};
  attribute_of(plan, "axes")->integers = axes;
}
static void cuts_what_it_does_not_have(tenon__plan_t* plan) {
  attribute_of(plan, "scanned_count")->integer = 7;
}
static void carries_less_than_nothing(tenon__plan_t* plan) {
  attribute_of(plan, "carried_count")->integer = -1;
}
static void carries_nothing(tenon__plan_t* plan) {
  attribute_of(plan, "carried_count")->integer = 0;
}
static void goes_on_by_a_number(tenon__plan_t* plan) {
  value_of(plan, 1, "go")->type.dtype = TENON_DTYPE_FLOAT32;
}
static void counts_in_a_matrix(tenon__plan_t* plan) {
  static const tenon_dim_t dims[2] = {{0}, {0}};
  value_of(plan, 1, "i")->type.rank = 2;
  value_of(plan, 1, "i")->type.dims = dims;
}
static void carries_another_rank(tenon__plan_t* plan) {
  value_of(plan, 1, "h")->type.rank = 0;
}
static void collects_another_rank(tenon__plan_t* plan) {
  output_of(plan, 0, 1)->type.rank = 1;
}
static void decides_by_a_number(tenon__plan_t* plan) {
  value_of(plan, 0, "condition")->type.dtype = TENON_DTYPE_UINT8;
}
static void chooses_another_rank(tenon__plan_t* plan) {
  output_of(plan, 0, 0)->type.rank = 0;
}

static void expect_refused(void (*make)(core_world_t* world), void (*change)(tenon__plan_t* plan),
                           const char* message) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  make(&world);
  EXPECT_STATUS(core_world_load_changed(&world, change), TENON_ERROR_INVALID_DATA);
  EXPECT_CONTAINS(world.fixture.messages.text, message);
  core_world_end(&world);
}

TENON_TEST(a_loop_of_a_plan_obeys_the_rules_of_a_models) {
  expect_refused(make_repeat, collects_along_no_axis,
                 "loop: collects a result along an axis that it does not have");
  expect_refused(make_repeat, collects_along_an_axis_before_the_first,
                 "loop: collects a result along an axis that it does not have");
  expect_refused(make_repeat, cuts_what_it_does_not_have, "loop: its bodies do not fit it");
  expect_refused(make_repeat, carries_less_than_nothing, "loop: its bodies do not fit it");
  expect_refused(make_repeat, carries_nothing, "loop: ");
  expect_refused(make_repeat, goes_on_by_a_number,
                 "loop: passes its body a number or a condition that it does not take");
  expect_refused(make_repeat, counts_in_a_matrix,
                 "loop: passes its body a number or a condition that it does not take");
  expect_refused(make_repeat, carries_another_rank, "loop: passes its body what it does not take");
  expect_refused(make_repeat, collects_another_rank, "loop: gives what its body does not");
}

TENON_TEST(a_branch_of_a_plan_obeys_the_rules_of_a_models) {
  expect_refused(make_branch, decides_by_a_number, "branch: has a condition that is not bool");
  expect_refused(make_branch, chooses_another_rank, "branch: gives what its body does not");
}
