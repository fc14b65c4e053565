/* Candidates are tried on one set of data, and what they must not do is seen. */
#include "core/rehearsal/rehearsal.h"

#include "core/base/test.h"
#include "core/rehearsal/test_rehearsal.h"

enum { COUNT = 8 };

static const float* input_of(const fake_call_t* call) {
  return call->inputs[0].tensor.data;
}

static float* output_of(const fake_call_t* call) {
  return call->outputs[0].tensor.data;
}

/* ---- What the candidates compute ---- */

static tenon_status_t times_two(const fake_call_t* call) {
  for (int k = 0; k < COUNT; ++k) {
    output_of(call)[k] = 2 * input_of(call)[k];
  }
  return TENON_OK;
}

static tenon_status_t plus_itself(const fake_call_t* call) {
  for (int k = 0; k < COUNT; ++k) {
    output_of(call)[k] = input_of(call)[k] + input_of(call)[k];
  }
  return TENON_OK;
}

static tenon_status_t infinite_once(const fake_call_t* call) {
  (void)times_two(call);
  output_of(call)[3] = HUGE_VALF;
  return TENON_OK;
}

static tenon_status_t all_but_one(const fake_call_t* call) {
  const float kept = output_of(call)[5];
  (void)times_two(call);
  output_of(call)[5] = kept;
  return TENON_OK;
}

static tenon_status_t spoil_input(const fake_call_t* call) {
  (void)times_two(call);
  ((float*)call->inputs[0].tensor.data)[0] = 7;
  return TENON_OK;
}

static tenon_status_t fail(const fake_call_t* call) {
  return call->host->fail(call->run, TENON_ERROR_INTERNAL, "out of ink");
}

/* ---- One candidate ---- */

static tenon_value_t scaled(rehearsal_world_t* world) {
  return test_unary(&world->fixture, "test.scale/1", "scaled",
                    test_input(&world->fixture, "x", DIMS(COUNT)));
}

static tenon__outcome_t try_alone(tenon_status_t (*compute)(const fake_call_t*)) {
  rehearsal_world_t world;
  fake_t fake = {.compute = compute};
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world, scaled(&world));
  tenon__outcome_t outcome = rehearsal_world_try(&world, &fake);
  if (outcome.tried == TENON_TRIED_WRONGLY || outcome.tried == TENON_TRIED_FAILED) {
    static char message[256]; /* the world's end with it */
    (void)snprintf(message, sizeof message, "%s", outcome.refusal.detail);
    outcome.refusal.detail = message;
  }
  rehearsal_world_close(&world);
  return outcome;
}

TENON_TEST(who_computes_and_nothing_else_is_tried_well) {
  EXPECT_INT(try_alone(times_two).tried, TENON_TRIED_WELL);
}

TENON_TEST(an_element_that_is_not_written_is_named) {
  const tenon__outcome_t outcome = try_alone(all_but_one);
  EXPECT_INT(outcome.tried, TENON_TRIED_WRONGLY);
  EXPECT_INT(outcome.refusal.reason, TENON_REFUSAL_WRONG);
  EXPECT_CONTAINS(outcome.refusal.detail, "does not write 1 of 8 elements, the first of them [5]");
}

TENON_TEST(an_input_that_is_written_is_named) {
  const tenon__outcome_t outcome = try_alone(spoil_input);
  EXPECT_INT(outcome.tried, TENON_TRIED_WRONGLY);
  EXPECT_CONTAINS(outcome.refusal.detail, "writes to its input 0, 'x'");
}

TENON_TEST(a_failure_is_kept_in_the_kernels_words) {
  const tenon__outcome_t outcome = try_alone(fail);
  EXPECT_INT(outcome.tried, TENON_TRIED_FAILED);
  EXPECT_CONTAINS(outcome.refusal.detail, "out of ink");
}

/* ---- Extents that a kernel finds ---- */

static tenon_status_t find(const fake_call_t* call, int64_t count, int64_t left_open) {
  void* data = NULL;
  const tenon_status_t status = call->host->allocate_output(call->run, 0, 1, &count, &data);
  for (int64_t k = 0; status == TENON_OK && k < count; ++k) {
    if (k != left_open) {
      ((float*)data)[k] = 1;
    }
  }
  return status;
}

static tenon_status_t find_all(const fake_call_t* call) {
  return find(call, 4, -1);
}

static tenon_status_t find_all_but_one(const fake_call_t* call) {
  return find(call, 4, 2);
}

/* As many as before, then many more: after what was to be looked at was counted. */
static tenon_status_t find_more_each_time(const fake_call_t* call) {
  return find(call, call->number < 2 ? 4 : 1 << 20, 2);
}

static tenon_status_t find_fewer_the_second_time(const fake_call_t* call) {
  return find(call, call->number == 0 ? 4 : 3, -1);
}

static tenon__outcome_t try_found(tenon_status_t (*compute)(const fake_call_t*)) {
  rehearsal_world_t world;
  fake_t fake = {.compute = compute};
  static char message[256]; /* the world's end with it */
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world, test_unary(&world.fixture, "test.compress/1", "found",
                                           test_input(&world.fixture, "x", DIMS(COUNT))));
  tenon__outcome_t outcome = rehearsal_world_try(&world, &fake);
  (void)snprintf(message, sizeof message, "%s",
                 outcome.tried == TENON_TRIED_WELL ? "" : outcome.refusal.detail);
  outcome.refusal.detail = message;
  rehearsal_world_close(&world);
  return outcome;
}

TENON_TEST(extents_that_are_found_are_looked_at) {
  EXPECT_INT(try_found(find_all).tried, TENON_TRIED_WELL);
  const tenon__outcome_t outcome = try_found(find_all_but_one);
  EXPECT_INT(outcome.tried, TENON_TRIED_WRONGLY);
  EXPECT_CONTAINS(outcome.refusal.detail, "does not write 1 of 4 elements, the first of them [2]");
}

TENON_TEST(the_same_inputs_have_the_same_extents) {
  tenon_status_t (*const computes[])(const fake_call_t*) = {find_more_each_time,
                                                            find_fewer_the_second_time};
  for (size_t k = 0; k < sizeof computes / sizeof *computes; ++k) {
    const tenon__outcome_t outcome = try_found(computes[k]);
    EXPECT_INT(outcome.tried, TENON_TRIED_WRONGLY);
    EXPECT_CONTAINS(outcome.refusal.detail, "finds other extents from the same inputs");
  }
}

/* A kernel counts on its operator's rules, which guesses may break. */
TENON_TEST(contradictory_guesses_are_not_tried) {
  for (int contradicts = 0; contradicts < 2; ++contradicts) {
    rehearsal_world_t world;
    fake_t fake = {.compute = find_all};
    REQUIRE(rehearsal_world_open(&world));
    rehearsal_world_begin(&world, test_unary(&world.fixture, "test.compress/1", "found",
                                             test_input(&world.fixture, "x", DIMS(COUNT))));
    memset(world.profile.min.symbol_known, 0, world.profile.min.symbol_count);
    tenon__extents_update(&world.profile.min);
    world.profile.is_contradictory = contradicts != 0;
    const tenon__outcome_t outcome = rehearsal_world_try(&world, &fake);
    EXPECT_INT(outcome.tried, contradicts != 0 ? TENON_TRIED_NOT : TENON_TRIED_WELL);
    rehearsal_world_close(&world);
  }
}

/* ---- Several candidates ---- */

TENON_TEST(those_who_agree_give_one_answer) {
  rehearsal_world_t world;
  fake_t first = {.compute = times_two, .name = "first"};
  fake_t second = {.compute = plus_itself, .name = "second"};
  fake_t third = {.compute = infinite_once, .name = "third"};
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world, scaled(&world));
  EXPECT_INT(rehearsal_world_try(&world, &first).answer, 0);
  EXPECT_INT(rehearsal_world_try(&world, &second).answer, 0);
  EXPECT_INT(rehearsal_world_try(&world, &third).answer, 1);
  EXPECT_INT(world.rehearsal.answer_count, 2);
  EXPECT_INT(world.rehearsal.answers[0].kernel_count, 2);
  EXPECT_INT(world.rehearsal.answers[1].kernel_count, 1);
  rehearsal_world_close(&world);
}

TENON_TEST(one_kernel_counts_once) {
  rehearsal_world_t world;
  fake_t fake = {.compute = times_two};
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world, scaled(&world));
  EXPECT_INT(rehearsal_world_try(&world, &fake).answer, 0);
  EXPECT_INT(rehearsal_world_try(&world, &fake).answer, 0);
  EXPECT_INT(world.rehearsal.answers[0].kernel_count, 1);
  rehearsal_world_close(&world);
}

TENON_TEST(the_nodes_answer_beside_a_kernel_that_is_alone) {
  rehearsal_world_t world;
  fake_t fake = {.compute = times_two};
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world, scaled(&world));
  EXPECT_INT(rehearsal_world_try(&world, &fake).answer, 0);
  EXPECT_STATUS(tenon__rehearsal_ask_nodes(&world.rehearsal), TENON_OK);
  EXPECT_INT(world.rehearsal.answer_count, 1);
  EXPECT_INT(world.rehearsal.answers[0].kernel_count, 2);
  rehearsal_world_close(&world);
}

TENON_TEST(what_is_not_repeatable_is_not_compared) {
  rehearsal_world_t world;
  fake_t fake = {.compute = infinite_once};
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world, test_unary(&world.fixture, "test.dice/1", "dice",
                                           test_input(&world.fixture, "x", DIMS(COUNT))));
  const tenon__outcome_t outcome = rehearsal_world_try(&world, &fake);
  EXPECT_INT(outcome.tried, TENON_TRIED_WELL);
  EXPECT_INT(outcome.answer, TENON_NONE);
  rehearsal_world_close(&world);
}

/* ---- What it costs ---- */

/* The nodes are not computed one by one where that takes seconds: there are no data here. */
TENON_TEST(the_nodes_are_not_asked_where_that_is_dear) {
  rehearsal_world_t world;
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_begin(&world,
                        test_unary(&world.fixture, "test.exponential/1", "large",
                                   test_input(&world.fixture, "x", DIMS(1 << 15, 1 << 15))));
  world.rehearsal.can_be_tried = true;
  world.rehearsal.answer_count = 1;
  EXPECT_STATUS(tenon__rehearsal_ask_nodes(&world.rehearsal), TENON_OK);
  EXPECT_INT(world.rehearsal.answer_count, 1);
  EXPECT_INT(world.rehearsal.answers[0].kernel_count, 0);
  rehearsal_world_close(&world);
}

/* How often the reference is asked in two rehearsals of one kernel. It takes milliseconds. */
static uint32_t ask_twice(tenon_status_t (*compute)(const fake_call_t*)) {
  static const char* const takes[] = {"test.laborious/1", NULL};
  fake_t reference = {
      .compute = times_two, .name = "oracle", .flags = TENON_KERNEL_REFERENCE, .operators = takes};
  fake_t fake = {.compute = compute};
  rehearsal_world_t world;
  EXPECT(rehearsal_world_open(&world));
  rehearsal_world_offer(&world, &reference);
  rehearsal_world_begin(&world, test_unary(&world.fixture, "test.laborious/1", "y",
                                           test_input(&world.fixture, "x", DIMS(COUNT))));
  EXPECT_INT(rehearsal_world_try(&world, &fake).answer, 0);
  for (int k = 0; k < 2; ++k) {
    world.rehearsal.answer_count = 1; /* as in a rehearsal of its own */
    world.rehearsal.answers[0].kernel_count = 1;
    EXPECT_STATUS(tenon__rehearsal_ask_nodes(&world.rehearsal), TENON_OK);
  }
  rehearsal_world_close(&world);
  return reference.call_count;
}

TENON_TEST(a_laborious_reference_is_asked_until_a_kernel_agrees) {
  EXPECT_INT(ask_twice(times_two), 1);
  EXPECT_INT(ask_twice(infinite_once), 2);
}

static bool memory_is_out = false;

static void* resize(void* user, void* memory, size_t old_size, size_t new_size) {
  const tenon_allocator_t allocator = tenon__allocator_default();
  (void)user;
  return memory_is_out && new_size > old_size
             ? NULL
             : allocator.resize(allocator.user, memory, old_size, new_size);
}

static tenon_status_t leave_all_open(const fake_call_t* call) {
  (void)call;
  memory_is_out = true;
  return TENON_OK;
}

/* The marks for so many elements do not fit into what an arena holds already. */
TENON_TEST(memory_that_the_host_lacks_is_no_fault_of_a_kernel) {
  rehearsal_world_t world;
  fake_t fake = {.compute = leave_all_open};
  tenon__outcome_t outcome;
  EXPECT(rehearsal_world_open(&world));
  world.tuning.allocator = (tenon_allocator_t){.resize = resize};
  rehearsal_world_begin(&world, test_unary(&world.fixture, "test.scale/1", "scaled",
                                           test_input(&world.fixture, "x", DIMS(1 << 20))));
  fake_finish(&fake);
  EXPECT_STATUS(tenon__rehearsal_try(&world.rehearsal, &fake.candidate, NULL, &outcome),
                TENON_ERROR_OUT_OF_MEMORY);
  memory_is_out = false;
  rehearsal_world_close(&world);
}
