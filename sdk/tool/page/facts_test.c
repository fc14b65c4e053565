/* What a page concludes from its facts: the slowest, repeated blocks, what could be better. */
#include "page/facts.h"

#include "core/base/test.h"
#include "page/advice.h"
#include "page/kinds.h"
#include "page/repeats.h"
#include "text/memory.h"

enum { STEPS_MOST = 64 };

typedef struct fixture_t {
  tool_facts_t facts;
  tool_fact_t steps[STEPS_MOST];
} fixture_t;

static tool_fact_t* add_step(fixture_t* f, const char* outputs, double seconds) {
  tool_fact_t* fact = &f->steps[f->facts.count++];
  *fact = (tool_fact_t){.info = {.name = "step",
                                 .kind = "kernel",
                                 .kernel = "k",
                                 .expression = "",
                                 .nodes = "step",
                                 .inputs = "",
                                 .outputs = outputs},
                        .seconds = seconds,
                        .operations = -1};
  f->facts.steps = f->steps;
  f->facts.total_seconds += seconds;
  return fact;
}

TENON_TEST(lists_the_slowest_first) {
  fixture_t f = {0};
  static const double seconds[] = {3, 9, 1, 7, 8, 2};
  uint32_t steps[3];
  for (size_t k = 0; k < 6; ++k) {
    (void)add_step(&f, "y f32[1]", seconds[k]);
  }
  f.steps[1].info.depth = 1; /* a body's: a part of another step */
  EXPECT_INT(tool_facts_slowest(&f.facts, 3, steps), 3);
  EXPECT_INT(steps[0], 4);
  EXPECT_INT(steps[1], 3);
  EXPECT_INT(steps[2], 0);
}

TENON_TEST(the_larger_of_arithmetic_and_bytes_bounds_a_step) {
  const tool_peak_t peak = {100, 10, false};
  EXPECT(tool_peak_floor(&peak, 500, 20) == 5);
  EXPECT(tool_peak_floor(&peak, 500, 200) == 20);
  EXPECT(tool_peak_floor(&peak, -1, 30) == 3);
  EXPECT(tool_peak_floor(&(tool_peak_t){0}, 500, 20) == 0);
}

/* A machine that was busy while its best was measured; not one where nothing could be measured. */
TENON_TEST(a_faster_step_raises_the_peak) {
  tool_peak_t peak = {100, 10, false};
  tool_peak_raise(&peak, 90);
  EXPECT(peak.operations_per_second == 100 && !peak.is_of_a_step);
  tool_peak_raise(&peak, 110);
  EXPECT(peak.operations_per_second == 110 && peak.is_of_a_step);
  peak = (tool_peak_t){0};
  tool_peak_raise(&peak, 110);
  EXPECT(peak.operations_per_second == 0 && !peak.is_of_a_step);
}

/* A head, four layers of three steps, a tail. */
TENON_TEST(finds_blocks_that_come_again) {
  fixture_t f = {0};
  tool_repeat_t* repeats = NULL;
  (void)add_step(&f, "y f32[9]", 1);
  for (int layer = 0; layer < 4; ++layer) {
    (void)add_step(&f, "y f32[1]", 1);
    (void)add_step(&f, "y f32[2]", 1);
    (void)add_step(&f, "y f32[3]", 1);
  }
  (void)add_step(&f, "y f32[8]", 1);
  EXPECT_INT(tool_repeats_find(&f.facts, &repeats), 1);
  EXPECT_INT(repeats[0].first, 1);
  EXPECT_INT(repeats[0].length, 3);
  EXPECT_INT(repeats[0].times, 4);
  tool_free(repeats);
}

TENON_TEST(two_of_a_kind_are_no_pattern) {
  fixture_t f = {0};
  tool_repeat_t* repeats = NULL;
  for (int layer = 0; layer < 2; ++layer) {
    (void)add_step(&f, "y f32[1]", 1);
    (void)add_step(&f, "y f32[2]", 1);
  }
  EXPECT_INT(tool_repeats_find(&f.facts, &repeats), 0);
  tool_free(repeats);
}

/* Each step counts once, in the first finding that is about it; the largest gain stands first. */
TENON_TEST(says_what_could_be_better) {
  static const uint32_t first[] = {0};
  fixture_t f = {0};
  const tool_timing_t timing = {.run_count = 9, .whole = {20, 20, 20}, .outside = {0.9, 0.9, 0.9}};
  tool_advice_t advice[TOOL_ADVICE_MOST];
  tool_fact_t* fact = add_step(&f, "y f32[1]", 10); /* at its best */
  fact->floor_seconds = 9;
  fact = add_step(&f, "y f32[1]", 2); /* behind it, and slow too: one finding */
  fact->flags = TENON_STEP_IS_ELEMENTWISE;
  fact->sources = first;
  fact->source_count = 1;
  fact->floor_seconds = 0.1;
  fact = add_step(&f, "y f32[1]", 3);
  fact->flags = TENON_STEP_IS_COPY;
  fact = add_step(&f, "y f32[1]", 4);
  fact->floor_seconds = 0.4;             /* 0.5 on a good kernel */
  fact = add_step(&f, "y f32[1]", 0.01); /* too little for a line */
  fact->flags = TENON_STEP_IS_REFERENCE;
  f.facts.timing = &timing;
  EXPECT_INT(tool_advice_find(&f.facts, advice), 3);
  EXPECT(strstr(advice[0].message, "1 step, 4 s, reaches less than half") == advice[0].message);
  EXPECT_NEAR(advice[0].seconds, 3.5, 1e-12); /* what a subtraction may round */
  EXPECT(strstr(advice[1].message, "1 step, 3 s, only changes a layout") == advice[1].message);
  EXPECT(advice[1].seconds == 3 && advice[2].seconds < 3);
  EXPECT(strstr(advice[2].message, "elementwise arithmetic behind a kernel") != NULL);
  EXPECT_INT(advice[2].step_count, 1);
  EXPECT_INT(advice[2].steps[0], 1);
}

TENON_TEST(steps_of_one_kind_are_named_by_what_they_share) {
  static const char* const names[] = {"layer0/fc", "layer1/fc", "layer12/fc", "head"};
  fixture_t f = {0};
  tool_kind_t* kinds = NULL;
  for (size_t k = 0; k < 4; ++k) {
    add_step(&f, "y f32[1]", 1 + (double)k / 4)->info.name = names[k];
  }
  REQUIRE(tool_kinds_find(&f.facts, &kinds) == 2);
  EXPECT(strcmp(kinds[0].name, "layer*/fc") == 0);
  EXPECT_INT(kinds[0].count, 3);
  EXPECT_INT(kinds[0].slowest, 2);
  EXPECT(kinds[0].seconds == 1 + 1.25 + 1.5);
  EXPECT(strcmp(kinds[1].name, "head") == 0);
  tool_kinds_free(kinds, 2);
}
