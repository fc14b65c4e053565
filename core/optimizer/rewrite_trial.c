/* Trials of a rewrite: samples of its pattern are computed twice, without and with the rewrite, by
 * the evaluator of programs, and compared. */
#include "core/optimizer/rewrite_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base/status.h"
#include "core/catalog/check.h"
#include "core/network/copy.h"
#include "core/optimizer/optimizer.h"
#include "core/optimizer/rewrite.h"
#include "core/optimizer/rewrite_sample.h"
#include "core/optimizer/rewriter.h"
#include "core/tensor/layout.h"

enum {
  MOST_DRAWS = 240,
  ENOUGH_COMPARED = 16,
  ENOUGH_CLOSED = 8, /* so many networks that nobody computes here: no use to go on */
  MOST_PATCHES = 64  /* of one network: more, and it matches what it made */
};

typedef struct trial_t {
  const tenon__optimize_options_t* options;
  const tenon__rewrite_entry_t* entry;
  tenon_allocator_t allocator;
  tenon__arena_t* arena;
  tenon__rewrite_trial_t result;
  uint32_t unclear_count; /* draws in which the guard cannot be evaluated */
  uint32_t clear_count;
  uint32_t unfit_count; /* in which it holds, and the replacement does not fit */
  uint32_t closed_count;
  char said[768];            /* at the node at hand */
  char unclear_message[768]; /* why its guard cannot be evaluated, lately */
  char unfit_message[768];   /* why its replacement does not fit, lately */
} trial_t;

static void hear(void* user, int32_t severity, const char* message) {
  trial_t* trial = user;
  (void)severity;
  (void)snprintf(trial->said, sizeof(trial->said), "%s", message);
}

/* What was said of a node, kept for what became of it there. */
static void keep_message(trial_t* trial, tenon__rewrite_outcome_t outcome) {
  if (outcome == TENON_REWRITE_UNCLEAR || outcome == TENON_REWRITE_UNFIT) {
    memcpy(outcome == TENON_REWRITE_UNFIT ? trial->unfit_message : trial->unclear_message,
           trial->said, sizeof(trial->said));
  }
}

/* ---- Applying ---- */

/* At every node, until nothing happens any more. */
static tenon_status_t apply_all(trial_t* trial, tenon__rewriter_t* rewriter,
                                tenon__rewrite_t* rewrite) {
  uint32_t graph = 0;
  uint32_t node = 0;
  bool is_unclear = false;
  bool is_unfit = false;
  TENON_TRY(tenon__rewriter_queue_all(rewriter));
  while (rewrite->patch_count < MOST_PATCHES && tenon__rewriter_next(rewriter, 0, &graph, &node)) {
    tenon__rewrite_outcome_t outcome;
    trial->said[0] = '\0';
    TENON_TRY(tenon__rewrite_visit(rewriter, rewrite, graph, node, &outcome));
    keep_message(trial, outcome);
    is_unclear = is_unclear || outcome == TENON_REWRITE_UNCLEAR;
    is_unfit = is_unfit || outcome == TENON_REWRITE_UNFIT;
    trial->clear_count +=
        outcome == TENON_REWRITE_NO_MATCH || outcome == TENON_REWRITE_UNCLEAR ? 0 : 1;
    TENON_TRY_MEMORY(!tenon__rewriter_end_visit(rewriter));
  }
  trial->unclear_count += is_unclear ? 1 : 0;
  trial->unfit_count += is_unfit ? 1 : 0;
  return TENON_OK;
}

/* *out_patches: how often the network was changed. */
static tenon_status_t rewrite_network(trial_t* trial, tenon__network_t* network,
                                      uint32_t* out_patches) {
  const tenon_sink_t explain = {trial, hear};
  tenon__optimize_options_t options = {.find = trial->options->find,
                                       .find_user = trial->options->find_user};
  tenon__rewriter_t* rewriter = NULL;
  tenon__rewrite_t rewrite;
  TENON_TRY(tenon__rewriter_create(network, &options, 1, NULL, NULL, &rewriter));
  rewriter->explain = &explain;
  tenon_status_t status = tenon__rewrite_parse(&rewriter->arena, trial->entry, NULL, &rewrite);
  if (status == TENON_OK) {
    status = apply_all(trial, rewriter, &rewrite);
  }
  *out_patches = status == TENON_OK ? rewrite.patch_count : 0;
  tenon__rewriter_destroy(rewriter);
  return status;
}

/* ---- Computing ---- */

static bool is_computed(void* user, const tenon__operator_t* op) {
  (void)user;
  (void)op;
  return false; /* by no kernel: what has a decomposition is decomposed */
}

/* The core's own evaluator, through the passes that use it. */
static uint32_t computing_passes(void) {
  static const char* const names[] = {"decompose", "fold constants"};
  uint32_t mask = 0;
  for (uint32_t i = 0; tenon__optimizer_pass_name(i) != NULL; ++i) {
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); ++k) {
      mask |= strcmp(tenon__optimizer_pass_name(i), names[k]) == 0 ? 1u << i : 0;
    }
  }
  return mask;
}

/* NULL when it cannot be computed here. */
static tenon_status_t compute(const trial_t* trial, tenon__network_t* network,
                              const tenon__weights_t** out_result) {
  const tenon__optimize_options_t options = {.passes = computing_passes(),
                                             .find = trial->options->find,
                                             .find_user = trial->options->find_user,
                                             .is_computed = is_computed};
  *out_result = NULL;
  TENON_TRY(tenon__optimize(network, &options, NULL, NULL));
  const tenon__graph_t* graph = network->graphs[0];
  const uint32_t weights = graph->values[graph->outputs[0]].weights;
  if (weights != TENON_NONE && network->weights[weights].data != NULL) {
    *out_result = &network->weights[weights];
  }
  return TENON_OK;
}

/* ---- Comparing ---- */

static tenon_status_t blame(trial_t* trial, const char* fault) {
  trial->result.fault = fault;
  return fault == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
}

/* A pattern has at most 64 roundings, each of half a unit in the last place; how much one is
 * amplified depends on the operators. A factor of 1e4 to 1e5 over the unit is allowed, which no
 * difference that is meant stays below. */
static double tolerance_of(tenon_dtype_t dtype) {
  switch (dtype) {
    case TENON_DTYPE_FLOAT64:
      return 1e-11;
    case TENON_DTYPE_FLOAT32:
      return 1e-3;
    case TENON_DTYPE_FLOAT16:
      return 0.1; /* 2^-11, a hundred times */
    default:
      return 0.5; /* narrower ones: gross errors alone */
  }
}

static double largest(const tenon__weights_t* weights, uint64_t count) {
  double most = 1;
  for (uint64_t i = 0; i < count; ++i) {
    const double number = fabs(tenon__element_load(weights->data, weights->dtype, i).f);
    most = isfinite(number) && number > most ? number : most;
  }
  return most;
}

/* The first element that differs; `count` when none does. Where the pattern has no number, the
 * replacement may have any. */
static uint64_t first_difference(const tenon__weights_t* a, const tenon__weights_t* b,
                                 uint64_t count) {
  const bool is_float = tenon__dtype_class(a->dtype) == 'f';
  const double allowed = is_float ? tolerance_of(a->dtype) * largest(a, count) : 0;
  for (uint64_t i = 0; i < count; ++i) {
    const tenon__scalar_t x = tenon__element_load(a->data, a->dtype, i);
    const tenon__scalar_t y = tenon__element_load(b->data, b->dtype, i);
    if (is_float ? isfinite(x.f) && !(fabs(x.f - y.f) <= allowed) : x.i != y.i) {
      return i;
    }
  }
  return count;
}

static tenon_status_t compare(trial_t* trial, tenon__sample_t* sample, const tenon__weights_t* a,
                              const tenon__weights_t* b) {
  uint64_t count = 0;
  const char type_class = tenon__dtype_class(a->dtype);
  if (a->dtype != b->dtype || a->size_bytes != b->size_bytes || type_class == 's' ||
      type_class == 'c' || !tenon__element_count(a->rank, a->dims, &count)) {
    return TENON_OK; /* what fits is of one type: strings and complex numbers are left */
  }
  ++trial->result.compared;
  const uint64_t at = first_difference(a, b, count);
  if (at < count) {
    return blame(trial, tenon__arena_format(trial->arena,
                                            "it changes results: with %s element %llu is %s by the "
                                            "pattern and %s by the replacement",
                                            tenon__sample_text(sample), (unsigned long long)at,
                                            tenon__element_text(a, at, trial->arena),
                                            tenon__element_text(b, at, trial->arena)));
  }
  return TENON_OK;
}

/* ---- One sample ---- */

static tenon_status_t try_copy(trial_t* trial, tenon__sample_t* sample, tenon__network_t* copy) {
  uint32_t patches = 0;
  TENON_TRY(rewrite_network(trial, copy, &patches));
  if (patches == 0) {
    return TENON_OK;
  }
  ++trial->result.applied;
  if (patches >= MOST_PATCHES) {
    return blame(trial, tenon__arena_format(trial->arena,
                                            "it matches what it made: of a network of %u node%s, "
                                            "it was applied %u times and could be "
                                            "again",
                                            sample->network->graphs[0]->node_count,
                                            sample->network->graphs[0]->node_count == 1 ? "" : "s",
                                            patches));
  }
  const tenon__weights_t* before = NULL;
  const tenon__weights_t* after = NULL;
  TENON_TRY(compute(trial, sample->network, &before));
  if (before != NULL) {
    TENON_TRY(compute(trial, copy, &after));
  }
  if (before == NULL || after == NULL) {
    ++trial->closed_count;
    return TENON_OK;
  }
  return compare(trial, sample, before, after);
}

static tenon_status_t try_sample(trial_t* trial, tenon__sampler_t* sampler) {
  tenon__sample_t sample;
  tenon__network_t* copy = NULL;
  tenon_status_t status = tenon__sample_draw(sampler, &sample);
  if (status == TENON_OK) {
    status = tenon__network_copy(sample.network, &copy);
  }
  if (status == TENON_OK) {
    status = try_copy(trial, &sample, copy);
  }
  tenon__network_destroy(copy);
  tenon__sample_release(&sample);
  return status == TENON_ERROR_UNSUPPORTED ? TENON_OK : status;
}

/* What never worked, though it could have. */
static tenon_status_t judge_failures(trial_t* trial) {
  const bool is_unclear = trial->unclear_count > 0 && trial->clear_count == 0;
  const bool is_unfit = trial->unfit_count > 0 && trial->result.applied == 0;
  const char* message = is_unfit ? trial->unfit_message : trial->unclear_message;
  if (trial->result.fault != NULL || (!is_unclear && !is_unfit) || message[0] == '\0') {
    return TENON_OK;
  }
  return blame(
      trial, is_unfit
                 ? tenon__arena_format(trial->arena,
                                       "where it matches, its replacement never fits: %s", message)
                 : tenon__arena_format(trial->arena, "its guard \"%s\" can never be evaluated: %s",
                                       trial->entry->rewrite.when, message));
}

tenon_status_t tenon__rewrite_try(const tenon__optimize_options_t* options,
                                  const tenon__rewrite_entry_t* entry, tenon_allocator_t allocator,
                                  tenon__arena_t* arena, tenon__rewrite_trial_t* out_trial) {
  trial_t trial = {.options = options, .entry = entry, .allocator = allocator, .arena = arena};
  tenon__rewrite_t rewrite;
  *out_trial = trial.result;
  if (options->find == NULL) {
    return TENON_OK;
  }
  const tenon_status_t parsed = tenon__rewrite_parse(arena, entry, NULL, &rewrite);
  if (parsed != TENON_OK) {
    return parsed == TENON_ERROR_OUT_OF_MEMORY ? parsed : TENON_OK; /* it is told elsewhere */
  }
  tenon__sampler_t sampler = {.allocator = allocator,
                              .find = options->find,
                              .find_user = options->find_user,
                              .pattern = &rewrite.pattern,
                              .when = rewrite.when};
  for (uint32_t i = 0;
       i < MOST_DRAWS && trial.result.fault == NULL && trial.result.compared < ENOUGH_COMPARED &&
       trial.closed_count < ENOUGH_CLOSED;
       ++i) {
    TENON_TRY(try_sample(&trial, &sampler));
  }
  TENON_TRY(judge_failures(&trial));
  *out_trial = trial.result;
  return TENON_OK;
}

tenon_status_t tenon__rewrite_admit(const tenon__optimize_options_t* options,
                                    const tenon__rewrite_entry_t* entry,
                                    tenon_allocator_t allocator, const tenon_sink_t* sink,
                                    bool* out_refused) {
  if (options->catalog != NULL && tenon__catalog_is_tried(options->catalog, entry, out_refused)) {
    return TENON_OK;
  }
  tenon__arena_t arena;
  tenon__rewrite_trial_t trial;
  tenon__arena_initialize(&arena, allocator);
  const tenon_status_t status = tenon__rewrite_try(options, entry, allocator, &arena, &trial);
  if (status == TENON_OK && options->catalog != NULL) {
    tenon__catalog_judge(options->catalog, entry, trial.fault, sink);
  } else if (status == TENON_OK && trial.fault != NULL) {
    tenon__report(sink, TENON_SEVERITY_WARNING, "plugin %s (%s): rewrite '%s': %s; it is left out",
                  entry->owner->plugin, entry->owner->path, entry->rewrite.name, trial.fault);
  }
  *out_refused = status == TENON_OK && trial.fault != NULL;
  tenon__arena_deinitialize(&arena);
  return status == TENON_OK ? status : TENON_ERROR_OUT_OF_MEMORY;
}
