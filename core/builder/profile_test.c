/* From ranges of inputs to numbers for every dimension: what is taken, what is refused by name. */
#include "core/builder/building.h"

#include "core/base/test.h"
#include "core/network/test_operators.h"

/* A build of one network, as far as the profile needs one. */
typedef struct scene_t {
  test_fixture_t fixture;
  tenon__plan_t* plan;
  tenon__build_options_t options;
  tenon__building_t building;
} scene_t;

static bool open_scene(scene_t* s) {
  memset(s, 0, sizeof(*s));
  if (!test_fixture_open(&s->fixture, tenon__allocator_default()) ||
      tenon__plan_create(tenon__allocator_default(), &s->plan) != TENON_OK) {
    return false;
  }
  s->options.sink = tenon__test_listen(&s->fixture.messages);
  return true;
}

/* The plan owns its network: the fixture's goes with it. */
static void begin(scene_t* s) {
  s->plan->network = s->fixture.network;
  s->building = (tenon__building_t){
      .allocator = tenon__allocator_default(), .options = &s->options, .plan = s->plan};
}

static void close_scene(scene_t* s) {
  s->plan->network = NULL;
  tenon__plan_destroy(s->plan);
  test_fixture_close(&s->fixture);
}

static int64_t extent_at(scene_t* s, const tenon__extents_t* point, tenon_value_t value,
                         uint32_t axis) {
  int64_t extent = -1;
  return tenon__extents_get(point, test_value(&s->fixture, value)->type.dims[axis], &extent)
             ? extent
             : -1;
}

static tenon__build_range_t range_of(const char* input, const int64_t* min, const int64_t* optimum,
                                     const int64_t* max) {
  return (tenon__build_range_t){input, test_extents(min), min, optimum, max};
}

TENON_TEST(ranges_become_numbers_for_what_follows_too) {
  scene_t s;
  REQUIRE(open_scene(&s));
  const tenon_value_t x = test_input(&s.fixture, "x", DIMS(-1, 3));
  const tenon_value_t y = test_permute(&s.fixture, "y", x, DIMS(1, 0));
  begin(&s);
  const tenon__build_range_t range = range_of("x", DIMS(1, 3), DIMS(4, 3), DIMS(16, 3));
  s.options.ranges = &range;
  s.options.range_count = 1;
  EXPECT_STATUS(tenon__building_narrow(&s.building), TENON_OK);
  EXPECT_STATUS(tenon__building_profile(&s.building), TENON_OK);
  EXPECT_INT(extent_at(&s, &s.plan->profile.min, y, 1), 1);
  EXPECT_INT(extent_at(&s, &s.plan->profile.optimum, y, 1), 4);
  EXPECT_INT(extent_at(&s, &s.plan->profile.max, y, 1), 16);
  EXPECT_INT(extent_at(&s, &s.plan->profile.max, y, 0), 3);
  EXPECT_TEXT(s.fixture.messages.text, "");
  close_scene(&s);
}

TENON_TEST(an_input_without_a_range_is_one_and_that_is_said) {
  scene_t s;
  REQUIRE(open_scene(&s));
  const tenon_value_t x = test_input(&s.fixture, "x", DIMS(-1));
  begin(&s);
  EXPECT_STATUS(tenon__building_narrow(&s.building), TENON_OK);
  EXPECT_CONTAINS(s.fixture.messages.text, "input 'x': axis 0 (");
  EXPECT_CONTAINS(s.fixture.messages.text, ") has no profile and is taken to be 1");
  EXPECT_STATUS(tenon__building_profile(&s.building), TENON_OK);
  EXPECT_INT(extent_at(&s, &s.plan->profile.max, x, 0), 1);
  close_scene(&s);
}

TENON_TEST(ranges_that_do_not_fit_are_refused_by_name) {
  const struct {
    tenon__build_range_t range;
    const char* message;
  } cases[] = {
      {range_of("z", DIMS(1, 3), DIMS(1, 3), DIMS(1, 3)), "names input 'z'"},
      {range_of("x", DIMS(1), DIMS(1), DIMS(1)), "gives input 'x' rank 1, it has 2"},
      {range_of("x", DIMS(2, 3), DIMS(1, 3), DIMS(4, 3)),
       "axis 0 of input 'x' 2..1..4, which is not in order"},
      {range_of("x", DIMS(2, 3), DIMS(5, 3), DIMS(4, 3)), "2..5..4, which is not in order"},
      {range_of("x", DIMS(1, 3), DIMS(1, 3), DIMS(1, 4)),
       "axis 1 of input 'x' 3..3..4, but its extent is fixed"},
  };
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); ++k) {
    scene_t s;
    REQUIRE(open_scene(&s));
    REQUIRE(test_input(&s.fixture, "x", DIMS(-1, 3)).id != 0);
    begin(&s);
    s.options.ranges = &cases[k].range;
    s.options.range_count = 1;
    EXPECT_STATUS(tenon__building_narrow(&s.building), TENON_ERROR_INVALID_ARGUMENT);
    EXPECT_CONTAINS(s.fixture.messages.text, cases[k].message);
    close_scene(&s);
  }
}

TENON_TEST(a_maximum_beyond_counting_is_refused) {
  scene_t s;
  REQUIRE(open_scene(&s));
  REQUIRE(test_input(&s.fixture, "x", DIMS(-1, -1)).id != 0);
  begin(&s);
  const tenon__build_range_t range = range_of("x", DIMS(1, 1), DIMS(1, 1), DIMS(INT64_MAX / 2, 4));
  s.options.ranges = &range;
  s.options.range_count = 1;
  EXPECT_STATUS(tenon__building_narrow(&s.building), TENON_OK);
  EXPECT_STATUS(tenon__building_profile(&s.building), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(s.fixture.messages.text, "maximum: 'x' has more than 2^48 elements");
  close_scene(&s);
}

/* Columns that the data decide, then products with weights that expect so many of them. */
static tenon_value_t add_products(scene_t* s, const int64_t* columns, size_t count) {
  static const float weights[32] = {0};
  const tenon_value_t all = test_input(&s->fixture, "x", DIMS(8));
  const tenon_value_t found = test_unary(&s->fixture, "test.compress/1", "found", all);
  const int64_t target[] = {1, -1};
  const tenon_value_t row = test_binary(&s->fixture, "test.reshape/1", "row", found,
                                        test_vector(&s->fixture, "target", target, 2));
  for (size_t k = 0; k < count; ++k) {
    const tenon_value_t w = test_floats(&s->fixture, "w", weights, DIMS(2, columns[k]));
    EXPECT(test_binary(&s->fixture, "test.dense/1", "y", row, w).id != 0);
  }
  return row;
}

TENON_TEST(guesses_follow_the_rules_of_operators) {
  const struct {
    int64_t columns[2];
    size_t count;
    int64_t guess;
    bool contradicts;
  } cases[] = {{{3}, 0, 8, false}, {{3}, 1, 3, false}, {{3, 3}, 2, 3, false}, {{3, 4}, 2, 3, true}};
  for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); ++k) {
    scene_t s;
    REQUIRE(open_scene(&s));
    const tenon_value_t row = add_products(&s, cases[k].columns, cases[k].count);
    begin(&s);
    EXPECT_STATUS(tenon__building_narrow(&s.building), TENON_OK);
    EXPECT_STATUS(tenon__building_profile(&s.building), TENON_OK);
    EXPECT_INT(extent_at(&s, &s.plan->profile.optimum, row, 1), cases[k].guess);
    EXPECT_INT(s.plan->profile.is_contradictory, cases[k].contradicts);
    close_scene(&s);
  }
}
