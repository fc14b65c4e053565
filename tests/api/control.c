/* Control by hand: a loop with a trip count and with a condition, a scan, a map, a branch. */
#include "tests/api/session.h"

/* The builder of a session, and what a failure says. */
typedef struct body_t {
  const tenon_builder_table_t* table;
  tenon_builder_t* builder;
  session_t* session;
} body_t;

static body_t begin(session_t* s, const char* name) {
  const body_t body = {tenon_builder_get_table(), tenon_network_get_builder(s->network), s};
  EXPECT_STATUS(body.table->begin_body(body.builder, name), TENON_OK);
  return body;
}

static tenon_value_t parameter(const body_t* body, const char* name, tenon_dtype_t dtype,
                               uint32_t rank, const int64_t* dims) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(body->table->body_parameter(body->builder, name, TENON_ARGUMENT_TENSOR, dtype, rank,
                                            dims, &value),
                TENON_OK);
  return value;
}

static tenon_value_t say(const body_t* body, const char* text, const char* const* names,
                         const tenon_value_t* inputs, uint32_t count) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(body->table->expression(body->builder, text, names, inputs, count, NULL, &value),
                TENON_OK);
  return value;
}

static void give(const body_t* body, tenon_value_t value) {
  EXPECT_STATUS(body->table->body_result(body->builder, value), TENON_OK);
}

static uint32_t end(const body_t* body) {
  uint32_t number = 0;
  EXPECT_STATUS(body->table->end_body(body->builder, &number), TENON_OK);
  return number;
}

typedef struct form_t {
  const char* op;
  int64_t carried;
  int64_t scanned;
  uint32_t bodies[2];
  uint32_t output_count;
} form_t;

/* A control node. */
static void control(session_t* s, const form_t* form, const tenon_value_t* inputs, uint32_t count,
                    tenon_value_t* out_values) {
  const tenon_builder_table_t* table = tenon_builder_get_table();
  tenon_builder_t* builder = tenon_network_get_builder(s->network);
  const bool branches = strcmp(form->op, "standard.branch/1") == 0;
  EXPECT_STATUS(table->begin(builder, form->op, NULL), TENON_OK);
  if (form->carried > 0) {
    EXPECT_STATUS(table->attribute_int(builder, "carried_count", form->carried), TENON_OK);
  }
  if (form->scanned > 0) {
    EXPECT_STATUS(table->attribute_int(builder, "scanned_count", form->scanned), TENON_OK);
  }
  for (uint32_t k = 0; k < count; ++k) {
    EXPECT_STATUS(table->add_input(builder, inputs[k]), TENON_OK);
  }
  for (uint32_t k = 0; k < (branches ? 2U : 1U); ++k) {
    EXPECT_STATUS(table->add_body(builder, form->bodies[k]), TENON_OK);
  }
  EXPECT_STATUS(table->output_count(builder, form->output_count), TENON_OK);
  EXPECT_STATUS(table->end(builder, out_values, form->output_count), TENON_OK);
}

/* carried = carried * 1.5 + iteration; collects max(carried, 0). `goes_on`: the body's condition.
 */
static uint32_t make_loop_body(session_t* s, const char* goes_on) {
  static const int64_t dims[] = {2, 3};
  const body_t body = begin(s, "loop");
  const tenon_value_t iteration = parameter(&body, "i", TENON_DTYPE_INT64, 0, NULL);
  const tenon_value_t condition = parameter(&body, "c", TENON_DTYPE_BOOL, 0, NULL);
  const tenon_value_t old = parameter(&body, "old", TENON_DTYPE_FLOAT32, 2, dims);
  const tenon_value_t fresh = say(&body, "y = old * 1.5 + cast(i, f32)",
                                  (const char* const[]){"old", "i"}, VALUES(old, iteration));
  give(&body, say(&body, goes_on, (const char* const[]){"i", "c"}, VALUES(iteration, condition)));
  give(&body, fresh);
  give(&body, say(&body, "y = max(x, 0)", (const char* const[]){"x"}, &fresh, 1));
  return end(&body);
}

static tenon_value_t scalar(session_t* s, const char* name, tenon_dtype_t dtype, const void* data) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add_constant(s->network, name, dtype, 0, NULL, data, &value),
                TENON_OK);
  return value;
}

TENON_TEST(loop_with_trip_count) {
  session_t s;
  tenon_value_t outputs[2] = {{0}};
  const int64_t four = 4;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "loop.x");
  const tenon_value_t trips = scalar(&s, "four", TENON_DTYPE_INT64, &four);
  const uint32_t body = make_loop_body(&s, "y = c");
  const form_t form = {
      .op = "standard.repetition/1", .carried = 1, .bodies = {body}, .output_count = 2};
  control(&s, &form, VALUES(trips, ABSENT, x), outputs);
  session_output(&s, outputs[0], "loop.final");
  session_output(&s, outputs[1], "loop.rows");
  session_check(&s);
  session_end(&s);
}

typedef struct depths_t {
  tenon_builder_t* builder;
  uint32_t nodes[2]; /* of the main graph, of its bodies */
  bool was_repetition;
} depths_t;

static int32_t count_depth(void* user, const tenon_network_item_t* item) {
  depths_t* depths = user;
  EXPECT(item->depth < 2);
  if (item->kind == TENON_ITEM_NODE && item->depth < 2) {
    tenon_value_type_t type = {.size = sizeof(type)};
    ++depths->nodes[item->depth];
    EXPECT_STATUS(tenon_builder_get_table()->type(depths->builder, item->outputs[0], &type),
                  TENON_OK);
    EXPECT(item->depth == 0 || depths->was_repetition);
    depths->was_repetition = item->body_count > 0 || item->depth > 0;
  }
  return TENON_OK;
}

/* What a walk of one body meets: its ends, and how many nodes behind them. */
typedef struct body_walk_t {
  uint32_t number; /* of the body, as the loop's item tells it */
  uint32_t inputs;
  uint32_t outputs;
  uint32_t nodes;
} body_walk_t;

static int32_t note_body(void* user, const tenon_network_item_t* item) {
  body_walk_t* walk = user;
  if (item->kind == TENON_ITEM_NODE && item->body_count > 0) {
    walk->number = item->bodies[0];
  }
  return TENON_OK;
}

static int32_t count_in_body(void* user, const tenon_network_item_t* item) {
  body_walk_t* walk = user;
  EXPECT_INT(item->depth, 1);
  EXPECT(item->kind == TENON_ITEM_NODE || walk->nodes == 0); /* ends come first */
  *(item->kind == TENON_ITEM_INPUT    ? &walk->inputs
    : item->kind == TENON_ITEM_OUTPUT ? &walk->outputs
                                      : &walk->nodes) += 1;
  return TENON_OK;
}

/* Iteration, condition and one carried value; condition, carried, collected. */
static void expect_body(session_t* s) {
  body_walk_t walk = {0};
  EXPECT_STATUS(tenon_network_walk(s->network, note_body, &walk), TENON_OK);
  EXPECT_STATUS(tenon_network_walk_body(s->network, walk.number, count_in_body, &walk), TENON_OK);
  EXPECT_INT(walk.inputs, 3);
  EXPECT_INT(walk.outputs, 3);
  EXPECT_INT(walk.nodes, 3);
  EXPECT_STATUS(tenon_network_walk_body(s->network, 0, count_in_body, &walk),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "0 is the number of no body");
  EXPECT_STATUS(tenon_network_walk_body(s->network, 99, count_in_body, &walk),
                TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_STATUS(tenon_network_walk_body(NULL, 1, count_in_body, &walk),
                TENON_ERROR_INVALID_ARGUMENT);
}

/* Behind the loop come the three nodes of its body, whose values tell their types. */
TENON_TEST(bodies_are_walked_where_they_are_wanted) {
  session_t s;
  tenon_value_t outputs[2] = {{0}};
  const int64_t four = 4;
  depths_t main_graph = {.was_repetition = false};
  depths_t all = {.was_repetition = false};
  REQUIRE(session_begin(&s, NULL));
  main_graph.builder = all.builder = tenon_network_get_builder(s.network);
  const tenon_value_t x = session_input(&s, "loop.x");
  const tenon_value_t trips = scalar(&s, "four", TENON_DTYPE_INT64, &four);
  const form_t form = {.op = "standard.repetition/1",
                       .carried = 1,
                       .bodies = {make_loop_body(&s, "y = c")},
                       .output_count = 2};
  control(&s, &form, VALUES(trips, ABSENT, x), outputs);
  const tenon_value_t y = node(&s, "standard.relu/1", VALUES(outputs[0]), NO_ATTRIBUTES);
  EXPECT_STATUS(tenon_network_add_output(s.network, y, "y"), TENON_OK);
  EXPECT_STATUS(tenon_network_walk(s.network, count_depth, &main_graph), TENON_OK);
  EXPECT_INT(main_graph.nodes[0], 2);
  EXPECT_INT(main_graph.nodes[1], 0);
  EXPECT_STATUS(tenon_network_walk_bodies(s.network, count_depth, &all), TENON_OK);
  EXPECT_INT(all.nodes[0], 2);
  EXPECT_INT(all.nodes[1], 3);
  EXPECT_STATUS(tenon_network_walk_bodies(s.network, NULL, NULL), TENON_ERROR_INVALID_ARGUMENT);
  expect_body(&s);
  session_end(&s);
}

TENON_TEST(loop_that_its_condition_ends) {
  session_t s;
  tenon_value_t outputs[2] = {{0}};
  const uint8_t yes = 1;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "loop.x");
  const tenon_value_t start = scalar(&s, "yes", TENON_DTYPE_BOOL, &yes);
  const uint32_t body = make_loop_body(&s, "y = c && i < 1");
  const form_t form = {
      .op = "standard.repetition/1", .carried = 1, .bodies = {body}, .output_count = 2};
  control(&s, &form, VALUES(ABSENT, start, x), outputs);
  session_output(&s, outputs[0], "loop.early");
  session_check(&s);
  session_end(&s);
}

/* A running sum over slices: what ONNX calls a Scan. */
TENON_TEST(loop_over_slices) {
  static const int64_t dims[] = {2};
  session_t s;
  tenon_value_t outputs[2] = {{0}};
  const float zeros[] = {0, 0};
  tenon_value_t start = ABSENT;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t items = session_input(&s, "scan.items");
  EXPECT_STATUS(
      tenon_network_add_constant(s.network, "zeros", TENON_DTYPE_FLOAT32, 1, dims, zeros, &start),
      TENON_OK);
  const body_t body = begin(&s, "scan");
  (void)parameter(&body, "i", TENON_DTYPE_INT64, 0, NULL);
  const tenon_value_t condition = parameter(&body, "c", TENON_DTYPE_BOOL, 0, NULL);
  const tenon_value_t sum = parameter(&body, "sum", TENON_DTYPE_FLOAT32, 1, dims);
  const tenon_value_t item = parameter(&body, "item", TENON_DTYPE_FLOAT32, 1, dims);
  const tenon_value_t fresh =
      say(&body, "y = a + b", (const char* const[]){"a", "b"}, VALUES(sum, item));
  give(&body, condition);
  give(&body, fresh);
  give(&body, fresh);
  const form_t form = {.op = "standard.repetition/1",
                       .carried = 1,
                       .scanned = 1,
                       .bodies = {end(&body)},
                       .output_count = 2};
  control(&s, &form, VALUES(ABSENT, ABSENT, start, items), outputs);
  session_output(&s, outputs[0], "scan.total");
  session_output(&s, outputs[1], "scan.running");
  session_check(&s);
  session_end(&s);
}

TENON_TEST(map_over_slices) {
  static const int64_t dims[] = {2};
  session_t s;
  tenon_value_t y = ABSENT;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t items = session_input(&s, "scan.items");
  const body_t body = begin(&s, "map");
  const tenon_value_t item = parameter(&body, "item", TENON_DTYPE_FLOAT32, 1, dims);
  give(&body, say(&body, "y = a * a", (const char* const[]){"a"}, &item, 1));
  const form_t form = {
      .op = "standard.mapping/1", .scanned = 1, .bodies = {end(&body)}, .output_count = 1};
  control(&s, &form, &items, 1, &y);
  session_output(&s, y, "map.squares");
  session_check(&s);
  session_end(&s);
}

/* One engine, a condition that the run knows, both branches. */
static void run_branch(tenon_engine_t* engine, bool condition, const char* expected) {
  tenon_context_t* context = NULL;
  uint8_t flag = condition;
  tenon_tensor_view_t y;
  const tenon_tensor_view_t x = session_view(expected_get("branch.x"));
  const tenon_tensor_view_t view = {
      .data = &flag, .rank = 0, .dtype = TENON_DTYPE_BOOL, .layout = TENON_NONE};
  EXPECT_STATUS(tenon_context_create(engine, NULL, &context), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 0, &view), TENON_OK);
  EXPECT_STATUS(tenon_context_set_input(context, 1, &x), TENON_OK);
  EXPECT_STATUS(tenon_context_run(context), TENON_OK);
  EXPECT_STATUS(tenon_context_get_output(context, 0, &y), TENON_OK);
  EXPECT_TENSOR(&y, expected, 1e-6); /* an exponential of 4 ulp */
  tenon_context_destroy(context);
}

static uint32_t make_branch(session_t* s, const char* name, const char* text) {
  static const int64_t dims[] = {2, 3};
  const body_t body = begin(s, name);
  const tenon_value_t x = parameter(&body, "x", TENON_DTYPE_FLOAT32, 2, dims);
  give(&body, say(&body, text, (const char* const[]){"x"}, &x, 1));
  return end(&body);
}

TENON_TEST(branch_takes_each_side) {
  session_t s;
  tenon_value_t condition = ABSENT;
  tenon_value_t y = ABSENT;
  REQUIRE(session_begin(&s, NULL));
  EXPECT_STATUS(
      tenon_network_add_input(s.network, "condition", TENON_DTYPE_BOOL, 0, NULL, &condition),
      TENON_OK);
  const tenon_value_t x = session_input(&s, "branch.x");
  const form_t form = {
      .op = "standard.branch/1",
      .bodies = {make_branch(&s, "yes", "y = exp(x)"), make_branch(&s, "no", "y = x - 1")},
      .output_count = 1};
  control(&s, &form, VALUES(condition, x), &y);
  EXPECT_STATUS(tenon_network_add_output(s.network, y, "y"), TENON_OK);
  for (uint32_t only = 0; only < 2; ++only) {
    tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
    tenon_plan_t* plan = NULL;
    tenon_engine_t* engine = NULL;
    options.reference_only = only;
    EXPECT_STATUS(tenon_build(s.network, &options, &plan), TENON_OK);
    EXPECT_STATUS(tenon_engine_create_from_plan(s.registry, plan, NULL, &engine), TENON_OK);
    run_branch(engine, true, "branch.yes");
    run_branch(engine, false, "branch.no");
    tenon_engine_release(engine);
    tenon_plan_destroy(plan);
  }
  session_end(&s);
}
