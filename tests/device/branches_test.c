/* Branches of a network on several streams: recordings whose pieces come in whatever order they
 * leave open give what one stream gives. */
#include "network_run.h"

enum { SEEDS = 12, MOST_VALUES = 32, RUNS = 6 };

typedef struct maker_t {
  run_t* run;
  uint64_t state;
  tenon_value_t values[MOST_VALUES];
  uint32_t count;
} maker_t;

static uint32_t below(maker_t* m, uint32_t limit) {
  m->state = m->state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(m->state >> 33) % limit;
}

static tenon_value_t expression(const maker_t* m, const char* text, tenon_value_t a,
                                tenon_value_t b) {
  static const char* const names[] = {"a", "b"};
  const tenon_value_t values[] = {a, b};
  tenon_builder_t* builder = tenon_network_get_builder(m->run->session.network);
  tenon_value_t y = {0};
  EXPECT_STATUS(tenon_builder_get_table()->expression(builder, text, names, values, 2, NULL, &y),
                TENON_OK);
  return y;
}

/* Halves beside one another, in memory of their whole. */
static tenon_value_t join(const maker_t* m, tenon_value_t a, tenon_value_t b) {
  const tenon_attribute_t axis = TENON_INT("axis", 0);
  const tenon_value_t halves[] = {a, b};
  tenon_value_t y = {0};
  EXPECT_STATUS(tenon_network_add(m->run->session.network, "standard.concatenate/1", NULL, halves,
                                  2, &(tenon_list_t){&axis, 1, sizeof(tenon_attribute_t)}, &y, 1),
                TENON_OK);
  return expression(m, "y = sum(a, [0]) - b * 0.25", y, a);
}

/* Arithmetic that is exact, each step of values that are not too old, so that memory is used again;
 * the last step reads what nobody has read. */
static void make(maker_t* m, run_t* run, uint64_t seed) {
  static const char* const texts[] = {"y = a * 0.5 + b", "y = max(a, b) - 1", "y = a - b * 0.25",
                                      "y = min(a, b) + 2"};
  static const int64_t dims[] = {1, PIXELS};
  bool is_read[MOST_VALUES] = {false};
  *m = (maker_t){.run = run, .state = seed * 7919, .count = 1};
  EXPECT_STATUS(tenon_network_add_input(run->session.network, "x", TENON_DTYPE_FLOAT32, 2, dims,
                                        &m->values[0]),
                TENON_OK);
  while (m->count < MOST_VALUES - 1) {
    const uint32_t oldest = m->count > 6 ? m->count - 6 : 0;
    const uint32_t a = oldest + below(m, m->count - oldest);
    const uint32_t b = oldest + below(m, m->count - oldest);
    const uint32_t form = below(m, 5);
    is_read[a] = is_read[b] = true;
    m->values[m->count++] = form == 4 ? join(m, m->values[a], m->values[b])
                                      : expression(m, texts[form], m->values[a], m->values[b]);
  }
  tenon_value_t y = m->values[m->count - 1];
  for (uint32_t k = 0; k + 1 < m->count; ++k) {
    y = is_read[k] ? y : expression(m, texts[0], y, m->values[k]);
  }
  EXPECT_STATUS(tenon_network_add_output(run->session.network, y, "y"), TENON_OK);
}

static bool are_equal(float (*a)[PIXELS], float (*b)[PIXELS]) {
  bool equal = true;
  for (int k = 0; k < RUNS * PIXELS; ++k) {
    equal = equal && a[k / PIXELS][k % PIXELS] == b[k / PIXELS][k % PIXELS];
  }
  return equal;
}

/* One step a node, on so many streams at most; all results, of inputs that change. */
static bool run_network(uint64_t seed, const char* device, uint32_t streams,
                        float out_results[RUNS][PIXELS], uint64_t* out_waits) {
  static const int64_t dims[] = {1, PIXELS};
  run_t run;
  maker_t maker;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.no_fusion = 1;
  options.stream_limit = streams;
  if (!begin_network(&run)) {
    return false;
  }
  make(&maker, &run, seed);
  if (!start(&run, device, options)) {
    return false;
  }
  for (int k = 0; k < RUNS; ++k) {
    tenon_tensor_view_t y = {0};
    for (int i = 0; i < PIXELS; ++i) {
      run.numbers[i] = (float)((i * 37 + k * 11 + (int)seed) % 64 - 32);
    }
    set_rows(&run, 0, TENON_DTYPE_FLOAT32, 2, dims, run.numbers);
    EXPECT_STATUS(tenon_context_run(run.context), TENON_OK);
    EXPECT_STATUS(tenon_context_get_output(run.context, 0, &y), TENON_OK);
    memcpy(out_results[k], y.data, PIXELS * sizeof(float));
  }
  *out_waits = calls(&run, FAR_CALL_WAIT_EVENT);
  end(&run);
  return true;
}

/* How often streams wait for one another; 0 where all is on one. */
static uint64_t expect_same(uint64_t seed, uint32_t streams, float (*expected)[PIXELS]) {
  static float results[RUNS][PIXELS];
  uint64_t waits = 0;
  EXPECT(run_network(seed, "far", streams, results, &waits));
  EXPECT(are_equal(expected, results));
  return waits;
}

TENON_TEST(branches_give_what_a_row_gives) {
  static float expected[RUNS][PIXELS];
  uint64_t waits = 0;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
    REQUIRE(run_network(seed, "cpu", 0, expected, &waits));
    EXPECT_INT(expect_same(seed, 1, expected), 0);
    waits = expect_same(seed, 2, expected) + expect_same(seed, 4, expected) +
            expect_same(seed, TENON_STREAM_LIMIT, expected);
    EXPECT(waits > 0); /* or nothing was beside anything */
  }
}

TENON_TEST(streams_without_number) {
  run_t run;
  maker_t maker;
  tenon_plan_t* plan = NULL;
  tenon_build_options_t options = TENON_OPTIONS(tenon_build_options_t);
  options.stream_limit = TENON_STREAM_LIMIT + 1;
  REQUIRE(begin_network(&run));
  make(&maker, &run, 1);
  EXPECT_STATUS(tenon_build(run.session.network, &options, &plan), TENON_ERROR_INVALID_ARGUMENT);
  EXPECT_CONTAINS(tenon_last_message(), "stream_limit is 9, at most 8 are possible");
  end(&run);
}
