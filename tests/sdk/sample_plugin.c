/* Rule 4 and the sample plugin: an operator that a stranger built from its expression alone,
 * dropped into the plugin path, is computed in one step with its neighbours. */
#include "tests/api/session.h"

static bool begin(session_t* s) {
  char folder[4096];
  return session_begin(s, session_path("sdk_test/sample/plugins", folder, sizeof folder));
}

/* Builds and runs. The plan computes all nodes in `expected` steps, the first of which has these;
 * steps without nodes change layouts. Estimates alone: where time is measured a tie may go either
 * way. */
static void check_steps(session_t* s, bool fused, uint32_t expected, const char* nodes) {
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  tenon_engine_t* engine = NULL;
  uint32_t count = 0;
  options.no_fusion = fused ? 0 : 1;
  options.no_measuring = 1;
  session_run(s, &options, &engine);
  REQUIRE(engine != NULL);
  for (uint32_t i = 0; i < tenon_engine_step_count(engine); ++i) {
    tenon_step_info_t step = {.size = sizeof(step)};
    EXPECT_STATUS(tenon_engine_get_step(engine, i, &step), TENON_OK);
    EXPECT_TEXT(step.plugin, "cpu");
    if (step.nodes[0] != '\0' && count++ == 0) {
      EXPECT_TEXT(step.nodes, nodes);
    }
  }
  EXPECT_INT(count, expected);
  tenon_engine_release(engine);
}

static tenon_value_t named(session_t* s, const char* op, const char* name,
                           const tenon_value_t* inputs, uint32_t count,
                           const tenon_attribute_t* attribute) {
  tenon_value_t value = ABSENT;
  EXPECT_STATUS(tenon_network_add(s->network, op, name, inputs, count,
                                  &(tenon_list_t){attribute, attribute == NULL ? 0 : 1,
                                                  sizeof(tenon_attribute_t)},
                                  &value, 1),
                TENON_OK);
  return value;
}

TENON_TEST(runs_alone_on_every_kernel) {
  session_t s;
  REQUIRE(begin(&s));
  const tenon_value_t x = session_input(&s, "plugin.x");
  session_output(&s, node(&s, "example.squareplus/1", &x, 1, NO_ATTRIBUTES), "plugin.alone");
  s.tolerance = 1e-6; /* a square root and three operations */
  session_check(&s);
  session_end(&s);
}

TENON_TEST(fuses_with_elementwise_neighbours) {
  session_t s;
  REQUIRE(begin(&s));
  const tenon_value_t x = session_input(&s, "plugin.x");
  const tenon_value_t addend = session_input(&s, "plugin.addend");
  const tenon_value_t factor = session_input(&s, "plugin.factor");
  const tenon_attribute_t b = TENON_FLOAT("b", 2.25);
  const tenon_value_t sum = named(&s, "standard.add/1", "add", VALUES(x, addend), NULL);
  const tenon_value_t theirs = named(&s, "example.squareplus/1", "theirs", &sum, 1, &b);
  session_output(&s, named(&s, "standard.mul/1", "mul", VALUES(theirs, factor), NULL),
                 "plugin.chain");
  s.tolerance = 1e-6;
  check_steps(&s, true, 1, "add, theirs, mul");
  check_steps(&s, false, 3, "add");
  session_end(&s);
}

TENON_TEST(fuses_into_the_epilogue_of_a_convolution) {
  session_t s;
  REQUIRE(begin(&s));
  const tenon_value_t x = session_input(&s, "plugin.image");
  const tenon_value_t rest = session_input(&s, "plugin.rest");
  const tenon_value_t w = session_constant(&s, "plugin.w");
  const tenon_value_t bias = session_constant(&s, "plugin.b");
  const tenon_attribute_t pads = TENON_INTS("pads", 1, 1, 1, 1);
  const tenon_value_t image =
      named(&s, "standard.convolution/1", "conv", VALUES(x, w, bias), &pads);
  const tenon_value_t theirs = named(&s, "example.squareplus/1", "theirs", &image, 1, NULL);
  session_output(&s, named(&s, "standard.add/1", "add", VALUES(theirs, rest), NULL),
                 "plugin.convolution");
  s.tolerance = 1e-5; /* sums of 36 products */
  check_steps(&s, true, 1, "conv, theirs, add");
  check_steps(&s, false, 3, "conv");
  session_end(&s);
}

/* Without its plugin the operator is unknown, and the message says what was looked for. */
TENON_TEST(is_unknown_without_its_file) {
  session_t s;
  tenon_value_t y = ABSENT;
  REQUIRE(session_begin(&s, NULL));
  const tenon_value_t x = session_input(&s, "plugin.x");
  EXPECT(tenon_network_add(s.network, "example.squareplus/1", "theirs", &x, 1, NULL, &y, 1) !=
         TENON_OK);
  EXPECT_CONTAINS(s.messages.text, "example.squareplus/1");
  session_end(&s);
}
