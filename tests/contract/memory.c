/*
 * Kernels that need memory:
 *
 *   reverse   x backwards. Its rules are what everybody writes first: zeros.
 *   threads   writes into its scratch on every thread, and says how many threads it was told of.
 *   nested    calls parallel within parallel.
 */
#include "stranger.h"

TENON_PLUGIN_MANIFEST("memory", "1.0.0",
                      "offers: operator memory.reverse/1\noffers: operator memory.threads/1\n"
                      "offers: operator memory.nested/1\n"
                      "offers: kernel reverse memory.reverse/1 cpu\n"
                      "offers: kernel threads memory.threads/1 cpu\n"
                      "offers: kernel nested memory.nested/1 cpu\n");

enum { SHARED = 192, EACH = 4096 };

/* ---- reverse ---- */

STRANGER_TACTICS(zero_filled_rules) {
  (void)state;
  (void)region;
  (void)table;
  const tenon_argument_rule_t rule = {.kind = TENON_LAYOUT_ROW_MAJOR};
  const tenon_tactic_t tactic = {.size = sizeof(tactic), .name = "backwards", .outputs = &rule};
  return add(emit, &tactic);
}

static tenon_status_t run_reverse(const tenon_enqueue_t* call) {
  const int64_t count = stranger_count(&call->inputs[0].tensor);
  for (int64_t k = 0; k < count; ++k) {
    ((float*)call->outputs[0].tensor.data)[k] =
        ((const float*)call->inputs[0].tensor.data)[count - 1 - k];
  }
  return TENON_OK;
}

/* ---- threads ---- */

STRANGER_TACTICS(scratch_by_thread) {
  (void)state;
  (void)region;
  (void)table;
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "parts",
                                 .scratch_bytes = SHARED,
                                 .scratch_bytes_per_thread = EACH};
  return add(emit, &tactic);
}

static tenon_status_t bind_threads(void* instance, tenon_binding_t* binding,
                                   const tenon_bind_table_t* host, void** out_bound) {
  (void)instance;
  uint32_t* count = host->allocate(binding, sizeof(*count));
  if (count == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *count = host->thread_count(binding);
  *out_bound = count;
  return TENON_OK;
}

typedef struct parts_t {
  unsigned char* scratch;
  uint32_t thread_count;
  unsigned char wrong[256]; /* one for each thread */
} parts_t;

static void fill_part(void* user, uint32_t index, uint32_t thread) {
  parts_t* parts = user;
  (void)index;
  if (thread >= parts->thread_count) {
    parts->wrong[255] = 1;
    return;
  }
  memset(parts->scratch + SHARED + (size_t)thread * EACH, (int)thread + 1, EACH);
}

/* y = what bind was told, what enqueue is told, how many parts another thread overwrote. */
static tenon_status_t run_threads(const tenon_enqueue_t* call) {
  parts_t parts = {.scratch = call->host->scratch(call->run),
                   .thread_count = call->host->thread_count(call->run)};
  float* y = call->outputs[0].tensor.data;
  memset(parts.scratch, 0xff, SHARED);
  call->host->parallel(call->run, 64 * parts.thread_count, fill_part, &parts);
  uint32_t wrong = parts.wrong[255];
  for (uint32_t k = 0; k < SHARED; ++k) {
    wrong += parts.scratch[k] != 0xff ? 1U : 0U;
  }
  for (uint32_t t = 0; t < parts.thread_count; ++t) {
    const unsigned char* part = parts.scratch + SHARED + (size_t)t * EACH;
    for (uint32_t k = 1; k < EACH; ++k) { /* a thread that had nothing to do wrote nothing */
      wrong += part[0] == t + 1 && part[k] != t + 1 ? 1U : 0U;
    }
  }
  y[0] = (float)*(const uint32_t*)call->bound;
  y[1] = (float)parts.thread_count;
  y[2] = (float)wrong;
  return TENON_OK;
}

/* ---- nested ---- */

typedef struct nest_t {
  tenon_run_t* run;
  const tenon_run_table_t* host;
} nest_t;

static void inner(void* user, uint32_t index, uint32_t thread) {
  (void)user;
  (void)index;
  (void)thread;
}

static void outer(void* user, uint32_t index, uint32_t thread) {
  const nest_t* nest = user;
  (void)index;
  (void)thread;
  nest->host->parallel(nest->run, 4, inner, NULL);
}

static tenon_status_t run_nested(const tenon_enqueue_t* call) {
  nest_t nest = {call->run, call->host};
  memcpy(call->outputs[0].tensor.data, call->inputs[0].tensor.data,
         (size_t)stranger_count(&call->inputs[0].tensor) * sizeof(float));
  call->host->parallel(call->run, 4, outer, &nest);
  return TENON_OK;
}

/* ---- Tables ---- */

static const tenon_operator_t operators[] = {STRANGER_UNARY("memory.reverse/1"),
                                             STRANGER_UNARY("memory.threads/1"),
                                             STRANGER_UNARY("memory.nested/1")};
static const char* const reverses[] = {"memory.reverse/1", NULL};
static const char* const counts[] = {"memory.threads/1", NULL};
static const char* const nests[] = {"memory.nested/1", NULL};
static const tenon_kernel_t kernels[] = {
    {.size = sizeof(tenon_kernel_t),
     .name = "reverse",
     .device = "cpu",
     .operators = reverses,
     .version = 1,
     .tactics = zero_filled_rules,
     .enqueue = run_reverse},
    {.size = sizeof(tenon_kernel_t),
     .name = "threads",
     .device = "cpu",
     .operators = counts,
     .version = 1,
     .tactics = scratch_by_thread,
     .bind = bind_threads,
     .enqueue = run_threads},
    {.size = sizeof(tenon_kernel_t),
     .name = "nested",
     .device = "cpu",
     .operators = nests,
     .version = 1,
     .enqueue = run_nested},
};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
STRANGER_QUERY("memory")
