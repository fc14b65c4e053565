/* How inputs lie as views, and that trials give them so to who takes them as they lie. */
#include "core/fusion/view_orders.h"

#include "core/base/test.h"
#include "core/rehearsal/test_rehearsal.h"

enum { COUNT = 24 };

/* ---- Kernels that look at where their input lies ---- */

/* Twice the input, of [2, 4, 3], wherever it lies. */
static tenon_status_t twice(const fake_call_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  for (int64_t k = 0; k < COUNT; ++k) {
    const int64_t at = k / 12 * x->strides[0] + k / 3 % 4 * x->strides[1] + k % 3 * x->strides[2];
    ((float*)call->outputs[0].tensor.data)[k] = 2 * ((const float*)x->data)[at];
  }
  return TENON_OK;
}

/* As the transpose of rows of [2, 3, 4]. */
static tenon_status_t twice_of_a_view(const fake_call_t* call) {
  const int64_t* strides = call->inputs[0].tensor.strides;
  EXPECT_INT(strides[0], 12);
  EXPECT_INT(strides[1], 1);
  EXPECT_INT(strides[2], 4);
  return twice(call);
}

static tenon_status_t twice_of_rows(const fake_call_t* call) {
  EXPECT_INT(call->inputs[0].tensor.strides[1], 3);
  EXPECT_INT(call->inputs[0].tensor.strides[2], 1);
  return twice(call);
}

/* ---- Networks ---- */

/* [2, 12], or [2, 3, 4] already, turned to [2, 4, 3]. */
static tenon_value_t turned(rehearsal_world_t* world, bool reshapes) {
  static const int64_t dims[] = {2, 3, 4};
  test_fixture_t* f = &world->fixture;
  tenon_value_t x = test_input(f, "x", DIMS(2, 12));
  x = reshapes ? test_binary(f, "test.reshape/1", "shaped", x, test_vector(f, "dims", dims, 3))
               : test_unary(f, "test.ramp/1", "computed", test_input(f, "y", DIMS(2, 3, 4)));
  return test_permute(f, "turned", x, DIMS(0, 2, 1));
}

static void expect_order(rehearsal_world_t* world) {
  const uint32_t* order = world->region.inputs[0].order;
  EXPECT_STATUS(tenon__view_orders_find(&world->tuning, &world->region), TENON_OK);
  EXPECT(order == NULL);
  order = world->region.inputs[0].order;
  EXPECT(order != NULL && order[0] == 0 && order[1] == 2 && order[2] == 1);
}

TENON_TEST(trials_give_a_view_to_who_takes_it_as_it_lies) {
  static const tenon_argument_rule_t any = {.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  for (int reshapes = 0; reshapes < 2; ++reshapes) {
    rehearsal_world_t world;
    fake_t of_a_view = {.compute = twice_of_a_view, .input_rules = &any};
    fake_t of_rows = {.compute = twice_of_rows};
    REQUIRE(rehearsal_world_open(&world));
    rehearsal_world_begin(&world, test_unary(&world.fixture, "test.scale/1", "scaled",
                                             turned(&world, reshapes != 0)));
    expect_order(&world);
    EXPECT_INT(rehearsal_world_try(&world, &of_a_view).tried, TENON_TRIED_WELL);
    EXPECT_INT(of_a_view.call_count > 0, 1);
    EXPECT_INT(rehearsal_world_try(&world, &of_rows).tried, TENON_TRIED_WELL);
    rehearsal_world_close(&world);
  }
}

TENON_TEST(what_is_no_view_or_lies_in_rows_has_no_order) {
  static const int64_t dims[] = {2, 3, 4};
  for (int is_view = 0; is_view < 2; ++is_view) {
    rehearsal_world_t world;
    REQUIRE(rehearsal_world_open(&world));
    test_fixture_t* f = &world.fixture;
    const tenon_value_t x = test_input(f, "x", DIMS(2, 12));
    rehearsal_world_begin(&world,
                          test_unary(f, "test.scale/1", "scaled",
                                     is_view != 0 ? test_binary(f, "test.reshape/1", "shaped", x,
                                                                test_vector(f, "dims", dims, 3))
                                                  : x));
    EXPECT_STATUS(tenon__view_orders_find(&world.tuning, &world.region), TENON_OK);
    EXPECT(world.region.inputs[0].order == NULL);
    rehearsal_world_close(&world);
  }
}
