/* Where everything lies, and for how long. */
#include "core/dimension/dimension_arithmetic.h"
#include "core/plan/test_scene.h"

TENON_TEST(views_keep_their_base_alive) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 100);
  const uint32_t view = add_view(&s, TENON_STORAGE_VIEW, a, 100);
  const uint32_t view_of_view = add_view(&s, TENON_STORAGE_VIEW, view, 100);
  const uint32_t b = add_arena(&s, 300);
  const uint32_t c = add_arena(&s, 200);
  (void)add_step(&s, NOTHING, PLACES(a));
  (void)add_step(&s, NOTHING, PLACES(b));
  (void)add_step(&s, PLACES(view_of_view), PLACES(c));
  add_output(&s, c);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT(place_of(&s, a)->offset >= place_of(&s, b)->offset + 1200 ||
         place_of(&s, b)->offset >= place_of(&s, a)->offset + 400);
  EXPECT_INT(s.schedule->memory_bytes[0], 448 + 1216);
  stop(&s);
}

TENON_TEST(parts_are_written_into_one_block) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t whole = add_arena(&s, 200);
  const uint32_t left = add_view(&s, TENON_STORAGE_PART, whole, 100);
  const uint32_t right = add_view(&s, TENON_STORAGE_PART, whole, 100);
  const uint32_t between = add_arena(&s, 50);
  const uint32_t result = add_arena(&s, 10);
  (void)add_step(&s, NOTHING, PLACES(left));
  (void)add_step(&s, NOTHING, PLACES(between));
  (void)add_step(&s, PLACES(between), PLACES(right));
  (void)add_step(&s, PLACES(whole), PLACES(result));
  add_output(&s, result);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  /* The whole lives from its first part on. */
  EXPECT_INT(s.schedule->alive_bytes[0], 832 + 256);
  stop(&s);
}

TENON_TEST(outputs_and_states_live_to_the_end) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t out = add_arena(&s, 100);
  const uint32_t state = add_arena(&s, 100);
  const uint32_t later = add_arena(&s, 100);
  const uint32_t own = add_place(&s, TENON_STORAGE_OUTPUT, constant(&s, 1000));
  (void)add_step(&s, NOTHING, PLACES(out));
  (void)add_step(&s, NOTHING, PLACES(state));
  (void)add_step(&s, NOTHING, PLACES(later));
  (void)add_step(&s, PLACES(later), PLACES(own));
  add_output(&s, out);
  add_output(&s, own);
  tenon__state_node_t states[1] = {
      {.name = "s", .initial = TENON_NONE, .update = place_of(&s, state)->value}};
  s.network->states = states;
  s.network->state_count = 1;
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(s.schedule->memory_bytes[0], 3 * 448);
  EXPECT_INT(place_of(&s, own)->size_bytes, 4000); /* a size, but no block */
  s.network->states = NULL;
  s.network->state_count = 0;
  stop(&s);
}

TENON_TEST(what_only_the_run_knows_grows) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const tenon_dim_t batch = symbol(&s, "batch", TENON_SYMBOL_INPUT, INT64_MAX);
  const tenon_dim_t found = symbol(&s, "found", TENON_SYMBOL_EXTENT, 10);
  const uint32_t a = add_place(&s, TENON_STORAGE_ARENA, batch);
  const uint32_t b = add_place(&s, TENON_STORAGE_ARENA, found); /* bounded, and still */
  const uint32_t view = add_view(&s, TENON_STORAGE_VIEW, b, 10);
  const uint32_t text = add_arena(&s, 3);
  const uint32_t list = add_arena(&s, 3);
  const uint32_t out = add_place(&s, TENON_STORAGE_OUTPUT, found);
  s.graph->values[place_of(&s, text)->value].type.dtype = TENON_DTYPE_STRING;
  s.graph->values[place_of(&s, list)->value].type.kind = TENON_ARGUMENT_SEQUENCE;
  const tenon__step_t* first = add_step(&s, NOTHING, PLACES(a));
  const tenon__step_t* second = add_step(&s, PLACES(a), PLACES(b));
  const tenon__step_t* third = add_step(&s, PLACES(view), PLACES(text, list, out));
  EXPECT_STATUS(plan(&s, 16), TENON_OK);
  EXPECT_INT(place_of(&s, a)->storage, TENON_STORAGE_ARENA);
  EXPECT_INT(place_of(&s, a)->size_bytes, 64);
  EXPECT(!place_of(&s, a)->is_dynamic && !first->is_dynamic);
  EXPECT_INT(place_of(&s, b)->storage, TENON_STORAGE_GROWING);
  EXPECT(place_of(&s, b)->is_dynamic && second->is_dynamic);
  EXPECT(place_of(&s, view)->is_dynamic && third->is_dynamic);
  EXPECT_INT(place_of(&s, text)->storage, TENON_STORAGE_GROWING);
  EXPECT_INT(place_of(&s, list)->storage, TENON_STORAGE_GROWING);
  EXPECT_INT(place_of(&s, out)->storage, TENON_STORAGE_GROWING);
  EXPECT_INT(s.schedule->memory_bytes[0], 64);
  stop(&s);
}

/* Extents that shrink while the batch grows are largest at its minimum. */
TENON_TEST(the_largest_point_of_the_profile_counts) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  tenon__dim_pool_t* pool = s.network->pool;
  const tenon_dim_t batch = symbol(&s, "batch", TENON_SYMBOL_INPUT, INT64_MAX);
  const tenon_dim_t rest =
      tenon__dim_add(pool, constant(&s, 100), tenon__dim_multiply(pool, constant(&s, -1), batch));
  const uint32_t a = add_place(&s, TENON_STORAGE_ARENA, rest);
  (void)add_step(&s, NOTHING, PLACES(a));
  EXPECT_STATUS(plan(&s, 50), TENON_OK);
  EXPECT_INT(place_of(&s, a)->size_bytes, 99 * 4);
  EXPECT_STATUS(plan(&s, 101), TENON_ERROR_OUT_OF_MEMORY); /* -1 at the maximum */
  stop(&s);
}

TENON_TEST(bodies_are_blocks_of_their_step) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 3));
  for (uint32_t body = 1; body < 3; ++body) {
    in_graph(&s, body);
    const uint32_t p = add_place(&s, TENON_STORAGE_PARAMETER, constant(&s, 10));
    const uint32_t t = add_arena(&s, 100 * (int64_t)body);
    const uint32_t r = add_arena(&s, 10);
    (void)add_step(&s, PLACES(p), PLACES(t));
    (void)add_step(&s, PLACES(t), PLACES(r));
    add_output(&s, r);
  }
  in_graph(&s, 0);
  const uint32_t bodies[2] = {1, 2};
  tenon__node_t nodes[1] = {{.name = "if", .alive = true, .body_count = 2, .bodies = bodies}};
  s.graph->nodes = nodes;
  s.graph->node_count = 1;
  s.network->graphs[1]->owner = 0;
  s.network->graphs[2]->owner = 0;
  const uint32_t a = add_arena(&s, 10);
  const uint32_t b = add_arena(&s, 10);
  const uint32_t c = add_arena(&s, 500);
  (void)add_step(&s, NOTHING, PLACES(a));
  tenon__step_t* step = add_step(&s, PLACES(a), PLACES(b));
  step->kind = TENON_STEP_CHOOSE;
  step->node = 0;
  (void)add_step(&s, PLACES(b), PLACES(c));
  add_output(&s, c);
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(s.plan->schedules[1].memory_bytes[0], 448 + 64);
  EXPECT_INT(s.plan->schedules[2].memory_bytes[0], 832 + 64);
  EXPECT_INT(step->body_offset[0] % 64, 0);
  /* The larger body is alive with a and b, and not with c. */
  EXPECT_INT(s.schedule->memory_bytes[0], 64 + 2048);
  EXPECT(step->body_offset[0] + 896 <= s.schedule->memory_bytes[0]);
  EXPECT_INT(s.schedule->alive_bytes[0], 64 + 2048);
  s.graph->nodes = NULL;
  s.graph->node_count = 0;
  stop(&s);
}

TENON_TEST(workspaces_follow_one_another) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 10);
  tenon__step_t* first = add_step(&s, NOTHING, PLACES(a));
  tenon__step_t* second = add_step(&s, PLACES(a), PLACES(add_arena(&s, 10)));
  first->tactic.scratch_bytes = 1000;
  first->tactic.zeroed_bytes = 10;
  first->tactic.persistent_bytes = 65;
  second->tactic.scratch_bytes = 500;
  second->tactic.scratch_bytes_per_thread = 200;
  second->tactic.zeroed_bytes = 20;
  second->tactic.persistent_bytes = 1;
  s.plan->thread_count = 3;
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  EXPECT_INT(s.plan->devices[0].scratch_bytes, 1100);
  uint64_t bytes = 0;
  EXPECT(tenon__plan_scratch_bytes(s.plan, 0, 1, &bytes, NULL));
  EXPECT_INT(bytes, 1000);
  EXPECT(tenon__plan_scratch_bytes(s.plan, 0, 8, &bytes, NULL));
  EXPECT_INT(bytes, 2100);
  uint64_t offsets[TENON_LANE_LIMIT];
  second->lane = 1;
  EXPECT_INT(tenon__plan_lane_count(s.plan, 0), 2);
  EXPECT(tenon__plan_scratch_bytes(s.plan, 0, 1, &bytes, offsets));
  EXPECT_INT(offsets[1], 1024);
  EXPECT_INT(bytes, 1024 + 700);
  second->lane = 0;
  EXPECT_INT(first->zeroed_offset, 0);
  EXPECT_INT(second->zeroed_offset, 64);
  EXPECT_INT(s.plan->devices[0].zeroed_bytes, 128);
  EXPECT_INT(second->persistent_offset, 128);
  EXPECT_INT(s.plan->devices[0].persistent_bytes, 192);
  first->tactic.zeroed_bytes = UINT64_MAX;
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_OUT_OF_MEMORY);
  stop(&s);
}

TENON_TEST(refuses_what_is_read_before_it_is_written) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 10);
  const uint32_t b = add_arena(&s, 10);
  (void)add_step(&s, PLACES(a), PLACES(b));
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_INTERNAL);
  EXPECT_CONTAINS(s.messages.text, "reads 'v' before");
  stop(&s);
}

TENON_TEST(refuses_views_of_themselves) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_view(&s, TENON_STORAGE_VIEW, 1, 10);
  (void)add_view(&s, TENON_STORAGE_VIEW, a, 10);
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_INTERNAL);
  stop(&s);
}

TENON_TEST(refuses_parts_of_what_grows) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t whole =
      add_place(&s, TENON_STORAGE_ARENA, symbol(&s, "n", TENON_SYMBOL_EXTENT, INT64_MAX));
  (void)add_step(&s, NOTHING, PLACES(add_view(&s, TENON_STORAGE_PART, whole, 4)));
  EXPECT_STATUS(plan(&s, 1), TENON_ERROR_INTERNAL);
  stop(&s);
}

TENON_TEST(every_failing_allocation_of_planning_is_reported) {
  scene_t s;
  REQUIRE(start(&s, tenon__allocator_default(), 1));
  const uint32_t a = add_arena(&s, 10);
  const uint32_t b = add_arena(&s, 10);
  (void)add_step(&s, NOTHING, PLACES(a));
  (void)add_step(&s, PLACES(a), PLACES(b));
  EXPECT_STATUS(plan(&s, 1), TENON_OK);
  const tenon_allocator_t own = s.plan->allocator;
  for (uint64_t fail_at = 1; fail_at < 100; ++fail_at) {
    tenon__test_allocator_t state = {.fail_at = fail_at};
    s.plan->allocator = tenon__test_allocator(&state);
    const tenon_status_t status = tenon__plan_memory(s.plan, tenon__test_listen(&s.messages));
    EXPECT_INT(state.live_bytes, 0);
    if (state.allocation_count < fail_at) {
      EXPECT_STATUS(status, TENON_OK);
      break;
    }
    EXPECT_STATUS(status, TENON_ERROR_OUT_OF_MEMORY);
  }
  s.plan->allocator = own;
  stop(&s);
}
