/* What the runtime does between kernels: choosing, repeating, bodies in bodies. */
#include "tests/support/core_world.h"

/* ---- Choose ---- */

static uint32_t unary_body(test_fixture_t* b, const char* name, const char* op,
                           tenon_value_t like) {
  tenon_value_t p = {0};
  uint32_t body = 0;
  EXPECT_STATUS(b->build->begin_body(b->builder, name), TENON_OK);
  EXPECT_STATUS(b->build->body_parameter_like(b->builder, "p", like, &p), TENON_OK);
  EXPECT_STATUS(b->build->body_result(b->builder, test_unary(b, op, NULL, p)), TENON_OK);
  EXPECT_STATUS(b->build->end_body(b->builder, &body), TENON_OK);
  return body;
}

static tenon_value_t branch(test_fixture_t* b, tenon_value_t condition, tenon_value_t x,
                            uint32_t then_body, uint32_t else_body) {
  tenon_value_t y = {0};
  EXPECT_STATUS(b->build->begin(b->builder, "test.branch/1", "branch"), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, condition), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, x), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, then_body), TENON_OK);
  EXPECT_STATUS(b->build->add_body(b->builder, else_body), TENON_OK);
  EXPECT_STATUS(b->build->output_count(b->builder, 1), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, &y, 1), TENON_OK);
  return y;
}

TENON_TEST(each_branch_is_taken) {
  core_world_t world;
  const float x[3] = {-1, 0, 2};
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t condition = test_input_of(b, "condition", TENON_DTYPE_BOOL, SCALAR);
  const tenon_value_t in = test_input(b, "x", DIMS(3));
  const uint32_t then_body = unary_body(b, "then", "test.scale/1", in);
  const uint32_t else_body = unary_body(b, "else", "test.ramp/1", in);
  const tenon_value_t y = branch(b, condition, in, then_body, else_body);
  EXPECT_STATUS(b->build->output(b->builder, y, "y"), TENON_OK);
  if (core_world_start(&world)) {
    for (int k = 0; k < 4; ++k) {
      const bool taken = k % 2 == 0;
      EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_BOOL, SCALAR, &taken), TENON_OK);
      EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(3), x), TENON_OK);
      core_world_expect_ran(&world);
      if (taken) {
        EXPECT_FLOATS(&world, 0, -2, 0, 4);
      } else {
        EXPECT_FLOATS(&world, 0, 0, 0, 2);
      }
    }
  }
  core_world_end(&world);
}

/* ---- Repeat ---- */

typedef struct loop_t {
  tenon_value_t trips; /* {0}: none is given */
  tenon_value_t go;
  tenon_value_t x;       /* carried: h' = h + slice, or h + h without slices */
  tenon_value_t slices;  /* {0}: none */
  tenon_value_t limit;   /* {0}: it goes on; else while limit - h[0] is not 0 */
  int64_t directions[2]; /* of what is sliced, of what is collected */
} loop_t;

static void loop_results(test_fixture_t* b, const loop_t* loop, const tenon_value_t* p) {
  const bool sliced = loop->slices.id != 0;
  const tenon_value_t h = test_binary(b, "test.plus/1", "h", p[2], sliced ? p[3] : p[2]);
  tenon_value_t condition = p[1];
  if (loop->limit.id != 0) {
    const tenon_value_t rest = test_binary(b, "test.minus/1", "rest", h, p[sliced ? 4 : 3]);
    EXPECT_STATUS(b->build->begin(b->builder, "test.convert/1", "going"), TENON_OK);
    EXPECT_STATUS(b->build->attribute_dtype(b->builder, "to", TENON_DTYPE_BOOL), TENON_OK);
    EXPECT_STATUS(b->build->add_input(b->builder, rest), TENON_OK);
    EXPECT_STATUS(b->build->end(b->builder, &condition, 1), TENON_OK);
  }
  EXPECT_STATUS(b->build->body_result(b->builder, condition), TENON_OK);
  EXPECT_STATUS(b->build->body_result(b->builder, h), TENON_OK);
  EXPECT_STATUS(b->build->body_result(b->builder, p[2]), TENON_OK);
}

/* The body; what it carries is a scalar. */
static uint32_t loop_body(test_fixture_t* b, const loop_t* loop) {
  tenon_value_t p[5] = {{0}};
  uint32_t body = 0;
  const bool sliced = loop->slices.id != 0;
  const tenon_builder_table_t* build = b->build;
  EXPECT_STATUS(build->begin_body(b->builder, "body"), TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0,
                                      NULL, &p[0]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0,
                                      NULL, &p[1]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter_like(b->builder, "h", loop->x, &p[2]), TENON_OK);
  if (sliced) {
    EXPECT_STATUS(build->body_parameter_like(b->builder, "slice", loop->x, &p[3]), TENON_OK);
  }
  if (loop->limit.id != 0) {
    EXPECT_STATUS(build->body_parameter_like(b->builder, "limit", loop->limit, &p[sliced ? 4 : 3]),
                  TENON_OK);
  }
  loop_results(b, loop, p);
  EXPECT_STATUS(build->end_body(b->builder, &body), TENON_OK);
  return body;
}

static void add_loop(test_fixture_t* b, const loop_t* loop) {
  tenon_value_t y[2] = {{0}};
  const bool sliced = loop->slices.id != 0;
  const uint32_t body = loop_body(b, loop);
  const tenon_builder_table_t* build = b->build;
  const int64_t axes[2] = {0, 0};
  const int64_t* directions = sliced ? loop->directions : &loop->directions[1];
  EXPECT_STATUS(build->begin(b->builder, "test.repeat/1", "loop"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(b->builder, "carried_count", 1), TENON_OK);
  EXPECT_STATUS(build->attribute_int(b->builder, "scanned_count", sliced ? 1 : 0), TENON_OK);
  EXPECT_STATUS(build->attribute_ints(b->builder, "axes", axes, sliced ? 2 : 1), TENON_OK);
  EXPECT_STATUS(build->attribute_ints(b->builder, "directions", directions, sliced ? 2 : 1),
                TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, loop->trips), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, loop->go), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, loop->x), TENON_OK);
  if (sliced) {
    EXPECT_STATUS(build->add_input(b->builder, loop->slices), TENON_OK);
  }
  if (loop->limit.id != 0) {
    EXPECT_STATUS(build->add_input(b->builder, loop->limit), TENON_OK);
  }
  EXPECT_STATUS(build->add_body(b->builder, body), TENON_OK);
  EXPECT_STATUS(build->output_count(b->builder, 2), TENON_OK);
  EXPECT_STATUS(build->end(b->builder, y, 2), TENON_OK);
  EXPECT_STATUS(build->output(b->builder, y[0], "last"), TENON_OK);
  EXPECT_STATUS(build->output(b->builder, y[1], "collected"), TENON_OK);
}

TENON_TEST(a_loop_turns_as_often_as_its_trip_count_says) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const loop_t loop = {.trips = test_input_of(b, "trips", TENON_DTYPE_INT64, SCALAR),
                       .x = test_input(b, "x", SCALAR)};
  add_loop(b, &loop);
  if (core_world_start(&world)) {
    const float x = 3;
    int64_t trips = 3;
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_INT64, SCALAR, &trips), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, SCALAR, &x), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 24);
    EXPECT_FLOATS(&world, 1, 3, 6, 12);
    trips = 0; /* what is carried comes through, nothing is collected */
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 3);
    EXPECT_EMPTY(&world, 1);
    trips = -5;
    core_world_expect_ran(&world);
    EXPECT_EMPTY(&world, 1);
    trips = 10; /* more than before: what is collected grows */
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 3072);
    EXPECT_FLOATS(&world, 1, 3, 6, 12, 24, 48, 96, 192, 384, 768, 1536);
  }
  core_world_end(&world);
}

TENON_TEST(a_loop_ends_when_its_condition_does) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const loop_t loop = {.trips = test_input_of(b, "trips", TENON_DTYPE_INT64, SCALAR),
                       .go = test_input_of(b, "go", TENON_DTYPE_BOOL, SCALAR),
                       .x = test_input(b, "x", SCALAR),
                       .limit = test_input(b, "limit", SCALAR)};
  add_loop(b, &loop);
  if (core_world_start(&world)) {
    const int64_t trips = 100;
    const float x = 1;
    const float limit = 8;
    bool go = true;
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_INT64, SCALAR, &trips), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_BOOL, SCALAR, &go), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 2, TENON_DTYPE_FLOAT32, SCALAR, &x), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 3, TENON_DTYPE_FLOAT32, SCALAR, &limit), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 8);
    EXPECT_FLOATS(&world, 1, 1, 2, 4);
    go = false; /* not even once */
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 1);
    EXPECT_EMPTY(&world, 1);
  }
  core_world_end(&world);
}

static void check_scan(int64_t slices_backwards, int64_t collected_backwards,
                       const float* expected) {
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  test_fixture_t* b = &world.fixture;
  const loop_t loop = {.x = test_input(b, "x", SCALAR),
                       .slices = test_input(b, "slices", DIMS(3)),
                       .directions = {slices_backwards, collected_backwards}};
  add_loop(b, &loop);
  if (core_world_start(&world)) {
    const float x = 1;
    const float slices[3] = {10, 20, 40};
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, SCALAR, &x), TENON_OK);
    EXPECT_STATUS(core_world_set(&world, 1, TENON_DTYPE_FLOAT32, DIMS(3), slices), TENON_OK);
    core_world_expect_ran(&world);
    EXPECT_FLOATS(&world, 0, 71);
    core_world_expect(__LINE__, &world, 1, expected, 3);
  }
  core_world_end(&world);
}

TENON_TEST(slices_come_and_results_go_in_either_direction) {
  check_scan(0, 0, (const float[]){1, 11, 31});
  check_scan(1, 0, (const float[]){1, 41, 61});
  check_scan(0, 1, (const float[]){31, 11, 1});
  check_scan(1, 1, (const float[]){61, 41, 1});
}

/* A body that gives its slice of texts back as it is: what is collected outlives the iteration. */
static void add_text_loop(test_fixture_t* b, tenon_value_t slices) {
  tenon_value_t p[3] = {{0}};
  tenon_value_t y = {0};
  uint32_t body = 0;
  const int64_t axes[2] = {0, 0};
  const tenon_builder_table_t* build = b->build;
  EXPECT_STATUS(build->begin_body(b->builder, "body"), TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "i", TENON_ARGUMENT_TENSOR, TENON_DTYPE_INT64, 0,
                                      NULL, &p[0]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "go", TENON_ARGUMENT_TENSOR, TENON_DTYPE_BOOL, 0,
                                      NULL, &p[1]),
                TENON_OK);
  EXPECT_STATUS(build->body_parameter(b->builder, "slice", TENON_ARGUMENT_TENSOR,
                                      TENON_DTYPE_STRING, 0, NULL, &p[2]),
                TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, p[1]), TENON_OK);
  EXPECT_STATUS(build->body_result(b->builder, p[2]), TENON_OK);
  EXPECT_STATUS(build->end_body(b->builder, &body), TENON_OK);
  EXPECT_STATUS(build->begin(b->builder, "test.repeat/1", "loop"), TENON_OK);
  EXPECT_STATUS(build->attribute_int(b->builder, "scanned_count", 1), TENON_OK);
  EXPECT_STATUS(build->attribute_ints(b->builder, "axes", axes, 2), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, NO_VALUE), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, NO_VALUE), TENON_OK);
  EXPECT_STATUS(build->add_input(b->builder, slices), TENON_OK);
  EXPECT_STATUS(build->add_body(b->builder, body), TENON_OK);
  EXPECT_STATUS(build->output_count(b->builder, 1), TENON_OK);
  EXPECT_STATUS(build->end(b->builder, &y, 1), TENON_OK);
  EXPECT_STATUS(build->output(b->builder, y, "collected"), TENON_OK);
}

TENON_TEST(texts_are_collected_as_they_are) {
  enum { COUNT = 6 };
  static const char* const words[COUNT] = {"ash", "birch", "cedar", "", "elm and fir", "ginkgo"};
  core_world_t world;
  core_world_begin(&world, NULL, 0);
  add_text_loop(&world.fixture,
                test_input_of(&world.fixture, "words", TENON_DTYPE_STRING, DIMS(COUNT)));
  if (core_world_start(&world)) {
    tenon_string_view_t texts[COUNT];
    for (int k = 0; k < COUNT; ++k) {
      texts[k] = (tenon_string_view_t){.data = words[k], .size = strlen(words[k])};
    }
    EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_STRING, DIMS(COUNT), texts), TENON_OK);
    for (int run = 0; run < 2; ++run) {
      core_world_expect_ran(&world);
      const tenon_argument_t* output = tenon__context_get_output(world.context, 0);
      EXPECT(output != NULL && output->tensor.rank == 1 && output->tensor.dims[0] == COUNT);
      for (int k = 0; output != NULL && k < COUNT; ++k) {
        const tenon_string_view_t* text = (const tenon_string_view_t*)output->tensor.data + k;
        EXPECT(text->size == texts[k].size && memcmp(text->data, words[k], text->size) == 0);
      }
    }
  }
  core_world_end(&world);
}
