/* Neighbours' arithmetic in a kernel's slots, behind the operator, before it and beside its output:
 * taken where that pays. */
#include <time.h>

#include "tests/support/tactics_world.h"

/* x, dense, max(x, 0), y. */
static void make_dense_and_ramp(test_fixture_t* b) {
  const tenon_value_t h = add_dense(b, "dense", test_input(b, "x", DIMS(4, 8)));
  add_output(b, test_unary(b, "test.ramp/1", "ramp", h));
}

/* Takes its neighbours' arithmetic, but then it is slow: three milliseconds, where the step alone
 * and its neighbour take microseconds. */
TACTICS(dear_when_filled) {
  (void)state;
  return emit(to, add, table->slot_program(region, 0) != NULL ? "filled" : "empty", 0);
}

static tenon_status_t note_tactic(const tenon_prepare_t* call, void** out_instance) {
  bool* is_filled = call->host->allocate(call->preparation, sizeof(*is_filled));
  if (is_filled == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *is_filled = strcmp(call->tactic->name, "filled") == 0;
  *out_instance = is_filled;
  return TENON_OK;
}

static tenon_status_t wait_when_filled(const tenon_enqueue_t* call) {
  const struct timespec three_ms = {.tv_nsec = 3000000};
  if (*(const bool*)call->instance) {
    (void)nanosleep(&three_ms, NULL);
  }
  return core_write_zeros(call);
}

TENON_TEST(arithmetic_goes_into_a_slot_where_it_pays) {
  const tenon_kernel_t cheap = slot_kernel("slot", fast);
  tenon_kernel_t dear = slot_kernel("slot", dear_when_filled);
  char text[512];
  core_world_t world;
  core_world_begin(&world, &cheap, 1);
  make_dense_and_ramp(&world.fixture);
  EXPECT_TEXT(build_steps(&world, text), "slot/first");
  core_world_end(&world);
  dear.prepare = note_tactic;
  dear.enqueue = wait_when_filled;
  core_world_begin(&world, &dear, 1);
  make_dense_and_ramp(&world.fixture);
  world.options.tuning.no_measuring = false;
  EXPECT_TEXT(build_steps(&world, text), "slot/empty expressions/evaluator");
  core_world_end(&world);
  core_world_begin(&world, &cheap, 1);
  make_dense_and_ramp(&world.fixture);
  world.options.tuning.no_fusion = true;
  EXPECT_TEXT(build_steps(&world, text), "slot/first expressions/evaluator");
  core_world_end(&world);
}

TENON_TEST(a_closed_operator_is_named_as_a_barrier) {
  static const char barrier[] =
      "2 nodes at once: a barrier: no kernel of test.dense/1 has a slot for 'ramp'";
  tenon_kernel_t closed = slot_kernel("closed", fast);
  char text[512];
  closed.slots = (tenon_list_t){0};
  for (int k = 0; k < 3; ++k) {
    core_world_t world;
    core_world_begin(&world, &closed, 1);
    world.options.tuning.keep_refusals = k != 2;
    if (k == 1) { /* nothing follows */
      add_output(&world.fixture,
                 add_dense(&world.fixture, "dense", test_input(&world.fixture, "x", DIMS(4, 8))));
    } else {
      make_dense_and_ramp(&world.fixture);
    }
    EXPECT_TEXT(build_steps(&world, text),
                k == 1 ? "closed/first" : "closed/first expressions/evaluator");
    const char* refusals = schedule_of(&world)->steps[0].refusals;
    EXPECT(k == 0 ? strstr(refusals, barrier) != NULL
                  : refusals == NULL || strstr(refusals, "barrier") == NULL);
    core_world_end(&world);
  }
}

/* x, max(x, 0), dense, y. */
static void make_ramp_and_dense(test_fixture_t* b) {
  const tenon_value_t x = test_input(b, "x", DIMS(4, 8));
  add_output(b, add_dense(b, "dense", test_unary(b, "test.ramp/1", "ramp", x)));
}

static tenon_kernel_t with_prologue(tenon_kernel_t kernel) {
  static const tenon_slot_t prologue[] = {
      {.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_PROLOGUE}};
  kernel.slots = (tenon_list_t)TENON_LIST(prologue);
  return kernel;
}

static void expect_before(const tenon_kernel_t* kernel, bool measures, bool fuses,
                          const char* steps, const char* reason) {
  char text[512];
  core_world_t world;
  core_world_begin(&world, kernel, 1);
  make_ramp_and_dense(&world.fixture);
  world.options.tuning.no_measuring = !measures;
  world.options.tuning.no_fusion = !fuses;
  world.options.tuning.keep_refusals = true;
  EXPECT_TEXT(build_steps(&world, text), steps);
  EXPECT_CONTAINS(refusals_of(&world, schedule_of(&world)->step_count - 1), reason);
  core_world_end(&world);
}

TENON_TEST(arithmetic_goes_before_an_operator_where_it_pays) {
  tenon_kernel_t kernel = with_prologue(slot_kernel("slot", dear_when_filled));
  kernel.prepare = note_tactic;
  kernel.enqueue = wait_when_filled;
  expect_before(&kernel, true, true, "expressions/evaluator slot/empty",
                "tests:slot: 2 nodes at once measured");
  kernel.enqueue = core_write_zeros; /* as fast with it as without */
  expect_before(&kernel, true, true, "slot/filled", "2 nodes one by one: measured");
}

TACTICS(says_dear_when_filled) {
  (void)state;
  return table->slot_program(region, 0) != NULL ? emit(to, add, "filled", 1)
                                                : emit(to, add, "empty", 1e-6);
}

TENON_TEST(arithmetic_goes_before_an_operator_unmeasured_where_nobody_knows_better) {
  const tenon_kernel_t silent = with_prologue(slot_kernel("slot", dear_when_filled));
  const tenon_kernel_t cheap = with_prologue(slot_kernel("slot", fast));
  const tenon_kernel_t dear = with_prologue(slot_kernel("slot", says_dear_when_filled));
  expect_before(&silent, false, true, "slot/filled", "");
  expect_before(&silent, false, false, "expressions/evaluator slot/empty", "");
  expect_before(&cheap, false, true, "slot/first", "");
  expect_before(&dear, false, true, "expressions/evaluator slot/empty", "");
}

/* The product leaves, and so does max(product, 0). */
TENON_TEST(a_value_leaves_beside_an_output_where_it_pays) {
  static const tenon_slot_t side[] = {{.size = sizeof(tenon_slot_t), .kind = TENON_SLOT_SIDE}};
  tenon_kernel_t cheap = slot_kernel("slot", fast);
  tenon_kernel_t dear = slot_kernel("slot", dear_when_filled);
  cheap.slots = dear.slots = (tenon_list_t)TENON_LIST(side);
  dear.prepare = note_tactic;
  dear.enqueue = wait_when_filled;
  for (int k = 0; k < 2; ++k) {
    char text[512];
    core_world_t world;
    core_world_begin(&world, k == 0 ? &cheap : &dear, 1);
    test_fixture_t* b = &world.fixture;
    const tenon_value_t y = add_dense(b, "dense", test_input(b, "x", DIMS(4, 8)));
    add_output(b, y);
    EXPECT_STATUS(b->build->output(b->builder, test_unary(b, "test.ramp/1", "ramp", y), "z"),
                  TENON_OK);
    world.options.tuning.no_measuring = k == 0;
    EXPECT_TEXT(build_steps(&world, text),
                k == 0 ? "slot/first" : "slot/empty expressions/evaluator");
    core_world_end(&world);
  }
}

/* ---- Weights ---- */

static tenon_status_t need_the_others(const tenon_enqueue_t* call) {
  for (uint32_t k = 0; k < call->input_count; ++k) {
    if (k != 1 && call->inputs[k].tensor.data == NULL) {
      return call->host->fail(call->run, TENON_ERROR_INTERNAL, "an input is gone");
    }
  }
  return core_do_nothing(call);
}

/* The epilogue reads, as they are, the weights that the kernel packs: the plan keeps both. */
TENON_TEST(packed_weights_that_the_epilogue_reads_stay) {
  static const float zeros[64];
  tenon_kernel_t kernel = slot_kernel("packing", fast);
  char text[512];
  core_world_t world;
  kernel.prepare = core_pack_second;
  kernel.enqueue = need_the_others;
  core_world_begin(&world, &kernel, 1);
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(8, 8));
  const tenon_value_t w = test_floats(b, "w", zeros, DIMS(8, 8));
  const tenon_value_t y = test_node(b, "test.dense/1", "dense", x, w, NO_VALUE);
  add_output(b, test_binary(b, "test.plus/1", "plus", y, w));
  world.options.tuned_only = true;
  EXPECT_TEXT(build_steps(&world, text), "packing/first");
  EXPECT_STATUS(core_world_set(&world, 0, TENON_DTYPE_FLOAT32, DIMS(8, 8), zeros), TENON_OK);
  core_world_expect_ran(&world);
  core_world_end(&world);
}
