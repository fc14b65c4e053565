/* Rewrites on trial: those that are right are kept, wrong ones refused with the numbers. */
#include "core/optimizer/rewrite_trial.h"

#include "core/optimizer/rewrite_sample.h"
#include "core/optimizer/test_world.h"

static tenon__owner_t owner = {.plugin = "tests", .version = "1", .path = "/tests.so"};

static tenon__rewrite_trial_t try_with(test_world_t* world, const tenon_rewrite_t* rewrite,
                                       tenon__arena_t* arena) {
  const tenon__rewrite_entry_t entry = {.rewrite = *rewrite, .owner = &owner};
  tenon__rewrite_trial_t trial = {.fault = "?"};
  EXPECT_STATUS(
      tenon__rewrite_try(&world->options, &entry, tenon__allocator_default(), arena, &trial),
      TENON_OK);
  return trial;
}

typedef struct trial_row_t {
  const char* pattern;
  const char* when;
  const char* replacement;
  const char* fault; /* NULL: kept, and compared */
} trial_row_t;

static void expect_rows(const trial_row_t* rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    test_world_t world;
    tenon__arena_t arena;
    const tenon_rewrite_t rewrite = {.size = sizeof(rewrite),
                                     .name = "row",
                                     .pattern = rows[i].pattern,
                                     .when = rows[i].when,
                                     .replacement = rows[i].replacement};
    REQUIRE(test_world_open(&world));
    tenon__arena_initialize(&arena, tenon__allocator_default());
    const tenon__rewrite_trial_t trial = try_with(&world, &rewrite, &arena);
    if (rows[i].fault == NULL) {
      EXPECT_TEXT(trial.fault, NULL);
      if (trial.compared == 0) {
        tenon__test_fail(__FILE__, __LINE__, "row %zu was never compared (applied %u times)", i,
                         trial.applied);
      }
    } else {
      EXPECT_CONTAINS(trial.fault, rows[i].fault);
    }
    tenon__arena_deinitialize(&arena);
    test_world_close(&world);
  }
}

TENON_TEST(keeps_what_is_right) {
  static const trial_row_t rows[] = {
      {"s = test.plus/1(a, b); d = test.minus/1(a, b); y = test.times/1(s, d)", NULL,
       "p = test.times/1(a, a); q = test.times/1(b, b); y = test.minus/1(p, q)", NULL},
      {"y = test.scale/1(x){mode='times', factor=f}", "f == 2", "y = test.plus/1(x, x)", NULL},
      {"y = test.scale/1(x){mode='plus', factor=f}", "f == 0", "y = test.same/1(x)", NULL},
      {"t = test.permute/1(x){perm=p}; y = test.ramp/1(t)", NULL,
       "t = test.ramp/1(x); y = test.permute/1(t){perm=p}", NULL},
      {"y = test.times/1(x, e)", "value(e) == 2 && elements(e) == 1 && rank(e) <= rank(x)",
       "y = test.plus/1(x, x)", NULL},
      {"y = test.growth/1(x)", "rank(x) == 1", "e = test.exponential/1(x); y = test.times/1(x, e)",
       NULL},
  };
  expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

TENON_TEST(refuses_what_changes_results) {
  static const trial_row_t rows[] = {
      /* A sign, an order, a constant, one shape of many, one attribute of many. */
      {"s = test.plus/1(a, b); d = test.minus/1(a, b); y = test.times/1(s, d)", NULL,
       "p = test.times/1(a, a); q = test.times/1(b, b); y = test.plus/1(p, q)",
       "it changes results: with a = "},
      {"y = test.minus/1(a, b)", NULL, "s = test.plus/1(a, b); y = test.scale/1(s){factor=1}",
       "it changes results: with a = "},
      {"y = test.scale/1(x){mode='times', factor=f}", NULL, "y = test.plus/1(x, x)", ", f = "},
      {"y = test.scale/1(x){factor=f}", "f == 2", "y = test.plus/1(x, x)", "it changes results"},
      {"y = test.same/1(x)", NULL, "y = test.scale/1(x){factor=1.0001}", "it changes results"},
      {"y = test.permute/1(x)", NULL, "y = test.same/1(x)", "it changes results"},
      {"y = test.times/1(x, e)", "value(e) == 3 && elements(e) == 1 && rank(e) <= rank(x)",
       "y = test.plus/1(x, x)", "by the pattern and "},
  };
  expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

TENON_TEST(refuses_what_feeds_on_itself) {
  static const trial_row_t rows[] = {
      {"y = test.ramp/1(x)", NULL, "y = test.ramp/1(x)",
       "it matches what it made: of a network of 1 node, it was applied 64 times"},
      {"y = test.ramp/1(x)", NULL, "t = test.ramp/1(x); y = test.ramp/1(t)",
       "it matches what it made"},
      {"y = test.plus/1(a, b)", NULL, "y = test.plus/1(b, a)", "it matches what it made"},
  };
  expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

TENON_TEST(refuses_what_never_fits) {
  static const trial_row_t rows[] = {
      {"y = test.ramp/1(x)", NULL, "y = test.row_sum/1(x){keepdims=0, axes=[0]}",
       "where it matches, its replacement never fits: it gives f"},
      {"y = test.ramp/1(x)", NULL, "y = test.convert/1(x){to=i32}", "never fits: it gives i32["},
      {"y = test.ramp/1(x)", NULL, "y = test.scale/1(x){factor='a'}", "never fits: test.scale/1"},
      {"y = test.ramp/1(x)", "rank(x, x) == 2", "y = test.same/1(x)",
       "its guard \"rank(x, x) == 2\" can never be evaluated: "},
  };
  expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* ---- Domains ---- */

TENON_TEST(tries_what_the_ports_take) {
  static const trial_row_t rows[] = {
      {"q = test.ratio/1(d, d); y = test.times/1(a, q)", NULL,
       "s = test.minus/1(d, d); y = test.plus/1(a, s)", NULL},
      {"y = test.above_three/1(x)", NULL, "y = test.ramp/1(x)", "it changes results"},
  };
  expect_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Indices are places of the axis that they count along, in every draw. */
TENON_TEST(draws_indices_that_there_are) {
  test_world_t world;
  tenon__arena_t arena;
  tenon__calls_t pattern;
  uint32_t drawn = 0;
  bool has_other = false;
  REQUIRE(test_world_open(&world));
  tenon__arena_initialize(&arena, tenon__allocator_default());
  EXPECT_STATUS(tenon__calls_parse(&arena, "y = test.pick/1(x, p){axis=-1}", NULL, &pattern),
                TENON_OK);
  tenon__sampler_t sampler = {.allocator = tenon__allocator_default(),
                              .find = test_find,
                              .find_user = &world.fixture,
                              .pattern = &pattern};
  for (int k = 0; k < 200; ++k) {
    tenon__sample_t sample;
    const bool is_drawn = tenon__sample_draw(&sampler, &sample) == TENON_OK;
    const tenon__network_t* network = sample.network;
    if (is_drawn) {
      ++drawn;
      const tenon__graph_t* graph = network->graphs[0];
      const tenon__weights_t* x = &network->weights[graph->values[sample.names.inputs[0]].weights];
      const tenon__weights_t* p = &network->weights[graph->values[sample.names.inputs[1]].weights];
      for (size_t e = 0; e < p->size_bytes / sizeof(int64_t); ++e) {
        const int64_t place = ((const int64_t*)p->data)[e];
        EXPECT(place >= 0 && place < x->dims[x->rank - 1]);
        has_other = has_other || place > 1;
      }
    }
    tenon__sample_release(&sample);
  }
  EXPECT(drawn > 50 && has_other);
  tenon__arena_deinitialize(&arena);
  test_world_close(&world);
}

/* ---- Rewrites by code ---- */

/* Takes what has more than one axis. */
static int32_t decline_vectors(const tenon_rewriting_t* call, tenon_value_t* out) {
  const tenon_value_info_t* info =
      call->table->value(call->match, call->table->input(call->match, 0));
  *out = call->inputs[0];
  return info->rank > 1 ? 1 : 0;
}

/* NOLINTNEXTLINE(readability-function-size): likewise */
static int32_t decline_all(const tenon_rewriting_t* call, tenon_value_t* out) {
  (void)call;
  (void)out;
  return 0;
}

/* Where its guard cannot be asked, in vectors, is another matter than where it declines. */
TENON_TEST(keeps_code_that_declines) {
  tenon_rewrite_t rewrites[] = {
      {.name = "some", .pattern = "y = test.same/1(x)", .rewrite = decline_vectors},
      {.name = "none", .pattern = "y = test.same/1(x)", .rewrite = decline_all},
      {.name = "guarded",
       .pattern = "y = test.same/1(x)",
       .when = "dim(x, 1) > 0",
       .rewrite = decline_all}};
  for (size_t k = 0; k < sizeof(rewrites) / sizeof(rewrites[0]); ++k) {
    test_world_t world;
    tenon__arena_t arena;
    rewrites[k].size = sizeof(rewrites[k]);
    REQUIRE(test_world_open(&world));
    tenon__arena_initialize(&arena, tenon__allocator_default());
    const tenon__rewrite_trial_t trial = try_with(&world, &rewrites[k], &arena);
    EXPECT_TEXT(trial.fault, NULL);
    EXPECT_INT(trial.applied > 0, k == 0);
    tenon__arena_deinitialize(&arena);
    test_world_close(&world);
  }
}

/* The words are those of what never worked, whatever was said of another draw. */
TENON_TEST(says_of_a_replacement_why_it_does_not_fit) {
  static const trial_row_t rows[] = {
      {"y = test.ramp/1(x)", "dim(x, 1) > 0", "y = test.convert/1(x){to=i32}",
       "never fits: it gives i32["},
  };
  expect_rows(rows, 1);
}

/* Found with the first sample that can be computed, so that there are few allocations. */
static bool try_and_close(tenon_allocator_t allocator, void* user) {
  static const tenon__rewrite_entry_t entry = {.rewrite = {.size = sizeof(tenon_rewrite_t),
                                                           .name = "wrong",
                                                           .pattern = "y = test.exponential/1(x)",
                                                           .replacement = "y = test.ramp/1(x)"},
                                               .owner = &owner};
  const test_world_t* world = user;
  tenon__arena_t arena;
  tenon__rewrite_trial_t trial = {.fault = NULL};
  tenon__arena_initialize(&arena, allocator);
  const tenon_status_t status =
      tenon__rewrite_try(&world->options, &entry, allocator, &arena, &trial);
  EXPECT(status == TENON_OK || status == TENON_ERROR_OUT_OF_MEMORY);
  EXPECT(status != TENON_OK || trial.fault != NULL);
  tenon__arena_deinitialize(&arena);
  return status == TENON_OK;
}

TENON_TEST(memory_that_is_out_is_no_verdict) {
  test_world_t world;
  REQUIRE(test_world_open(&world));
  tenon__test_each_allocation(try_and_close, &world);
  test_world_close(&world);
}
