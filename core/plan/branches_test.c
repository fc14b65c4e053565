/* Which lanes steps are put on, what they wait for, and what their values' memory may then be. */
#include "core/plan/branches.h"

#include "core/plan/test_scene.h"

enum { DEVICE = 1 };

/* For a device with several streams; times are seconds, in the order of the steps. */
static tenon_status_t plan_lanes(scene_t* s, const double* seconds, uint32_t limit) {
  s->plan->device_count = 2;
  s->plan->devices[DEVICE] =
      (tenon__plan_device_t){.name = "far", .fingerprint = "", .lane_limit = limit};
  for (uint32_t k = 0; k < s->schedule->place_count; ++k) {
    s->schedule->places[k].space = DEVICE;
  }
  for (uint32_t k = 0; k < s->schedule->step_count; ++k) {
    s->schedule->steps[k].device = DEVICE;
    s->schedule->steps[k].measured_seconds = seconds[k];
    s->schedule->steps[k].tactic.flags = TENON_TACTIC_RECORDABLE;
  }
  return plan(s, 1);
}

static uint32_t lane(const scene_t* s, uint32_t step) {
  return s->schedule->steps[step].lane;
}

static bool shares(const scene_t* s, uint32_t a, uint32_t b) {
  const tenon__place_t* x = place_of(s, a);
  const tenon__place_t* y = place_of(s, b);
  return x->offset < y->offset + y->size_bytes && y->offset < x->offset + x->size_bytes;
}

/* x; a chain of three beside one of one; what reads both. Sizes keep outputs out of inputs. */
typedef struct fork_t {
  scene_t s;
  uint32_t x;
  uint32_t left[3];
  uint32_t right;
  uint32_t sum;
} fork_t;

static bool start_fork(fork_t* f) {
  scene_t* s = &f->s;
  if (!start(s, tenon__allocator_default(), 1)) {
    return false;
  }
  f->x = add_arena(s, 100);
  for (int k = 0; k < 3; ++k) {
    f->left[k] = add_arena(s, 200 + 10 * k);
  }
  f->right = add_arena(s, 250);
  f->sum = add_arena(s, 300);
  (void)add_step(s, NOTHING, PLACES(f->x));
  (void)add_step(s, PLACES(f->x), PLACES(f->left[0]));
  (void)add_step(s, PLACES(f->left[0]), PLACES(f->left[1]));
  (void)add_step(s, PLACES(f->left[1]), PLACES(f->left[2]));
  (void)add_step(s, PLACES(f->x), PLACES(f->right));
  (void)add_step(s, PLACES(f->left[2], f->right), PLACES(f->sum));
  add_output(s, f->sum);
  return true;
}

static const double short_times[] = {2e-6, 2e-6, 2e-6, 2e-6, 2e-6, 2e-6};

TENON_TEST(a_branch_has_a_lane_of_its_own) {
  fork_t f;
  REQUIRE(start_fork(&f));
  EXPECT_STATUS(plan_lanes(&f.s, short_times, 4), TENON_OK);
  for (uint32_t step = 0; step < 6; ++step) {
    EXPECT_INT(lane(&f.s, step), step == 4 ? 1 : 0);
  }
  EXPECT_INT(tenon__plan_lane_count(f.s.plan, DEVICE), 2);
  EXPECT_INT(tenon__plan_lane_count(f.s.plan, 0), 1);
  stop(&f.s);
}

TENON_TEST(in_a_row_memory_is_shared_and_side_by_side_it_is_not) {
  fork_t f;
  REQUIRE(start_fork(&f));
  EXPECT_STATUS(plan_lanes(&f.s, short_times, 1), TENON_OK);
  EXPECT(shares(&f.s, f.right, f.left[0]) || shares(&f.s, f.right, f.left[1]));
  const uint64_t in_a_row = f.s.schedule->memory_bytes[DEVICE];
  stop(&f.s);
  REQUIRE(start_fork(&f));
  EXPECT_STATUS(plan_lanes(&f.s, short_times, 4), TENON_OK);
  for (int k = 0; k < 3; ++k) {
    EXPECT(!shares(&f.s, f.right, f.left[k]));
  }
  EXPECT(!shares(&f.s, f.left[0], f.left[1])); /* as before */
  EXPECT(f.s.schedule->memory_bytes[DEVICE] > in_a_row);
  stop(&f.s);
}

TENON_TEST(what_is_not_worth_it_stays_in_a_row) {
  /* One takes nearly all; each fills the device; nobody allows it. */
  static const double times[][6] = {{1e-6, 90e-6, 90e-6, 90e-6, 0.5e-6, 1e-6},
                                    {50e-6, 50e-6, 50e-6, 50e-6, 50e-6, 50e-6},
                                    {2e-6, 2e-6, 2e-6, 2e-6, 2e-6, 2e-6}};
  for (int k = 0; k < 3; ++k) {
    fork_t f;
    REQUIRE(start_fork(&f));
    EXPECT_STATUS(plan_lanes(&f.s, times[k], k == 2 ? 0 : 4), TENON_OK);
    EXPECT_INT(tenon__plan_lane_count(f.s.plan, DEVICE), 1);
    stop(&f.s);
  }
}

TENON_TEST(steps_that_are_not_recorded_end_what_is_beside_one_another) {
  fork_t f;
  REQUIRE(start_fork(&f));
  f.s.schedule->steps[3].kind = TENON_STEP_COPY;
  EXPECT_STATUS(plan_lanes(&f.s, short_times, 4), TENON_OK);
  EXPECT_INT(tenon__plan_lane_count(f.s.plan, DEVICE), 1);
  stop(&f.s);
}

TENON_TEST(an_input_that_others_read_meanwhile_is_not_taken_over) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t x = add_arena(&s, 100);
  const uint32_t left = add_arena(&s, 120);
  const uint32_t right = add_arena(&s, 100);
  const uint32_t sum = add_arena(&s, 140);
  (void)add_step(&s, NOTHING, PLACES(x));
  (void)add_step(&s, PLACES(x), PLACES(left));
  (void)add_step(&s, PLACES(x), PLACES(right)); /* may write over x, which the other reads */
  (void)add_step(&s, PLACES(left, right), PLACES(sum));
  add_output(&s, sum);
  EXPECT_STATUS(plan_lanes(&s, short_times, 4), TENON_OK);
  EXPECT_INT(lane(&s, 2), 1);
  EXPECT_INT(place_of(&s, right)->alias, TENON_NONE);
  EXPECT(!shares(&s, x, right));
  stop(&s);
}

/* ---- What waits for what ---- */

TENON_TEST(parts_of_a_whole_are_written_at_the_same_time) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t whole = add_arena(&s, 200);
  const uint32_t left = add_view(&s, TENON_STORAGE_PART, whole, 100);
  const uint32_t right = add_view(&s, TENON_STORAGE_PART, whole, 100);
  const uint32_t result = add_arena(&s, 10);
  (void)add_step(&s, NOTHING, PLACES(left));
  (void)add_step(&s, NOTHING, PLACES(right));
  (void)add_step(&s, PLACES(whole), PLACES(result));
  add_output(&s, result);
  EXPECT_STATUS(plan_lanes(&s, short_times, 4), TENON_OK);
  EXPECT_INT(lane(&s, 0), 0);
  EXPECT_INT(lane(&s, 1), 1);
  tenon__arena_t arena;
  tenon__ordering_t order;
  tenon__before_t known = {{0}};
  tenon__before_t needs;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_STATUS(tenon__ordering_begin(&arena, s.schedule, 0, 3, &order), TENON_OK);
  tenon__ordering_place(&order, 0, &known);
  tenon__ordering_needs(&order, &known, &needs);
  EXPECT_INT(needs.steps[0], 0);
  tenon__ordering_place(&order, 1, &known);
  known = (tenon__before_t){{0}};
  tenon__ordering_needs(&order, &known, &needs);
  EXPECT_INT(needs.steps[0], 1);
  EXPECT_INT(needs.steps[1], 2);
  tenon__arena_deinitialize(&arena);
  stop(&s);
}

TENON_TEST(memory_that_two_values_have_in_turn_is_waited_for) {
  fork_t f;
  REQUIRE(start_fork(&f));
  EXPECT_STATUS(plan_lanes(&f.s, short_times, 4), TENON_OK);
  static const char memory[100];
  tenon__arena_t arena;
  tenon__ordering_t order;
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_STATUS(tenon__ordering_begin(&arena, f.s.schedule, 0, 6, &order), TENON_OK);
  /* As if `right` lay where left[0] did: it is written when step 2 has read that. */
  for (uint32_t k = 0; k < order.use_begin[6]; ++k) {
    const uint32_t root = order.uses[k].root;
    const int at = root == f.right || root == f.left[0] ? 0 : 10 * (int)(root + 1);
    order.uses[k].begin = memory + at;
    order.uses[k].end = memory + at + 10;
  }
  for (uint32_t step = 0; step < 6; ++step) {
    tenon__before_t known = {{0}};
    tenon__before_t needs;
    tenon__ordering_needs(&order, &known, &needs);
    if (step == 4) {
      EXPECT_INT(needs.steps[0], 3);
    }
    tenon__ordering_place(&order, lane(&f.s, step), &known);
  }
  tenon__arena_deinitialize(&arena);
  stop(&f.s);
}
