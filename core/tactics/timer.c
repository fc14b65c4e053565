/* How long a tactic takes here: prepared, bound and run on made-up data, the smallest of several
 * times. */
#include <string.h>

#include "core/base/allocator.h"
#include "core/base/file.h"
#include "core/base/status.h"
#include "core/tactics/tuning.h"
#include "core/tensor/layout.h"

enum { MAX_RANK = 64, LEAST_RUNS = 3, MOST_RUNS = 40 };
static const double enough_seconds =
    4e-3; /* seconds of measuring after which the smallest time counts */
static const double long_seconds = 0.02;   /* of one run, that somebody may want the end of */
static const double hopeless_factor = 3.0; /* times slower than the best: no second look */

bool tenon__rule_strides(const tenon_argument_rule_t* rule, uint32_t rank, const int64_t* dims,
                         const tenon_tensor_view_t* first, int64_t* out_strides) {
  const uint32_t kind = rule == NULL ? TENON_LAYOUT_ROW_MAJOR : rule->kind;
  if (kind == TENON_LAYOUT_EXACT && rule->layout != NULL && rule->layout->order != NULL &&
      rule->layout->rank == rank) {
    return tenon__layout_is_strided(rule->layout) &&
           tenon__strides_ordered(rank, dims, rule->layout->order, out_strides);
  }
  if (kind == TENON_LAYOUT_FOLLOWS && first != NULL && first->rank == rank && rank > 0 &&
      tenon__strides_dense(rank, first->dims, first->strides)) {
    uint32_t order[MAX_RANK];
    for (uint32_t k = 0; k < rank; ++k) { /* insertion by falling stride, stable */
      uint32_t at = k;
      while (at > 0 && first->strides[order[at - 1]] < first->strides[k]) {
        order[at] = order[at - 1];
        --at;
      }
      order[at] = k;
    }
    return tenon__strides_ordered(rank, dims, order, out_strides);
  }
  return tenon__strides_row_major(rank, dims, out_strides);
}

typedef struct trial_t {
  tenon__tuning_t* tuning;
  const struct tenon_region_t* region;
  const tenon__step_tactic_t* tactic;
  tenon__arena_t arena;
  tenon_argument_t* inputs;
  tenon_argument_t* outputs;
  tenon__growing_t** growing; /* outputs of unknown extents */
  void* scratch;
  void* zeroed;
  void* persistent;
} trial_t;

/* Numbers that no kernel finds remarkable: floats in [-1, 1), integers 0 or 1. */
static void fill_data(void* data, tenon_dtype_t dtype, uint64_t count) {
  uint64_t state = 0x9e3779b97f4a7c15u;
  const char kind = tenon__dtype_class(dtype);
  if (kind == 's' || kind == 'c' || kind == 'x') {
    return; /* zeros: empty strings */
  }
  if (dtype == TENON_DTYPE_FLOAT32) {
    float* floats = data;
    for (uint64_t i = 0; i < count; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      floats[i] = (float)(int32_t)(uint32_t)(state >> 32) * 0x1p-31f;
    }
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const tenon__scalar_t value =
        kind == 'f' ? (tenon__scalar_t){.f = (double)(state >> 40) * 0x1p-23 - 1.0}
                    : (tenon__scalar_t){.i = (int64_t)(state >> 63)};
    tenon__element_store(data, dtype, i, value,
                         kind == 'f' ? TENON_DTYPE_FLOAT64 : TENON_DTYPE_INT64);
  }
}

static void* allocate_aligned(trial_t* trial, size_t size_bytes) {
  char* raw = tenon__arena_allocate(&trial->arena, size_bytes + 128, 1);
  return raw == NULL ? NULL : raw + (64 - (uintptr_t)raw % 64) % 64;
}

/* A tensor of a value at the optimum. `constant`: its own bytes. */
static tenon_status_t make_tensor(trial_t* trial, const tenon_value_info_t* value,
                                  const tenon_argument_rule_t* rule,
                                  const tenon_tensor_view_t* first, bool is_output,
                                  tenon_tensor_view_t* out_view) {
  int64_t* dims = tenon__arena_allocate(&trial->arena, value->rank + 1u, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&trial->arena, value->rank + 1u, sizeof *strides);
  uint64_t count = 0;
  size_t bytes = 0;
  if (dims == NULL || strides == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memcpy(dims, value->dims_opt, value->rank * sizeof *dims);
  if (!tenon__rule_strides(rule, value->rank, dims, first, strides)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  *out_view = (tenon_tensor_view_t){.dims = dims,
                                    .strides = strides,
                                    .rank = value->rank,
                                    .dtype = value->dtype,
                                    .layout = TENON_NONE};
  if (value->constant_data != NULL && !is_output) {
    out_view->data = tenon__drop_const(value->constant_data);
    return tenon__strides_row_major(value->rank, dims, strides) ? TENON_OK
                                                                : TENON_ERROR_INVALID_DATA;
  }
  if (!tenon__element_count(value->rank, dims, &count) ||
      !tenon__dtype_bytes(value->dtype, count, &bytes)) {
    return TENON_ERROR_INVALID_DATA;
  }
  out_view->data = allocate_aligned(trial, bytes);
  if (out_view->data == NULL) {
    tenon__report(trial->tuning->sink, TENON_SEVERITY_WARNING,
                  "value '%s' has %zu bytes at the profile's optimum, which there is no memory for",
                  value->name, bytes);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  if (!is_output) {
    fill_data(out_view->data, value->dtype, count);
  }
  return TENON_OK;
}

static tenon_status_t align(trial_t* trial, bool is_output, uint32_t index,
                            const tenon_tensor_view_t* tensor, tenon_tensor_view_t* out_view) {
  int64_t* dims = tenon__arena_allocate(&trial->arena, MAX_RANK, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&trial->arena, MAX_RANK, sizeof *strides);
  if (dims == NULL || strides == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const tenon__extents_t* extents = &trial->region->profile->optimum;
  return is_output ? tenon__region_align_output(trial->region, index, extents, tensor, dims,
                                                strides, out_view)
                   : tenon__region_align_input(trial->region, index, extents, tensor, dims, strides,
                                               out_view);
}

static tenon_status_t make_inputs(trial_t* trial) {
  const struct tenon_region_t* region = trial->region;
  tenon_tensor_view_t first = {0};
  for (uint32_t k = 0; k < region->input_count; ++k) {
    const uint32_t value = region->input_values[k];
    if (value == TENON_NONE) {
      continue;
    }
    const tenon_argument_rule_t* rule =
        trial->tactic->input_rules == NULL ? NULL : &trial->tactic->input_rules[k];
    tenon_tensor_view_t tensor;
    const uint32_t kind =
        region->network->graphs[region->graph]->values[region->inputs[k].value].kind;
    if (kind != TENON_ARGUMENT_TENSOR) {
      return TENON_ERROR_UNSUPPORTED;
    }
    TENON_TRY(
        make_tensor(trial, &region->values[value], rule, k == 0 ? NULL : &first, false, &tensor));
    if (k == 0) {
      first = tensor;
    }
    trial->inputs[k].kind = TENON_ARGUMENT_TENSOR;
    TENON_TRY(align(trial, false, k, &tensor, &trial->inputs[k].tensor));
  }
  return TENON_OK;
}

static tenon_status_t make_outputs(trial_t* trial) {
  const struct tenon_region_t* region = trial->region;
  const tenon_tensor_view_t* first = region->input_count > 0 ? &trial->inputs[0].tensor : NULL;
  for (uint32_t k = 0; k < region->output_count; ++k) {
    const uint32_t value = region->output_values[k];
    if (value == TENON_NONE) {
      continue;
    }
    const tenon__value_node_t* v =
        &region->network->graphs[region->graph]->values[region->outputs[k].value];
    int64_t dims[MAX_RANK];
    const bool known = v->rank != TENON_NONE && v->rank <= MAX_RANK &&
                       v->kind == TENON_ARGUMENT_TENSOR &&
                       tenon__extents_shape(&region->profile->optimum, v->rank, v->dims, dims);
    const tenon_argument_rule_t* rule =
        trial->tactic->output_rules == NULL ? NULL : &trial->tactic->output_rules[k];
    tenon_tensor_view_t tensor;
    if (!known) {
      return TENON_ERROR_UNSUPPORTED; /* sequences, sizes that only the run knows: not timed */
    }
    TENON_TRY(make_tensor(trial, &region->values[value], rule, first, true, &tensor));
    trial->outputs[k].kind = TENON_ARGUMENT_TENSOR;
    TENON_TRY(align(trial, true, k, &tensor, &trial->outputs[k].tensor));
  }
  return TENON_OK;
}

static tenon_status_t repeat_runs(trial_t* trial, tenon__bound_t* bound, double best_so_far,
                                  double* out_seconds) {
  struct tenon_run_t run = {.pool = trial->tuning->pool,
                            .scratch = trial->scratch,
                            .zeroed = trial->zeroed,
                            .persistent = trial->persistent,
                            .sink = NULL,
                            .interrupt = trial->tuning->options.interrupt,
                            .step_name = "timing",
                            .growing = trial->growing,
                            .growing_count = trial->region->output_count};
  double best = 1e30;
  double total = 0;
  tenon__thread_pool_wake(trial->tuning->pool);
  for (uint32_t k = 0; k < MOST_RUNS; ++k) {
    const double begin = tenon__seconds();
    const tenon_status_t status = tenon__bound_run(bound, &run, trial->inputs, trial->outputs);
    const double seconds = tenon__seconds() - begin;
    if (status != TENON_OK || tenon__interrupt_is_wanted(trial->tuning->options.interrupt)) {
      tenon__thread_pool_rest(trial->tuning->pool);
      return status == TENON_OK ? TENON_ERROR_CANCELLED : status;
    }
    /* What is short need not ask, and is not measured asking. */
    run.interrupt = seconds > long_seconds ? run.interrupt : NULL;
    total += seconds;
    best = seconds < best && (k > 0 || seconds > enough_seconds) ? seconds : best;
    if (k > 0 && best > hopeless_factor * best_so_far) {
      break;
    }
    if (k + 1 >= LEAST_RUNS && total > enough_seconds) {
      break;
    }
  }
  tenon__thread_pool_rest(trial->tuning->pool);
  *out_seconds = best;
  return TENON_OK;
}

static tenon_status_t run_trial(trial_t* trial, const tenon__kernel_entry_t* kernel,
                                double best_so_far, double* out_seconds) {
  tenon__tuning_t* tuning = trial->tuning;
  tenon__packed_store_t* store = NULL;
  tenon__instance_t* instance = NULL;
  tenon__bound_t* bound = NULL;
  const tenon__kernel_binding_t binding = {.kernel = &kernel->kernel,
                                           .state = kernel->owner->state,
                                           .plugin = kernel->owner->plugin,
                                           .device = tuning->device,
                                           .device_handle = tuning->device_handle};
  tenon_status_t status = tenon__packed_store_create(tuning->allocator, &store);
  if (status == TENON_OK) {
    status = tenon__instance_create(tuning->allocator, &binding, trial->region, trial->tactic,
                                    "timing", store, tuning->options.thread_count, NULL, &instance);
  }
  if (status == TENON_OK) {
    status = tenon__bound_create(tuning->allocator, instance, &trial->region->profile->optimum,
                                 trial->inputs, trial->outputs, NULL, &bound);
  }
  if (status == TENON_OK) {
    status = repeat_runs(trial, bound, best_so_far, out_seconds);
  }
  tenon__bound_destroy(bound);
  tenon__instance_release(instance);
  tenon__packed_store_destroy(store);
  return status;
}

tenon_status_t tenon__timer_measure(tenon__tuning_t* tuning, const struct tenon_region_t* region,
                                    const tenon__kernel_entry_t* kernel,
                                    const tenon__step_tactic_t* tactic, double best_so_far,
                                    double* out_seconds) {
  trial_t trial = {.tuning = tuning, .region = region, .tactic = tactic};
  tenon__arena_initialize(&trial.arena, tuning->allocator);
  trial.inputs =
      tenon__arena_allocate(&trial.arena, region->input_count + 1u, sizeof *trial.inputs);
  trial.outputs =
      tenon__arena_allocate(&trial.arena, region->output_count + 1u, sizeof *trial.outputs);
  trial.growing = tenon__arena_allocate(&trial.arena, region->output_count + 1u, sizeof(void*));
  trial.scratch = allocate_aligned(&trial, tactic->scratch_bytes);
  trial.zeroed = allocate_aligned(&trial, tactic->zeroed_bytes);
  trial.persistent = allocate_aligned(&trial, tactic->persistent_bytes);
  tenon_status_t status = TENON_ERROR_OUT_OF_MEMORY;
  if (trial.inputs != NULL && trial.outputs != NULL && trial.growing != NULL &&
      trial.scratch != NULL && trial.zeroed != NULL && trial.persistent != NULL) {
    status = make_inputs(&trial);
  }
  if (status == TENON_OK) {
    status = make_outputs(&trial);
  }
  if (status == TENON_OK) {
    status = run_trial(&trial, kernel, best_so_far, out_seconds);
  } else if (status == TENON_ERROR_UNSUPPORTED) {
    *out_seconds = 0; /* cannot be timed alone: no reason against it */
    status = TENON_OK;
  }
  tenon__arena_deinitialize(&trial.arena);
  return status;
}
