/* See kernel_checks.h. */
#include "check/kernel_checks.h"

#include <pthread.h>
#include <string.h>

#include "check/memory.h"
#include "check/shake.h"
#include "check/study.h"
#include "check/try_cases.h"
#include "text/console.h"

enum { MOST_PAIRS = 24, SMALL = 4096, MEDIUM = 1 << 16, LARGE = 1 << 17 };

/* ---- Subjects ---- */

static bool has_text(const tenon_operator_t* op, uint32_t flags) {
  return ((flags & TENON_KERNEL_EXPRESSIONS) != 0 && op->cases.count > 0) ||
         ((flags & TENON_KERNEL_MOVES) != 0 && op->moves.count > 0);
}

static void list_kernel(const check_plugin_t* plugin, const check_kernel_t* k, check_text_t* text) {
  for (const char* const* op = k->kernel.operators; op != NULL && *op != NULL; ++op) {
    check_text_add(text, "%s:%s %s\n", k->plugin, k->kernel.name, *op);
  }
  for (size_t o = 0; o < plugin->operator_count; ++o) {
    if (has_text(&plugin->operators[o].op, k->kernel.flags)) {
      check_text_add(text, "%s:%s %s\n", k->plugin, k->kernel.name, plugin->operators[o].op.name);
    }
  }
}

static void list(const check_t* check, bool with_slots, check_text_t* text) {
  for (size_t i = 0; i < check->plugin->kernel_count; ++i) {
    const check_kernel_t* k = &check->plugin->kernels[i];
    if (strcmp(k->plugin, check->plugin->info.name) == 0 &&
        (k->kernel.slots.count > 0 || !with_slots)) {
      list_kernel(check->plugin, k, text);
    }
  }
}

void check_kernel_list(const check_t* check, check_text_t* text) {
  list(check, false, text);
}

void check_slot_list(const check_t* check, check_text_t* text) {
  list(check, true, text);
}

/* ---- Cases ---- */

/* Expression kernels have many operators: fewer cases of each. */
static uint32_t case_count(const check_study_t* s, uint32_t share) {
  const uint32_t forms = TENON_KERNEL_EXPRESSIONS | TENON_KERNEL_MOVES;
  const bool has_many = s->kernel != NULL && (s->kernel->kernel.flags & forms) != 0;
  const uint32_t divisor = share * (has_many ? 3 : 1);
  return s->check->cases / divisor < 2 ? 2 : s->check->cases / divisor;
}

static uint64_t size_of(const check_wish_t* wish, uint32_t index) {
  return wish->most_elements > 0 ? wish->most_elements
         : index % 6 == 5        ? LARGE
         : index % 3 == 2        ? MEDIUM
                                 : SMALL;
}

static char try_cases(check_t* check, const char* subject, const check_kind_t* kind,
                      check_text_t* text) {
  const check_plan_t* plan = kind->plan;
  check_study_t study;
  if (!check_study_begin(check, subject, kind->name, &study)) {
    check_text_add(text, "the kernel or its operator is left out");
    return CHECK_FAILED;
  }
  const bool is_obstructed = check_case_obstacle(&study.op->op) != NULL;
  const uint32_t count = is_obstructed ? 0 : case_count(&study, plan->share);
  uint32_t done = 0;
  bool good = true;
  for (uint32_t i = 0; i < count && good; ++i) {
    check_wish_t wish = i % 2 == 0 ? plan->wish : plan->odd;
    wish.most_elements = size_of(&wish, i);
    if (check_study_next(&study, &wish, true)) {
      good =
          !check_study_is_refuted(&study, &study.engine, text) && plan->try_case(&study, i, text);
      ++done;
    } else if (done == 0 && i > 0) {
      break;
    }
  }
  char code = good ? CHECK_OK : CHECK_FAILED;
  if (good && done == 0) {
    code = check_study_skip(&study, text);
  } else if (good) {
    check_text_add(text, "%u cases", done);
    if (study.unreferred > 0) {
      check_text_add(text, ", %u without a reference", study.unreferred);
    }
  }
  check_study_end(&study);
  return code;
}

char check_try_cases(check_t* check, const char* subject, const check_kind_t* kind,
                     check_text_t* text) {
  check_plugin_t* usual = check->plugin;
  check_plugin_t* other = kind->plan->open != NULL ? kind->plan->open(check) : usual;
  if (other == NULL) {
    check_text_add(text, "%s", tenon_last_message());
    return CHECK_FAILED;
  }
  check->plugin = other;
  const char code = try_cases(check, subject, kind, text);
  check->plugin = usual;
  return code;
}

bool check_study_fail(const check_study_t* study, const char* what, check_text_t* text) {
  check_text_add(text, "%s: %s", what, tenon_last_message());
  check_study_tell(study, text);
  return false;
}

/* ---- values ---- */

typedef struct guarded_t {
  check_memory_t inputs[CHECK_MOST_INPUTS];
  check_memory_t outputs[CHECK_MOST_OUTPUTS];
  bool is_lent[CHECK_MOST_OUTPUTS];
  uint32_t output_count;
} guarded_t;

static tenon_status_t lend_inputs(const check_study_t* s, tenon_context_t* context, guarded_t* g) {
  uint32_t index = 0;
  for (uint32_t i = 0; i < s->c.input_count; ++i) {
    const tool_value_t* v = &s->c.inputs[i].value;
    if (!check_input_is_fed(&s->c.inputs[i])) {
      continue;
    }
    if (!check_memory_make(v->size_bytes, &g->inputs[i])) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    memcpy(g->inputs[i].data, v->data, v->size_bytes);
    check_memory_protect(&g->inputs[i], true);
    const tenon_tensor_view_t view = check_view(v, g->inputs[i].data);
    TOOL_TRY(tenon_context_set_input(context, index++, &view));
  }
  return TENON_OK;
}

/* Extents that only a run finds are allocated by the context. */
static tenon_status_t lend_outputs(const check_study_t* s, tenon_context_t* context, guarded_t* g) {
  g->output_count = tenon_engine_output_count(s->engine.engine);
  for (uint32_t i = 0; i < g->output_count; ++i) {
    tenon_io_info_t info = {.size = sizeof(info)};
    const int64_t* dims = NULL;
    const int64_t* most = NULL;
    uint64_t count = 0;
    uint64_t bytes = 0;
    TOOL_TRY(tenon_engine_get_output(s->engine.engine, i, &info));
    if (info.kind != TENON_ARGUMENT_TENSOR || info.dtype == TENON_DTYPE_STRING ||
        info.rank == TENON_NONE) {
      continue;
    }
    TOOL_TRY(tenon_context_get_output_extents(context, i, &dims, &most));
    if (!tool_element_count(info.rank, dims, info.dtype, &count, &bytes)) {
      continue;
    }
    if (!check_memory_make(bytes, &g->outputs[i])) {
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    const tenon_tensor_view_t view = {.data = g->outputs[i].data,
                                      .dims = dims,
                                      .rank = info.rank,
                                      .dtype = info.dtype,
                                      .layout = TENON_NONE};
    g->is_lent[i] = true;
    TOOL_TRY(tenon_context_set_output(context, i, &view));
  }
  return TENON_OK;
}

static tenon_status_t run_poisoned(const check_study_t* s, tenon_context_t* context, guarded_t* g,
                                   uint8_t byte, check_results_t* out_results) {
  for (uint32_t i = 0; i < g->output_count; ++i) {
    if (g->is_lent[i]) {
      check_memory_poison(&g->outputs[i], byte);
    }
  }
  TOOL_TRY(tenon_context_run(context));
  return check_context_take(context, s->engine.engine, out_results);
}

static bool look_around(const check_study_t* s, const guarded_t* g, check_text_t* text) {
  for (uint32_t i = 0; i < g->output_count; ++i) {
    const int64_t at = g->is_lent[i] ? check_memory_overrun(&g->outputs[i]) : 0;
    if (at != 0) {
      check_text_add(text, "the kernel writes %lld bytes %s output %u",
                     (long long)(at < 0 ? -at : at), at < 0 ? "in front of" : "behind the end of",
                     i);
      check_study_tell(s, text);
      return false;
    }
  }
  return true;
}

static bool judge_runs(const check_study_t* s, const check_results_t* first,
                       const check_results_t* second, check_text_t* text) {
  uint32_t output = 0;
  if (!check_results_equal(first, second, &output)) {
    check_text_add(text,
                   "two runs with the same inputs give other bits in output %u: write all of its "
                   "elements, and nothing that depends on what memory holds",
                   output);
    check_study_tell(s, text);
    return false;
  }
  return !s->has_reference || check_study_compare(s, first, &s->expected, text);
}

bool check_try_values(check_study_t* s, uint32_t index, check_text_t* text) {
  guarded_t g = {.output_count = 0};
  check_results_t first = {0};
  check_results_t second = {0};
  tenon_context_options_t options = TENON_OPTIONS(tenon_context_options_t);
  tenon_context_t* context = NULL;
  options.thread_count = 1 + 2 * (index % 2);
  tenon_status_t status = tenon_context_create(s->engine.engine, &options, &context);
  status = status != TENON_OK ? status : lend_inputs(s, context, &g);
  status = status != TENON_OK ? status : lend_outputs(s, context, &g);
  status = status != TENON_OK ? status : run_poisoned(s, context, &g, 0xFF, &first);
  bool good = status != TENON_OK || look_around(s, &g, text);
  if (status == TENON_OK && good) {
    status = run_poisoned(s, context, &g, 0x11, &second);
    good = status != TENON_OK || (look_around(s, &g, text) && judge_runs(s, &first, &second, text));
  }
  if (status != TENON_OK) {
    good = check_study_fail(s, "a run fails that the reference can do", text);
  }
  tenon_context_destroy(context);
  for (uint32_t i = 0; i < CHECK_MOST_INPUTS; ++i) {
    check_memory_free(&g.inputs[i]);
  }
  for (uint32_t i = 0; i < CHECK_MOST_OUTPUTS; ++i) {
    check_memory_free(&g.outputs[i]);
  }
  check_results_free(&first);
  check_results_free(&second);
  return good;
}

const check_plan_t check_values = {1, {0}, {0}, check_try_values, NULL};

/* ---- threads ---- */

typedef struct runner_t {
  const check_study_t* s;
  tenon_status_t status;
  check_results_t results;
} runner_t;

static void* run_alone(void* user) {
  runner_t* runner = user;
  runner->status = check_engine_run(&runner->s->engine, &runner->s->c, 3, false, &runner->results);
  return NULL;
}

/* Two contexts at once. False: the threads cannot be made, or a run failed. */
static bool run_both(runner_t* runners) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_alone, &runners[0]) != 0) {
    return false;
  }
  (void)run_alone(&runners[1]);
  (void)pthread_join(thread, NULL);
  return runners[0].status == TENON_OK && runners[1].status == TENON_OK;
}

/* Runs of 3 threads among each other, bit by bit; and against one thread, which may add up in
 * another order. */
static bool judge_threads(const check_study_t* s, const check_results_t* one,
                          const check_results_t* first, const check_results_t* results,
                          check_text_t* text) {
  uint32_t output = 0;
  if (!check_results_equal(first, results, &output)) {
    check_text_add(text,
                   "two runs with 3 threads give other bits in output %u: threads must not share "
                   "what they write",
                   output);
    check_study_tell(s, text);
    return false;
  }
  return check_study_compare(s, results, one, text);
}

static bool try_threads(check_study_t* s, uint32_t index, check_text_t* text) {
  check_results_t one = {0};
  check_results_t first = {0};
  bool good = check_engine_run(&s->engine, &s->c, 1, false, &one) == TENON_OK &&
              check_engine_run(&s->engine, &s->c, 3, false, &first) == TENON_OK;
  (void)index;
  if (!good) {
    (void)check_study_fail(s, "a run fails that the reference can do", text);
  }
  const double begin = tool_seconds();
  check_shake_begin();
  for (uint32_t k = 0; k < MOST_PAIRS && good && (k < 4 || tool_seconds() - begin < 0.4); ++k) {
    runner_t runners[2] = {{.s = s}, {.s = s}};
    good = run_both(runners);
    if (!good) {
      (void)check_study_fail(s, "two contexts at once fail", text);
    }
    for (uint32_t r = 0; r < 2; ++r) {
      good = good && judge_threads(s, &one, &first, &runners[r].results, text);
      check_results_free(&runners[r].results);
    }
  }
  check_shake_end();
  check_results_free(&first);
  check_results_free(&one);
  return good;
}

#define WIDE \
  { .most_elements = LARGE, .is_wide = true }
const check_plan_t check_threads = {4, WIDE, WIDE, try_threads, NULL};

/* ---- layouts and slots ---- */

/* The network of a form, by the reference and by the kernel. A form that is no valid network is
 * left out. */
static bool try_form(check_study_t* s, const check_form_t* form, check_text_t* text) {
  const check_kernels_t reference = {.threads = 1};
  const check_kernels_t kernels = {.only = s->kernel, .threads = 1};
  tenon_network_t* network = NULL;
  check_engine_t ours = {0};
  check_engine_t theirs = {0};
  check_results_t results = {0};
  check_results_t expected = {0};
  bool good = true;
  if (check_network_make(s->plugin, &s->c, form, &network) == TENON_OK &&
      check_engine_make(s->plugin, network, &s->c, &reference, NULL, &theirs) == TENON_OK &&
      check_engine_run(&theirs, &s->c, 1, true, &expected) == TENON_OK &&
      check_engine_make(s->plugin, network, &s->c, &kernels, NULL, &ours) == TENON_OK) {
    good = !check_study_is_refuted(s, &ours, text);
    check_shake_begin();
    for (uint32_t k = 0; k < 6 && good; ++k) { /* several times, for threads */
      check_results_free(&results);
      good = check_engine_run(&ours, &s->c, 3, true, &results) == TENON_OK
                 ? check_study_compare(s, &results, &expected, text)
                 : check_study_fail(s, "a run fails that the reference can do", text);
    }
    check_shake_end();
  }
  check_results_free(&expected);
  check_results_free(&results);
  check_engine_free(&theirs);
  check_engine_free(&ours);
  tenon_network_destroy(network);
  return good;
}

static bool try_layouts(check_study_t* s, uint32_t index, check_text_t* text) {
  const check_form_t form = {.transposed = index % 2 == 0, .sliced = index % 2 == 1};
  if (!try_form(s, &form, text)) {
    check_text_add(text, form.sliced
                             ? "; inputs are parts of larger tensors, outputs of a concatenation"
                             : "; inputs and outputs are permuted");
    return false;
  }
  return true;
}

static bool try_slots(check_study_t* s, uint32_t index, check_text_t* text) {
  static const char* const around[] = {
      "", "behind output 0", "behind output 0, with a tensor of its extents",
      "behind output 0, with a tensor along axis 1", "before input 0"};
  const check_form_t form = {.fused = 1 + index / 2 % (CHECK_FUSED_COUNT - 1)};
  if (!try_form(s, &form, text)) {
    check_text_add(text, "; with arithmetic %s", around[form.fused]);
    return false;
  }
  return true;
}

const check_plan_t check_layouts = {3, {0}, {0}, try_layouts, NULL};
const check_plan_t check_slots = {2, {0}, WIDE, try_slots, NULL};
