/* Which outputs take over the memory of an input. */
#include "core/plan/test_scene.h"

TENON_TEST(a_chain_in_place_needs_one_block) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t x = add_place(&s, TENON_STORAGE_INPUT, constant(&s, 100));
  const uint32_t a = add_arena(&s, 100);
  const uint32_t b = add_arena(&s, 100);
  const uint32_t c = add_arena(&s, 100);
  (void)add_step(&s, PLACES(x), PLACES(a));
  (void)add_step(&s, PLACES(a), PLACES(b));
  (void)add_step(&s, PLACES(b), PLACES(c));
  add_output(&s, c);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(place_of(&s, a)->alias, TENON_NONE); /* inputs are not ours to overwrite */
  EXPECT_INT(place_of(&s, b)->alias, a);
  EXPECT_INT(place_of(&s, c)->alias, a); /* the owner, not another alias */
  EXPECT_INT(place_of(&s, a)->size_bytes, 400);
  EXPECT_INT(s.schedule->memory_bytes[0], 448);
  EXPECT_INT(s.schedule->alive_bytes[0], 448);
  stop(&s);
}

/* Each of these stops an output from taking over its input. */
typedef enum obstacle_t {
  OBSTACLE_NONE,
  OBSTACLE_READ_LATER,
  OBSTACLE_VIEW_READ_LATER,
  OBSTACLE_GRAPH_OUTPUT,
  OBSTACLE_SECOND_ARGUMENT,
  OBSTACLE_VIEW_AS_SECOND_ARGUMENT,
  OBSTACLE_OTHER_TYPE,
  OBSTACLE_OTHER_SIZE,
  OBSTACLE_OTHER_ORDER,
  OBSTACLE_HAS_PARTS,
  OBSTACLE_COUNT,
} obstacle_t;

static bool is_taken_over(obstacle_t obstacle) {
  scene_t s;
  if (!start(&s, tenon__allocator_default(), 1)) {
    return false;
  }
  static const uint32_t order[1] = {0};
  const uint32_t a = add_arena(&s, 100);
  const uint32_t b = add_arena(&s, obstacle == OBSTACLE_OTHER_SIZE ? 99 : 100);
  const uint32_t view = add_view(&s, TENON_STORAGE_VIEW, a, 100);
  const uint32_t last = add_arena(&s, 1);
  (void)add_step(&s, NOTHING, PLACES(a));
  if (obstacle == OBSTACLE_HAS_PARTS) {
    (void)add_step(&s, NOTHING, PLACES(add_view(&s, TENON_STORAGE_PART, b, 50)));
  }
  (void)(obstacle == OBSTACLE_SECOND_ARGUMENT           ? add_step(&s, PLACES(a, a), PLACES(b))
         : obstacle == OBSTACLE_VIEW_AS_SECOND_ARGUMENT ? add_step(&s, PLACES(a, view), PLACES(b))
                                                        : add_step(&s, PLACES(a), PLACES(b)));
  if (obstacle == OBSTACLE_READ_LATER) {
    (void)add_step(&s, PLACES(a, b), PLACES(last));
  } else if (obstacle == OBSTACLE_VIEW_READ_LATER) {
    (void)add_step(&s, PLACES(view, b), PLACES(last));
  } else if (obstacle == OBSTACLE_GRAPH_OUTPUT) {
    add_output(&s, a);
  } else if (obstacle == OBSTACLE_OTHER_TYPE) {
    s.graph->values[place_of(&s, b)->value].type.dtype = TENON_DTYPE_FLOAT16;
  } else if (obstacle == OBSTACLE_OTHER_ORDER) {
    /* The only order of one dimension: it must not stand in the way. */
    s.schedule->places[b].order = order;
  }
  add_output(&s, b);
  const bool planned = plan(&s, 1) == TENON_OK;
  const bool taken = place_of(&s, b)->alias == a;
  const bool apart = place_of(&s, b)->offset != place_of(&s, a)->offset;
  stop(&s);
  return planned && (taken || !apart);
}

TENON_TEST(memory_is_taken_over_only_from_what_dies) {
  for (int k = 0; k < OBSTACLE_COUNT; ++k) {
    const bool expected = k == OBSTACLE_NONE || k == OBSTACLE_OTHER_ORDER;
    if (is_taken_over((obstacle_t)k) != expected) {
      tenon__test_fail(__FILE__, __LINE__, "obstacle %d", k);
    }
  }
}

TENON_TEST(other_values_with_the_same_bits_are_taken_over) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 100);
  const uint32_t b = add_arena(&s, 100);
  s.graph->values[place_of(&s, b)->value].type.dtype = TENON_DTYPE_INT32;
  (void)add_step(&s, NOTHING, PLACES(a));
  (void)add_step(&s, PLACES(a), PLACES(b));
  add_output(&s, b);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(place_of(&s, b)->alias, a);
  stop(&s);
}

/* An expression's argument must run along the output's axes, all of them, one to one. */
TENON_TEST(only_identity_accesses_are_taken_over) {
  for (int transposed = 0; transposed < 2; ++transposed) {
    scene_t s;
    REQUIRE(start(&s, tenon__allocator_default(), 1));
    const uint32_t a = add_arena(&s, 8);
    const uint32_t b = add_arena(&s, 8);
    tenon_dim_t dims[2] = {constant(&s, 8), constant(&s, 8)};
    s.graph->values[0].type.rank = s.graph->values[1].type.rank = 2;
    s.graph->values[0].type.dims = s.graph->values[1].type.dims = dims;
    (void)add_step(&s, NOTHING, PLACES(a));
    tenon__step_t* step = add_step(&s, PLACES(a), PLACES(b));
    const tenon_dim_t coordinates[2] = {
        tenon__dim_coordinate(s.network->pool, transposed != 0 ? 1 : 0, dims[0]),
        tenon__dim_coordinate(s.network->pool, transposed != 0 ? 0 : 1, dims[1])};
    const uint32_t axes[2] = {0, 1};
    const tenon__expression_t expression = {.program = {.rank = 2}, .space = dims};
    const tenon__region_input_t input = {.value = 0,
                                         .aligned = true,
                                         .space = TENON_SPACE_PROGRAM,
                                         .access = {.rank = 2, .coordinates = coordinates}};
    const tenon__region_output_t output = {
        .value = 1, .aligned = true, .axis_count = 2, .axes = axes};
    const struct tenon_region_t region = {.network = s.network,
                                          .kind = TENON_REGION_EXPRESSION,
                                          .input_count = 1,
                                          .inputs = &input,
                                          .output_count = 1,
                                          .outputs = &output,
                                          .expression = &expression};
    step->region = &region;
    add_output(&s, b);
    EXPECT_STATUS(plan(&s, 1), TENON_OK);
    EXPECT_INT(place_of(&s, b)->alias == a, transposed == 0);
    stop(&s);
  }
}
