/* See kernel_checks.h: one engine with several extents, empty and huge extents, failing allocations. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/kernel_checks.h"
#include "check/numbers.h"
#include "check/study.h"
#include "check/try_cases.h"
#include "text/console.h"

/* ---- shapes ---- */

/* The case with other extents and new numbers. False: the domains do not permit it. */
static bool resize_case(const check_study_t* s, const check_symbols_t* symbols,
                        check_random_t* random, check_case_t* out_case) {
  *out_case = s->c;
  for (uint32_t i = 0; i < s->c.input_count; ++i) {
    out_case->inputs[i].value = (tool_value_t){0}; /* the study's own until here */
  }
  for (uint32_t i = 0; i < s->c.input_count; ++i) {
    check_input_t* input = &out_case->inputs[i];
    const tool_value_t* from = &s->c.inputs[i].value;
    int64_t dims[CHECK_MOST_RANK] = {0};
    if (from->kind == TENON_ARGUMENT_ABSENT) {
      continue;
    }
    if (input->is_constant) {
      tool_value_copy(from, &input->value);
      continue;
    }
    for (uint32_t k = 0; k < from->rank; ++k) {
      dims[k] = check_symbol_actual(symbols, from->dims[k]);
    }
    if (tool_value_make("input", from->dtype, from->rank, dims, &input->value) != TENON_OK) {
      return false;
    }
  }
  for (uint32_t i = 0; i < s->c.input_count; ++i) {
    check_input_t* input = &out_case->inputs[i];
    if (check_input_is_fed(input) && !check_numbers_draw(out_case, input, random)) {
      return false;
    }
  }
  return true;
}

static tenon_status_t run_in(tenon_context_t* context, const check_engine_t* engine,
                             const check_case_t* c, check_results_t* out_results) {
  TOOL_TRY(check_context_feed(context, c));
  TOOL_TRY(tenon_context_run(context));
  return check_context_take(context, engine->engine, out_results);
}

/* Extents of one run: halves, as drawn, one less, one symbol alone, and as drawn again. */
static void pick_extents(check_study_t* s, uint32_t point, check_symbols_t* symbols) {
  const uint32_t one = check_random_pick(&s->random, symbols->count + 1);
  for (uint32_t k = 0; k < symbols->count; ++k) {
    const int64_t extent = symbols->extents[k];
    int64_t actual = extent;
    actual = point == 0 ? extent / 2 : point == 2 ? extent - 1 : actual;
    actual = point == 3 && k == one ? extent - extent / 3 : actual;
    symbols->actual[k] = actual < 1 ? (extent < 1 ? extent : 1) : actual;
  }
}

typedef struct pair_t {
  check_engine_t ours;
  check_engine_t theirs;
  tenon_context_t* our_context;
  tenon_context_t* their_context;
} pair_t;

static bool try_point(check_study_t* s, const pair_t* pair, const check_symbols_t* symbols,
                      check_text_t* text) {
  check_case_t c;
  check_results_t results = {0};
  check_results_t expected = {0};
  bool good = true;
  if (resize_case(s, symbols, &s->random, &c)) {
    const tenon_status_t wanted = run_in(pair->their_context, &pair->theirs, &c, &expected);
    const tenon_status_t status = run_in(pair->our_context, &pair->ours, &c, &results);
    if (wanted == TENON_OK) {
      good = status == TENON_OK
                 ? check_study_compare(s, &results, &expected, text)
                 : check_study_fail(s, "a run fails that the reference can do", text);
      if (!good) {
        check_text_add(text, "; one engine runs several extents, here: ");
        check_case_print(&c, text);
      }
    }
  }
  check_results_free(&expected);
  check_results_free(&results);
  check_case_release(&c);
  return good;
}

static bool run_points(check_study_t* s, pair_t* pair, check_symbols_t* symbols,
                       check_text_t* text) {
  enum { POINTS = 5 };
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  bool good = true;
  options.thread_count = 2;
  if (tenon_context_create(pair->ours.engine, &options, &pair->our_context) == TENON_OK &&
      tenon_context_create(pair->theirs.engine, &options, &pair->their_context) == TENON_OK) {
    for (uint32_t point = 0; point < POINTS && good; ++point) {
      pick_extents(s, point, symbols);
      good = try_point(s, pair, symbols, text);
    }
  }
  tenon_context_destroy(pair->our_context);
  tenon_context_destroy(pair->their_context);
  return good;
}

/* A kernel may refuse extents that are not known: then there is nothing to run. */
static bool try_symbolic(check_study_t* s, check_text_t* text) {
  const check_form_t form = {.symbolic = true};
  const check_kernels_t reference = {.threads = 2};
  const check_kernels_t kernels = {.only = s->kernel, .threads = 2};
  tenon_network_t* network = NULL;
  check_symbols_t symbols;
  pair_t pair = {.our_context = NULL};
  bool good = true;
  check_symbols_find(&s->c, &symbols);
  if (check_network_make(s->plugin, &s->c, &form, &network) == TENON_OK &&
      check_engine_make(s->plugin, network, &s->c, &reference, &symbols, &pair.theirs) ==
          TENON_OK &&
      check_engine_make(s->plugin, network, &s->c, &kernels, &symbols, &pair.ours) == TENON_OK) {
    good = !check_study_is_refuted(s, &pair.ours, text) && run_points(s, &pair, &symbols, text);
  }
  check_engine_free(&pair.ours);
  check_engine_free(&pair.theirs);
  tenon_network_destroy(network);
  return good;
}

static bool try_shapes(check_study_t* s, uint32_t index, check_text_t* text) {
  return index % 2 == 0 ? try_symbolic(s, text) : check_try_values(s, index, text);
}

const check_plan_t check_shapes = {
    3, {.most_elements = 4096}, {.is_empty = true}, try_shapes, NULL};

/* ---- extents ---- */

/* The larger extents grow by 2^12, 2^20 and 2^28. Nothing is run. */
static bool try_extents(check_study_t* s, uint32_t index, check_text_t* text) {
  const check_kernels_t kernels = {.only = s->kernel, .unmeasured = true, .threads = 2};
  check_symbols_t symbols;
  check_symbols_find(&s->c, &symbols);
  const check_form_t form = {.extents = &symbols};
  (void)text;
  for (uint32_t k = 0; k < symbols.count; ++k) {
    symbols.actual[k] =
        symbols.extents[k] > 1 ? symbols.extents[k] << (12 + 8 * (index % 3)) : symbols.extents[k];
  }
  tenon_network_t* network = NULL;
  check_engine_t engine = {0};
  if (check_network_make(s->plugin, &s->c, &form, &network) == TENON_OK) {
    (void)check_engine_make(s->plugin, network, &s->c, &kernels, NULL, &engine);
  }
  check_engine_free(&engine);
  tenon_network_destroy(network);
  return true;
}

#define UNKNOWN \
  { .most_elements = 512, .no_constants = true }
const check_plan_t check_extents = {4, UNKNOWN, UNKNOWN, try_extents, NULL};

/* ---- allocations ---- */

/* The allocation after so many more fails, and so do all that follow; negative: none does. */
static atomic_int countdown = -1;

static void* resize_or_fail(void* user, void* block, size_t old_size_bytes, size_t new_size_bytes) {
  (void)user;
  if (new_size_bytes == 0) {
    free(block);
    return NULL;
  }
  if (atomic_load(&countdown) >= 0 && atomic_fetch_sub(&countdown, 1) <= 0) {
    atomic_store(&countdown, 0);
    return NULL;
  }
  void* larger = NULL;
  if (posix_memalign(&larger, 64, new_size_bytes) != 0) {
    return NULL;
  }
  if (block != NULL) {
    memcpy(larger, block, old_size_bytes < new_size_bytes ? old_size_bytes : new_size_bytes);
    free(block);
  }
  return larger;
}

/* Loads, runs and frees the case's plan with failing allocations. True: none failed. */
static bool run_failing(const check_study_t* s, int after, bool* out_good) {
  check_engine_t engine = {.plan = s->engine.plan};
  check_results_t results = {0};
  atomic_store(&countdown, after);
  tenon_status_t status =
      tenon_engine_create_from_plan(s->plugin->registry, engine.plan, NULL, &engine.engine);
  if (status == TENON_OK) {
    status = check_engine_run(&engine, &s->c, 2, false, &results);
  }
  const bool none_failed = atomic_load(&countdown) > 0;
  atomic_store(&countdown, -1);
  *out_good = status == TENON_OK || !none_failed;
  check_results_free(&results);
  tenon_engine_release(engine.engine);
  return none_failed;
}

static bool try_allocations(check_study_t* s, uint32_t index, check_text_t* text) {
  enum { MOST_ALLOCATIONS = 600 };
  bool good = true;
  (void)index;
  for (int after = 0; after < MOST_ALLOCATIONS && good; ++after) {
    if (run_failing(s, after, &good)) {
      break;
    }
  }
  check_results_t results = {0};
  if (good && check_engine_run(&s->engine, &s->c, 1, false, &results) == TENON_OK) {
    good = !s->has_reference || check_study_compare(s, &results, &s->expected, text);
  } else {
    good = check_study_fail(s, "after allocations that failed, a run fails", text);
  }
  check_results_free(&results);
  return good;
}

/* The plugin again, in a registry whose allocations can fail. */
static check_plugin_t* open_failing(const check_t* check) {
  static check_plugin_t plugin;
  const tenon_allocator_t allocator = {NULL, resize_or_fail};
  if (plugin.registry == NULL && (check_plugin_find(check, &allocator, &plugin) != TENON_OK ||
                                  check_plugin_load(&plugin) != TENON_OK)) {
    return NULL;
  }
  return &plugin;
}

#define SMALL \
  { .most_elements = 512 }
const check_plan_t check_allocations = {12, SMALL, SMALL, try_allocations, open_failing};
