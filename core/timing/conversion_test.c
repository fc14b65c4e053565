/* Copies between two orders of dimensions: each conversion is tried as it will run, timed on its
 * own, and remembered by both orders. */
#include "core/timing/conversion.h"

#include "core/base/test.h"
#include "core/rehearsal/test_rehearsal.h"

enum { ROWS = 2, COLUMNS = 3 };
static const uint32_t by_columns[2] = {1, 0};

/* ---- A kernel that copies ---- */

typedef struct seen_t {
  int64_t from[2]; /* strides */
  int64_t to[2];
} seen_t;

static seen_t seen;

static tenon_status_t copy(const fake_call_t* call) {
  const tenon_tensor_view_t* from = &call->inputs[0].tensor;
  const tenon_tensor_view_t* to = &call->outputs[0].tensor;
  for (int64_t i = 0; i < ROWS; ++i) {
    for (int64_t k = 0; k < COLUMNS; ++k) {
      ((float*)to->data)[i * to->strides[0] + k * to->strides[1]] =
          ((const float*)from->data)[i * from->strides[0] + k * from->strides[1]];
    }
  }
  seen = (seen_t){{from->strides[0], from->strides[1]}, {to->strides[0], to->strides[1]}};
  return TENON_OK;
}

static tenon_argument_rule_t input_rule;
static tenon_argument_rule_t output_rule;

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "copies",
                                 .inputs = &input_rule,
                                 .outputs = &output_rule,
                                 .estimate_seconds = 7};
  (void)state;
  (void)region;
  (void)table;
  return add(emit, &tactic);
}

/* ---- The copy of a value ---- */

typedef struct scene_t {
  rehearsal_world_t world;
  fake_t fake;
  struct tenon_region_t copy;
} scene_t;

static void open_scene(scene_t* s, bool measures) {
  *s = (scene_t){.fake = {.compute = copy, .flags = TENON_KERNEL_MOVES, .tactics = tactics}};
  input_rule = output_rule =
      (tenon_argument_rule_t){.kind = TENON_LAYOUT_ANY, .flags = TENON_RULE_STRIDED};
  rehearsal_world_t* w = &s->world;
  EXPECT(rehearsal_world_open(w));
  rehearsal_world_offer(w, &s->fake);
  const tenon_value_t x = test_input(&w->fixture, "x", DIMS(ROWS, COLUMNS));
  rehearsal_world_begin(w, test_unary(&w->fixture, "test.scale/1", "scaled", x));
  w->tuning.options.no_measuring = !measures;
  EXPECT_STATUS(tenon__timing_cache_create(w->tuning.allocator, &w->tuning.cache), TENON_OK);
  EXPECT_STATUS(
      tenon__region_of_copy(&w->arena, w->fixture.network, 0, w->region.inputs[0].value, &s->copy),
      TENON_OK);
  EXPECT_STATUS(tenon__region_finish(&w->arena, &w->profile, &s->copy), TENON_OK);
}

static void close_scene(scene_t* s) {
  tenon__timing_cache_destroy(s->world.tuning.cache);
  rehearsal_world_close(&s->world);
}

static const tenon__candidates_t* convert(scene_t* s, const uint32_t* from, const uint32_t* to) {
  const tenon__candidates_t* found = NULL;
  tenon__conversion_t conversion;
  tenon__conversion_initialize(&conversion, 2, from, to);
  EXPECT_STATUS(tenon__candidates_convert(&s->world.tuning, &s->copy, &conversion, &found),
                TENON_OK);
  return found;
}

/* ---- Tests ---- */

TENON_TEST(a_conversion_is_measured_from_its_order_to_its_order) {
  scene_t s;
  open_scene(&s, true);
  const tenon__candidates_t* found = convert(&s, by_columns, NULL);
  EXPECT_INT(found->count, 1);
  EXPECT_INT(found->items[0].time.figure, TENON_FIGURE_MEASURED);
  EXPECT(seen.from[0] == 1 && seen.from[1] == ROWS);
  EXPECT(seen.to[0] == COLUMNS && seen.to[1] == 1);
  (void)convert(&s, NULL, by_columns);
  EXPECT(seen.from[0] == COLUMNS && seen.from[1] == 1);
  EXPECT(seen.to[0] == 1 && seen.to[1] == ROWS);
  close_scene(&s);
}

TENON_TEST(each_conversion_is_measured_once_and_known_by_both_orders) {
  scene_t s;
  open_scene(&s, true);
  const tenon__candidates_t* there = convert(&s, NULL, by_columns);
  EXPECT(convert(&s, NULL, by_columns) == there);
  EXPECT_INT(s.world.tuning.measured_count, 1);
  EXPECT(convert(&s, by_columns, NULL) != there);
  EXPECT_INT(s.world.tuning.measured_count, 2);
  EXPECT_INT(tenon__timing_cache_count(s.world.tuning.cache), 2);
  /* Another build with the same cache measures nothing. */
  const double seconds = there->items[0].time.seconds;
  tenon__tuning_end(&s.world.tuning);
  tenon__tuning_begin(&s.world.tuning);
  there = convert(&s, NULL, by_columns);
  EXPECT_INT(s.world.tuning.measured_count, 2);
  EXPECT(there->items[0].time.seconds == seconds);
  close_scene(&s);
}

TENON_TEST(without_measuring_it_takes_what_its_kernel_says) {
  scene_t s;
  open_scene(&s, false);
  const tenon__candidates_t* found = convert(&s, NULL, by_columns);
  EXPECT_INT(found->items[0].time.figure, TENON_FIGURE_ESTIMATED);
  EXPECT(found->items[0].time.seconds == 7);
  close_scene(&s);
}

TENON_TEST(who_cannot_read_any_strides_or_write_that_order_makes_no_copy) {
  scene_t s;
  open_scene(&s, false);
  input_rule.flags = 0;
  EXPECT_INT(convert(&s, NULL, by_columns)->count, 0);
  EXPECT_CONTAINS(convert(&s, NULL, by_columns)->refusals, "from any strides");
  close_scene(&s);
  open_scene(&s, false);
  output_rule = (tenon_argument_rule_t){0}; /* rows alone */
  EXPECT_INT(convert(&s, NULL, by_columns)->count, 0);
  EXPECT_INT(convert(&s, by_columns, NULL)->count, 1);
  close_scene(&s);
}
