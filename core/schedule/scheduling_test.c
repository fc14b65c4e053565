/* A tactic that wants its tensors aligned gets them so: copied where they may lie otherwise, as
 * they lie where they do not. */
#include <stdint.h>

#include "tests/support/tactics_world.h"

enum { ALIGNMENT = 64, ROWS = 4 };

TACTICS(with_aligned_input) {
  static const tenon_argument_rule_t rules[2] = {{.alignment = ALIGNMENT}, {0}};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "input", .inputs = rules};
  return add(to, &tactic);
}

TACTICS(with_aligned_output) {
  static const tenon_argument_rule_t rule = {.alignment = ALIGNMENT};
  IGNORE_REGION();
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "output", .outputs = &rule};
  return add(to, &tactic);
}

static bool is_aligned(const tenon_argument_t* argument) {
  return (uintptr_t)argument->tensor.data % ALIGNMENT == 0;
}

static tenon_status_t run_aligned_input(const tenon_enqueue_t* call) {
  EXPECT(is_aligned(&call->inputs[0]));
  return run_right(call);
}

static tenon_status_t run_aligned_output(const tenon_enqueue_t* call) {
  EXPECT(is_aligned(&call->outputs[0]));
  return run_right(call);
}

static tenon_kernel_t wants_input(void) {
  tenon_kernel_t kernel = dense_of("aligned", run_aligned_input);
  kernel.tactics = with_aligned_input;
  return kernel;
}

/* x, its ramp in two parts along the rows, a product of the second one. */
static void make_parts(test_fixture_t* b, int64_t columns) {
  static const float zeros[1024];
  tenon_value_t parts[2] = {{0}};
  const tenon_value_t x = test_input(b, "x", DIMS(ROWS, columns));
  const tenon_value_t w = test_floats(b, "w", zeros, DIMS(8, columns));
  const tenon_value_t h = test_unary(b, "test.ramp/1", "h", x);
  EXPECT_STATUS(b->build->begin(b->builder, "test.part/1", "parts"), TENON_OK);
  EXPECT_STATUS(b->build->add_input(b->builder, h), TENON_OK);
  EXPECT_STATUS(b->build->attribute_int(b->builder, "axis", 0), TENON_OK);
  EXPECT_STATUS(b->build->output_count(b->builder, 2), TENON_OK);
  EXPECT_STATUS(b->build->end(b->builder, parts, 2), TENON_OK);
  const tenon_value_t y = test_node(b, "test.dense/1", "dense", parts[1], w, NO_VALUE);
  add_output(b, y);
}

static void run_once(core_world_t* world, int64_t columns) {
  static const float zeros[64];
  EXPECT_STATUS(core_world_set(world, 0, TENON_DTYPE_FLOAT32, DIMS(ROWS, columns), zeros),
                TENON_OK);
  core_world_expect_ran(world);
}

/* Two rows of 8 floats are 64 bytes, of 4 they are 32. */
TENON_TEST(a_part_is_copied_where_it_begins_between) {
  const tenon_kernel_t kernel = wants_input();
  for (int64_t columns = 4; columns <= 8; columns += 4) {
    char text[512];
    core_world_t world;
    core_world_begin(&world, &kernel, 1);
    make_parts(&world.fixture, columns);
    EXPECT_TEXT(build_steps(&world, text),
                columns == 8 ? "expressions/evaluator aligned/input"
                             : "expressions/evaluator moves/evaluator aligned/input");
    run_once(&world, columns);
    core_world_end(&world);
  }
}

/* Nobody knows where the application's tensors begin. */
TENON_TEST(what_the_application_gives_and_gets_is_copied) {
  tenon_kernel_t kernel = wants_input();
  for (int k = 0; k < 2; ++k) {
    char text[512];
    core_world_t world;
    core_world_begin(&world, &kernel, 1);
    make_ones(&world.fixture, ROWS, 8);
    EXPECT_TEXT(build_steps(&world, text),
                k == 0 ? "moves/evaluator aligned/input" : "aligned/output moves/evaluator");
    run_once(&world, 8);
    core_world_end(&world);
    kernel.tactics = with_aligned_output;
    kernel.enqueue = run_aligned_output;
  }
}
