/* What the head of a page says is so. */
#include "page/overview.h"

#include <stdlib.h>

#include "core/base/test.h"

enum { STEPS = 3 };

typedef struct fixture_t {
  tool_fact_t steps[STEPS];
  tool_timing_t timing;
  tool_facts_t facts;
} fixture_t;

/* Two steps of the main graph, and one of the second's body. */
static void make(fixture_t* f) {
  static const double seconds[STEPS] = {1, 3, 2};
  *f = (fixture_t){.timing = {.run_count = 9, .whole = {4, 4, 4}}};
  for (int i = 0; i < STEPS; ++i) {
    f->steps[i] = (tool_fact_t){.info = {.name = "step",
                                         .kind = "kernel",
                                         .kernel = "k",
                                         .expression = "",
                                         .nodes = "step",
                                         .inputs = "",
                                         .outputs = "y f32[1]",
                                         .depth = i == 2 ? 1 : 0},
                                .seconds = seconds[i],
                                .operations = -1};
  }
  f->facts = (tool_facts_t){.count = STEPS,
                            .steps = f->steps,
                            .timing = &f->timing,
                            .peak = {100, 10, false},
                            .total_seconds = 4,
                            .longest = 3};
}

/* Freed by free. */
static char* write(const tool_facts_t* facts) {
  char* text = NULL;
  size_t size = 0;
  FILE* file = open_memstream(&text, &size);
  if (file == NULL) {
    return NULL;
  }
  tool_overview_write(file, "a title", facts);
  (void)fclose(file);
  return text;
}

TENON_TEST(counts_the_steps_that_it_lists) {
  fixture_t f;
  make(&f);
  char* text = write(&f.facts);
  EXPECT_CONTAINS(text, "2 of 2 steps, 100 % of the time");
  free(text);
}

/* Times that vary do not tell why: the system does. */
TENON_TEST(says_that_the_machine_was_busy_where_it_was) {
  fixture_t f;
  make(&f);
  f.timing.whole = (tool_spread_t){1, 4, 9};
  char* text = write(&f.facts);
  EXPECT(text != NULL && strstr(text, "busy") == NULL);
  free(text);
  f.timing.busy = (tool_busy_t){.is_busy = true, .message = "others used 2 of 2 processors"};
  text = write(&f.facts);
  EXPECT_CONTAINS(text, "The machine was busy: others used 2 of 2 processors.");
  free(text);
}

TENON_TEST(says_where_the_machines_best_comes_from) {
  fixture_t f;
  make(&f);
  char* text = write(&f.facts);
  EXPECT_CONTAINS(text, "100 FLOP/s in a large f32 matrix product, 10 B/s through memory");
  free(text);
  tool_peak_raise(&f.facts.peak, 110);
  text = write(&f.facts);
  EXPECT_CONTAINS(text, "110 FLOP/s in one of the steps, more than in a large f32 matrix product");
  free(text);
}

/* The steps are sure where a run was disturbed: the rates are theirs. */
TENON_TEST(figures_agree_with_the_table) {
  fixture_t f;
  make(&f);
  f.timing.whole = (tool_spread_t){40, 40, 40};
  f.steps[0].operations = 200;
  char* text = write(&f.facts);
  EXPECT_CONTAINS(text, "<b>40 s</b> a run");
  EXPECT_CONTAINS(text, "<b>4 s</b> in steps");
  EXPECT_CONTAINS(text, "A run takes much longer");
  EXPECT_CONTAINS(text, "<b>50 FLOP/s</b>");
  free(text);
}
