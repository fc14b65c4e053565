/*
 * Kernels that do harm: ROGUE_MODE names one fault. The operator doubles numbers. Its reference
 * kernel is right, unless the fault is the operator's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/plugin.h"

/* Faults on purpose, by comparisons of constants. NOLINTBEGIN(misc-*,clang-analyzer-*,performance-*,bugprone-*) */
enum {
  HONEST,
  WRONG,       /* computes something else */
  ONCE,        /* one element of many is wrong */
  HALF,        /* does not write every second element */
  PAST,        /* writes 8 floats behind the output */
  NEAR,        /* writes one float behind the output */
  FAR,         /* writes to nowhere */
  READS_PAST,  /* reads far behind the input */
  WRITER,      /* writes to its input */
  SCRATCH,     /* writes behind its scratch */
  ENDLESS,     /* does not end */
  SHARED,      /* threads share their scratch */
  CHANGING,    /* other results in each run */
  NESTED,      /* parallel inside of parallel */
  STALE,       /* keeps the extents of its first binding */
  INFINITE,    /* writes infinity for other extents than those of its first binding */
  DENSE,       /* says STRIDED, and reads rows */
  EMPTY,       /* divides by an extent while it is bound */
  FORGETFUL,   /* does not look at the result of allocate */
  OVERFLOWING, /* 32 bits for sizes in tactics: a crash for large ones */
  MATCH_CRASH, /* match crashes */
  PREPARE_FAILS,
  TACTICS_FAILS,
  SMALL_SHAPE, /* the shape rule is smaller than the written output */
  LINEAR,      /* adds 1, and has the trait linear along the first axis */
  LINEAR_LAST, /* the same along the last axis */
  JOINED,      /* ignores its second input, and has the trait concatenable */
  EXPRESSION,  /* the expression is another function than the reference kernel */
  NO_SLASH,    /* an identity without a version */
  SLOT         /* ignores the arithmetic in its slot */
};

#define TEXT_OF_(x) #x
#define TEXT_OF(x) TEXT_OF_(x)
#define NAME TEXT_OF(ROGUE_NAME)
TENON_PLUGIN_MANIFEST(NAME, "1.0.0", "licence: MIT\noffers: operator *\noffers: kernel *\n");

/* ---- The operator ---- */

#define OPERATOR NAME ".double/1"
static const tenon_type_variable_t types[] = {{sizeof(*types), .name = "T", .allowed = "f32"}};
static const tenon_port_t inputs[] = {{sizeof(*inputs), .name = "x", .type = "T"},
                                      {sizeof(*inputs), .name = "w", .type = "T"}};
static const tenon_port_t outputs[] = {{sizeof(*outputs), .name = "y", .type = "T"}};
static const tenon_case_t cases[] = {{sizeof(*cases), .text = "y = x * 2.5"}};
/* Ranges that are open on one side. */
static const tenon_attribute_descriptor_t attributes[] = {
    {sizeof(*attributes), .name = "from", .kind = TENON_ATTRIBUTE_INT,
     .flags = TENON_ATTRIBUTE_REQUIRED, .choices = "1.."},
    {sizeof(*attributes), .name = "to", .kind = TENON_ATTRIBUTE_INT,
     .flags = TENON_ATTRIBUTE_REQUIRED, .choices = "..-2|7"}};
enum { TAKES_TWO = ROGUE_MODE == LINEAR || ROGUE_MODE == LINEAR_LAST || ROGUE_MODE == JOINED };
static const tenon_operator_t operators[] = {{
    .size = sizeof(*operators),
    .name = ROGUE_MODE == NO_SLASH ? NAME ".double" : OPERATOR,
    .types = TENON_LIST(types),
    .inputs = {inputs, TAKES_TWO ? 2 : 1, sizeof(*inputs)},
    .outputs = TENON_LIST(outputs),
    .shape = ROGUE_MODE == SMALL_SHAPE
                 ? "y.rank = rank(x); y[d] = dim(x, d) > 1 ? dim(x, d) - 1 : dim(x, d)"
                 : "y = x",
    .traits = ROGUE_MODE == LINEAR        ? "linear(input=1, axis=0, output_axis=0)"
              : ROGUE_MODE == LINEAR_LAST ? "linear(input=1, axis=-1, output_axis=-1)"
              : ROGUE_MODE == JOINED      ? "concatenable(axis=-1, output_axis=-1)"
                                          : NULL,
    .attributes = {attributes, ROGUE_MODE == HONEST ? 2 : 0, sizeof(*attributes)},
    .cases = {cases, ROGUE_MODE == EXPRESSION ? 1 : 0, sizeof(*cases)},
}};

/* ---- Kernels ---- */

static size_t count_of(const tenon_tensor_view_t* x) {
  size_t count = 1;
  for (uint32_t d = 0; d < x->rank; d++) {
    count *= (size_t)x->dims[d];
  }
  return count;
}

static tenon_status_t enqueue_reference(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  const float* from = x->data;
  float* to = call->outputs[0].tensor.data;
  const size_t count = count_of(ROGUE_MODE == SMALL_SHAPE ? &call->outputs[0].tensor : x);
  for (size_t k = 0; k < count; k++) {
    to[k] = ROGUE_MODE == LINEAR || ROGUE_MODE == LINEAR_LAST ? from[k] + 1 : 2 * from[k];
  }
  return TENON_OK;
}

typedef struct job_t {
  const tenon_enqueue_t* call;
  float* scratch;
  const float* from;
  float* to;
  size_t count;
} job_t;

enum { PARTS = 64 };

/* Through the scratch that all threads share. */
static void run_part(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  (void)thread;
  const size_t begin = job->count * index / PARTS;
  const size_t end = job->count * (index + 1) / PARTS;
  volatile float* scratch = job->scratch;
  for (size_t k = begin; k < end; k++) {
    *scratch = job->from[k];
    job->to[k] = 2 * *scratch;
  }
}

static void nest(void* user, uint32_t index, uint32_t thread) {
  const job_t* job = user;
  (void)thread;
  if (index == 0) {
    job->call->host->parallel(job->call->run, PARTS, run_part, user);
  }
}

static void harm(const tenon_enqueue_t* call, float* to, size_t count) {
  static volatile int runs;
  static volatile uintptr_t low = 16;
  volatile float* const nowhere = (volatile float*)low;
  if (ROGUE_MODE == ONCE && count > 100) {
    to[count / 3] *= 1.25F;
  } else if (ROGUE_MODE == PAST || ROGUE_MODE == NEAR) {
    for (size_t k = 0; k < (ROGUE_MODE == PAST ? 8 : 1); k++) {
      to[count + k] = 1;
    }
  } else if (ROGUE_MODE == FAR) {
    *nowhere = 1;
  } else if (ROGUE_MODE == READS_PAST && count > 0) {
    to[0] += 0 * ((const volatile float*)call->inputs[0].tensor.data)[count + 4096];
  } else if (ROGUE_MODE == WRITER && count > 1) {
    ((float*)call->inputs[0].tensor.data)[1] = 3;
  } else if (ROGUE_MODE == SCRATCH) {
    memset(call->host->scratch(call->run), 1, 4096 + 64);
  } else if (ROGUE_MODE == CHANGING && count > 0) {
    to[0] += (float)++runs;
  }
}

typedef struct bound_t {
  size_t count;
  int elements_in_row;
  int is_other; /* than the first */
} bound_t;

static tenon_status_t enqueue(const tenon_enqueue_t* call) {
  const tenon_tensor_view_t* x = &call->inputs[0].tensor;
  const bound_t* bound = call->bound;
  const float* from = x->data;
  float* to = call->outputs[0].tensor.data;
  const size_t count = ROGUE_MODE == STALE || ROGUE_MODE == FORGETFUL ? bound->count : count_of(x);
  const job_t job = {call, call->host->scratch(call->run), from, to, count};
  volatile int forever = ROGUE_MODE == ENDLESS;
  while (forever != 0) {
  }
  if (ROGUE_MODE == SHARED || ROGUE_MODE == NESTED) {
    call->host->parallel(call->run, PARTS, ROGUE_MODE == NESTED ? nest : run_part, (void*)&job);
    return TENON_OK;
  }
  for (size_t k = 0; k < count; k += ROGUE_MODE == HALF ? 2 : 1) {
    to[k] = (ROGUE_MODE == WRONG ? 3 : 2) * from[k];
  }
  if (ROGUE_MODE == INFINITE && bound->is_other != 0 && count > 0) {
    to[count / 2] = HUGE_VALF;
  }
  harm(call, to, count);
  return TENON_OK;
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     tenon_refusal_t* out_refusal) {
  (void)state, (void)region, (void)table, (void)out_refusal;
  if (ROGUE_MODE == MATCH_CRASH) {
    static volatile uintptr_t low = 16;
    *(volatile int*)low = 1;
  }
  return 1;
}

static tenon_status_t tactics(void* state, const tenon_region_t* region,
                              const tenon_region_table_t* table, tenon_emit_t* emit,
                              tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  const tenon_value_info_t* x = table->value(region, table->input(region, 0));
  static const tenon_argument_rule_t strided = {.kind = TENON_LAYOUT_ANY,
                                                .flags = TENON_RULE_STRIDED};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "rows",
                                 .inputs = ROGUE_MODE == DENSE ? &strided : NULL,
                                 .estimate_seconds = 1e-9,
                                 .scratch_bytes = 4096};
  int32_t count = 1;
  (void)state;
  for (uint32_t d = 0; d < x->rank && ROGUE_MODE == OVERFLOWING; d++) {
    count = (int32_t)((uint32_t)count * (uint32_t)x->dims_max[d]);
  }
  if (ROGUE_MODE == OVERFLOWING && x->rank > 0 && x->dims_max[0] > 0 && count <= 0) {
    abort();
  }
  return ROGUE_MODE == TACTICS_FAILS ? TENON_ERROR_INTERNAL : add(emit, &tactic);
}

static tenon_status_t prepare(const tenon_prepare_t* call, void** out_instance) {
  size_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL && ROGUE_MODE != FORGETFUL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *instance = 0;
  *out_instance = instance;
  return ROGUE_MODE == PREPARE_FAILS ? TENON_ERROR_INTERNAL : TENON_OK;
}

static tenon_status_t bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                           void** out_bound) {
  size_t* first = instance;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  if (bound == NULL && ROGUE_MODE != FORGETFUL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->count = count_of(&host->input(binding, 0)->tensor);
  if (ROGUE_MODE == EMPTY) {
    bound->elements_in_row = 100 / (int)bound->count;
  }
  *first = *first == 0 ? bound->count : *first;
  bound->is_other = *first != bound->count;
  bound->count = ROGUE_MODE == STALE && *first < bound->count ? *first : bound->count;
  *out_bound = bound;
  return TENON_OK;
}

static const char* const names[] = {OPERATOR, NULL};
static const tenon_slot_t slots[] = {{.size = sizeof(*slots),
                                      .kind = TENON_SLOT_EPILOGUE,
                                      .max_operands = 1,
                                      .broadcasts = TENON_BROADCAST_FULL}};
static const tenon_kernel_t kernels[] = {
    {.size = sizeof(*kernels),
     .name = "plain",
     .device = "cpu",
     .operators = names,
     .version = 1,
     .flags = TENON_KERNEL_REFERENCE,
     .enqueue = enqueue_reference},
    {.size = sizeof(*kernels),
     .name = "fast",
     .device = "cpu",
     .operators = names,
     .version = 1,
     .slots = {slots, ROGUE_MODE == SLOT ? 1 : 0, sizeof(*slots)},
     .match = match,
     .tactics = tactics,
     .prepare = prepare,
     .bind = bind,
     .enqueue = enqueue}};
static const tenon_offering_t* const offerings[] = {TENON_OFFERING("operator/1", operators),
                                                    TENON_OFFERING("kernel/1", kernels)};
static const tenon_plugin_t plugin = {TENON_PLUGIN_HEADER, .name = NAME, .version = "1.0.0",
                                      .offerings = TENON_LIST(offerings)};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  (void)host;
  return &plugin;
}
/* NOLINTEND(misc-*,clang-analyzer-*,performance-*,bugprone-*) */
