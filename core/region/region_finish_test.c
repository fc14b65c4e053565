/* What a plugin is told of a region's values. */
#include "core/region/region_finish.h"

#include "core/base/test.h"
#include "core/dimension/dimension_pool.h"
#include "core/network/test_operators.h"
#include "core/region/region_table.h"

typedef struct world_t {
  test_fixture_t fixture;
  tenon__arena_t arena;
  tenon__profile_t profile;
  struct tenon_region_t region;
} world_t;

/* x and w of test.dense/1, which reads them in that order. */
static bool open_world(world_t* world, bool w_is_constant, uint32_t x_kind) {
  static const float data[16] = {0};
  memset(world, 0, sizeof *world);
  tenon__arena_initialize(&world->arena, tenon__allocator_default());
  if (!test_fixture_open(&world->fixture, tenon__allocator_default())) {
    return false;
  }
  test_fixture_t* b = &world->fixture;
  const tenon_value_t x = test_input(b, "x", DIMS(4, 8));
  const tenon_value_t w =
      w_is_constant ? test_floats(b, "w", data, DIMS(2, 8)) : test_input(b, "w", DIMS(2, 8));
  const tenon_value_t y = test_binary(b, "test.dense/1", "dense", x, w);
  test_value(b, x)->type.kind = x_kind;
  tenon__extents_t* points[3] = {&world->profile.min, &world->profile.optimum, &world->profile.max};
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_STATUS(tenon__extents_create(&world->arena, b->network->pool, points[p]), TENON_OK);
    tenon__extents_update(points[p]);
  }
  EXPECT_STATUS(tenon__region_of_node(&world->arena, b->network, 0, test_value(b, y)->producer,
                                      &world->region),
                TENON_OK);
  return tenon__region_finish(&world->arena, &world->profile, &world->region) == TENON_OK;
}

static const tenon_value_info_t* input_info(const world_t* world, uint32_t input) {
  const tenon_region_table_t* table = tenon__region_table();
  return table->value(&world->region, table->input(&world->region, input));
}

static void close_world(world_t* world) {
  tenon__arena_deinitialize(&world->arena);
  test_fixture_close(&world->fixture);
}

TENON_TEST(constants_are_told_as_such) {
  for (int is_constant = 0; is_constant < 2; ++is_constant) {
    world_t world;
    REQUIRE(open_world(&world, is_constant == 1, TENON_ARGUMENT_TENSOR));
    EXPECT_INT(input_info(&world, 0)->flags, 0);
    EXPECT(input_info(&world, 0)->constant_data == NULL);
    EXPECT_INT(input_info(&world, 1)->flags, is_constant == 1 ? TENON_VALUE_CONSTANT : 0);
    EXPECT((input_info(&world, 1)->constant_data != NULL) == (is_constant == 1));
    close_world(&world);
  }
}

TENON_TEST(containers_are_told_from_tensors) {
  static const uint32_t kinds[] = {TENON_ARGUMENT_TENSOR, TENON_ARGUMENT_SEQUENCE,
                                   TENON_ARGUMENT_OPTIONAL};
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    world_t world;
    REQUIRE(open_world(&world, false, kinds[k]));
    EXPECT_INT(input_info(&world, 0)->kind, kinds[k]);
    EXPECT_INT(input_info(&world, 1)->kind, TENON_ARGUMENT_TENSOR);
    close_world(&world);
  }
}

/* x is [-1, 8], of up to so many rows. */
static void tell_rows(int64_t most, const int64_t optimum[2], const int64_t max[2]) {
  world_t world;
  REQUIRE(open_world(&world, false, TENON_ARGUMENT_TENSOR));
  test_fixture_t* b = &world.fixture;
  const tenon_value_t x = test_input(b, "rows", DIMS(-1, 8));
  const tenon_value_t y = test_binary(b, "test.dense/1", "open", x, test_input(b, "v", DIMS(2, 8)));
  tenon__extents_t* points[3] = {&world.profile.min, &world.profile.optimum, &world.profile.max};
  const int64_t rows[3] = {1, most, most};
  const uint32_t symbol = tenon__dim_get(b->network->pool, test_value(b, x)->type.dims[0]).index;
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_STATUS(tenon__extents_create(&world.arena, b->network->pool, points[p]), TENON_OK);
    tenon__extents_set(points[p], symbol, rows[p]);
    tenon__extents_update(points[p]);
  }
  EXPECT_STATUS(
      tenon__region_of_node(&world.arena, b->network, 0, test_value(b, y)->producer, &world.region),
      TENON_OK);
  EXPECT_STATUS(tenon__region_finish(&world.arena, &world.profile, &world.region), TENON_OK);
  const tenon_value_info_t* info = input_info(&world, 0);
  for (uint32_t d = 0; d < 2; ++d) {
    EXPECT_INT(info->dims_opt[d], optimum[d]);
    EXPECT_INT(info->dims_max[d], max[d]);
  }
  close_world(&world);
}

TENON_TEST(bounds_that_nobody_can_count_with_are_none) {
  const int64_t most = TENON_ELEMENT_LIMIT / 8;
  tell_rows(most, DIMS(most, 8), DIMS(most, 8));
  tell_rows(most + 1, DIMS(1, 8), DIMS(-1, 8));
}
