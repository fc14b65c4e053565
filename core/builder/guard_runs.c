/* Runs on samples: results as dense rows, compared with those of the exact plan. To round a value,
 * the exact plan runs with a watcher that changes it. */
#include "core/builder/guard_runs.h"

#include <math.h>
#include <string.h>

#include "core/base/status.h"
#include "core/context/border.h"
#include "core/context/context.h"
#include "core/plan/place.h"
#include "core/rehearsal/difference.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/tensor/strided_copy.h"

/* ---- Tensors ---- */

/* A tensor as dense rows in the arena; of an undefined type where it has no numbers to compare. */
static tenon_status_t copy_dense(tenon__arena_t* arena, const tenon_argument_t* argument,
                                 tenon_tensor_view_t* out_copy) {
  const tenon_tensor_view_t* view = &argument->tensor;
  uint64_t count = 0;
  size_t bytes = 0;
  *out_copy = (tenon_tensor_view_t){.dtype = TENON_DTYPE_UNDEFINED};
  if (argument->kind != TENON_ARGUMENT_TENSOR || tenon__dtype_bits(view->dtype) < 8 ||
      view->dtype == TENON_DTYPE_STRING || !tenon__element_count(view->rank, view->dims, &count) ||
      !tenon__dtype_bytes(view->dtype, count, &bytes)) {
    return TENON_OK;
  }
  int64_t* dims = tenon__arena_copy(arena, view->dims, (view->rank + 1u) * sizeof *dims);
  int64_t* strides = tenon__arena_allocate(arena, view->rank + 1u, sizeof *strides);
  void* data = tenon__arena_allocate(arena, bytes + 1, 1);
  TENON_TRY_MEMORY(dims != NULL && strides != NULL && data != NULL);
  (void)tenon__strides_row_major(view->rank, dims, strides);
  *out_copy = (tenon_tensor_view_t){.data = data,
                                    .dims = dims,
                                    .strides = strides,
                                    .rank = view->rank,
                                    .dtype = view->dtype,
                                    .layout = TENON_NONE};
  tenon__strided_copy(view, out_copy);
  return TENON_OK;
}

static double number_at(const tenon_tensor_view_t* view, uint64_t k) {
  const tenon_dtype_t arithmetic = tenon__dtype_arithmetic(view->dtype);
  return tenon__scalar_cast(tenon__element_load(view->data, view->dtype, k), arithmetic,
                            TENON_DTYPE_FLOAT64)
      .f;
}

/* Both made by copy_dense. */
static double error_between(const tenon_tensor_view_t* exact, const tenon_tensor_view_t* other) {
  uint64_t count = 0;
  double difference = 0;
  double norm = 0;
  uint64_t unlike = 0;
  if (exact->dtype == TENON_DTYPE_UNDEFINED) {
    return 0;
  }
  if (exact->rank != other->rank || exact->dtype != other->dtype ||
      (exact->rank > 0 &&
       memcmp(exact->dims, other->dims, exact->rank * sizeof *exact->dims) != 0) ||
      !tenon__element_count(exact->rank, exact->dims, &count)) {
    return INFINITY;
  }
  for (uint64_t k = 0; k < count; ++k) {
    const double a = number_at(exact, k);
    const double b = number_at(other, k);
    if (isfinite(a) && isfinite(b)) {
      difference += (a - b) * (a - b);
      norm += a * a;
    }
    unlike += a != b && !(isnan(a) && isnan(b)) ? 1 : 0;
    if (isfinite(a) != isfinite(b)) {
      return INFINITY;
    }
  }
  if (tenon__dtype_class(exact->dtype) != 'f') {
    return count == 0 ? 0 : (double)unlike / (double)count;
  }
  return difference == 0 ? 0 : (norm == 0 ? INFINITY : sqrt(difference / norm));
}

/* ---- Runs ---- */

static seen_value_t* seen_at(guard_runs_t* r, uint32_t graph, uint32_t value) {
  const uint32_t k = r->index[graph][value];
  return k == TENON_NONE ? NULL : &r->seen[k];
}

typedef struct visit_t {
  tenon__watcher_t watcher;
  void* user;
  uint32_t sample_count;
  bool keeps; /* the results are the exact ones; else they are compared with those */
  double error;
} visit_t;

/* As it is, or rounded in memory of the arena. */
static tenon_status_t take_input(guard_runs_t* r, uint32_t input, const tenon_tensor_view_t* given,
                                 tenon__arena_t* scratch, tenon_tensor_view_t* out_view) {
  const uint32_t value = tenon__engine_plan(r->exact)->network->graphs[0]->inputs[input];
  const seen_value_t* seen = seen_at(r, 0, value);
  const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = *given};
  uint64_t count = 0;
  *out_view = *given;
  if (seen == NULL || seen->dtype == TENON_DTYPE_UNDEFINED) {
    return TENON_OK;
  }
  TENON_TRY(copy_dense(scratch, &argument, out_view));
  if (tenon__element_count(out_view->rank, out_view->dims, &count)) {
    tenon__elements_round(out_view->data, out_view->dtype, seen->dtype, count);
  }
  return TENON_OK;
}

static tenon_status_t set_sample(guard_runs_t* r, tenon__context_t* context,
                                 const tenon__input_sample_t* sample, tenon__arena_t* scratch,
                                 const visit_t* visit) {
  const tenon__plan_t* plan = tenon__engine_plan(r->exact);
  const uint32_t count = plan->network->graphs[0]->input_count;
  if (sample->input_count != count) {
    return tenon__fail(r->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "a sample has %u inputs, the network has %u", sample->input_count, count);
  }
  for (uint32_t k = 0; k < count; ++k) {
    tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = sample->inputs[k]};
    TENON_TRY(visit->watcher == NULL
                  ? TENON_OK
                  : take_input(r, k, &sample->inputs[k], scratch, &argument.tensor));
    TENON_TRY(tenon__context_set_input(context, k, &argument));
  }
  return TENON_OK;
}

static tenon_status_t look_at_results(guard_runs_t* r, const tenon__context_t* context,
                                      uint32_t sample, tenon__arena_t* scratch, visit_t* visit) {
  for (uint32_t k = 0; k < r->output_count; ++k) {
    tenon_tensor_view_t* exact = &r->results[(size_t)sample * r->output_count + k];
    tenon_tensor_view_t copy;
    TENON_TRY(copy_dense(visit->keeps ? &r->arena : scratch, tenon__context_get_output(context, k),
                         &copy));
    if (visit->keeps) {
      *exact = copy;
    } else {
      const double error = error_between(exact, &copy);
      visit->error = error > visit->error ? error : visit->error;
    }
  }
  return TENON_OK;
}

static tenon_status_t run_samples(guard_runs_t* r, tenon__engine_t* engine, visit_t* visit) {
  tenon__context_t* context = NULL;
  TENON_TRY(tenon__context_create(engine, 0, NULL, &context));
  tenon__context_set_watcher(context, visit->watcher, visit->user);
  tenon_status_t status = TENON_OK;
  for (uint32_t s = 0; s < visit->sample_count && status == TENON_OK; ++s) {
    tenon__arena_t scratch;
    tenon__arena_initialize(&scratch, r->allocator);
    status = set_sample(r, context, &r->samples[s], &scratch, visit);
    status = status == TENON_OK ? tenon__context_run(context) : status;
    status = status == TENON_OK ? look_at_results(r, context, s, &scratch, visit) : status;
    tenon__arena_deinitialize(&scratch);
  }
  tenon__context_destroy(context);
  return status;
}

tenon_status_t tenon__guard_error(guard_runs_t* runs, tenon__engine_t* engine, double* out_error) {
  visit_t visit = {.sample_count = runs->sample_count};
  const tenon_status_t status = run_samples(runs, engine, &visit);
  *out_error = visit.error;
  return status;
}

/* ---- Values ---- */

static void see(guard_runs_t* r, uint32_t graph, uint32_t value) {
  const tenon__graph_t* g = tenon__engine_plan(r->exact)->network->graphs[graph];
  if (r->index[graph][value] == TENON_NONE && g->values[value].type.dtype == TENON_DTYPE_FLOAT32) {
    r->index[graph][value] = r->seen_count;
    r->seen[r->seen_count++] =
        (seen_value_t){.name = g->values[value].name, .graph = graph, .value = value};
  }
}

static void note_range(void* user, uint32_t graph, uint32_t value,
                       const tenon_tensor_view_t* tensor) {
  guard_runs_t* r = user;
  if (tensor->dtype != TENON_DTYPE_FLOAT32) {
    return;
  }
  see(r, graph, value);
  seen_value_t* seen = seen_at(r, graph, value);
  const double largest = tenon__tensor_magnitude(tensor);
  seen->largest = largest > seen->largest ? largest : seen->largest;
}

/* Dense in some order: what kernels write into boxes of others is rounded with these. */
static void round_value(void* user, uint32_t graph, uint32_t value,
                        const tenon_tensor_view_t* tensor) {
  guard_runs_t* r = user;
  const seen_value_t* seen = seen_at(r, graph, value);
  uint64_t count = 0;
  if (seen != NULL && seen->dtype != TENON_DTYPE_UNDEFINED &&
      tenon__strides_dense(tensor->rank, tensor->dims, tensor->strides) &&
      tenon__element_count(tensor->rank, tensor->dims, &count)) {
    tenon__elements_round(tensor->data, tensor->dtype, seen->dtype, count);
  }
}

tenon_status_t tenon__guard_rounded(guard_runs_t* r, const narrow_value_t* values, uint32_t count,
                                    uint32_t sample_count, double* out_error) {
  visit_t visit = {.watcher = round_value, .user = r, .sample_count = sample_count};
  for (uint32_t k = 0; k < r->seen_count; ++k) {
    r->seen[k].dtype = TENON_DTYPE_UNDEFINED;
  }
  *out_error = INFINITY;
  for (uint32_t k = 0; k < count; ++k) {
    if (values[k].seen == TENON_NONE) {
      return TENON_OK;
    }
    r->seen[values[k].seen].dtype = values[k].dtype;
  }
  const tenon_status_t status = run_samples(r, r->exact, &visit);
  *out_error = visit.error;
  return status;
}

tenon_status_t tenon__guard_find_harm(guard_runs_t* r, narrow_value_t* value) {
  value->harm = INFINITY;
  if (value->seen == TENON_NONE) {
    return TENON_OK;
  }
  seen_value_t* seen = &r->seen[value->seen];
  if (seen->harm_type != value->dtype) {
    TENON_TRY(tenon__guard_rounded(r, value, 1, 1, &seen->harm));
    seen->harm_type = value->dtype;
  }
  value->harm = seen->harm;
  return TENON_OK;
}

/* Of a view: that of which it is one. */
static uint32_t find_seen(const guard_runs_t* r, uint32_t graph, const char* name) {
  const tenon__plan_t* plan = tenon__engine_plan(r->exact);
  const tenon__schedule_t* schedule = &plan->schedules[graph];
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    const uint32_t value = schedule->places[p].value;
    if (strcmp(plan->network->graphs[graph]->values[value].name, name) == 0) {
      const uint32_t root = tenon__place_root(schedule, p);
      return root == TENON_NONE ? TENON_NONE : r->index[graph][schedule->places[root].value];
    }
  }
  return TENON_NONE;
}

static bool is_listed(const narrow_value_t* values, uint32_t count, const char* name) {
  for (uint32_t k = 0; k < count; ++k) {
    if (strcmp(values[k].name, name) == 0) {
      return true;
    }
  }
  return false;
}

tenon_status_t tenon__guard_narrow_values(const guard_runs_t* r, const tenon__engine_t* engine,
                                          tenon__arena_t* arena, narrow_value_t** out_values,
                                          uint32_t* out_count) {
  const tenon__plan_t* plan = tenon__engine_plan(engine);
  size_t most = 0;
  uint32_t count = 0;
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    most += plan->schedules[g].place_count;
  }
  narrow_value_t* values = tenon__arena_allocate(arena, most + 1, sizeof *values);
  TENON_TRY_MEMORY(values != NULL);
  for (uint32_t g = 0; g < plan->schedule_count; ++g) {
    for (uint32_t p = 0; p < plan->schedules[g].place_count; ++p) {
      const tenon__place_t* place = &plan->schedules[g].places[p];
      const tenon__value_node_t* value = &plan->network->graphs[g]->values[place->value];
      if (place->dtype == TENON_DTYPE_UNDEFINED || value->weights != TENON_NONE ||
          place->storage == TENON_STORAGE_VIEW || is_listed(values, count, value->name)) {
        continue;
      }
      values[count++] = (narrow_value_t){.name = tenon__arena_copy_string(arena, value->name),
                                         .dtype = place->dtype,
                                         .seen = find_seen(r, g, value->name),
                                         .harm = INFINITY};
      TENON_TRY_MEMORY(values[count - 1].name != NULL);
    }
  }
  *out_values = values;
  *out_count = count;
  return TENON_OK;
}

/* ---- Begin and end ---- */

tenon_status_t tenon__guard_load(const guard_runs_t* r, const tenon__made_t* made,
                                 tenon__engine_t** out_engine) {
  const tenon__engine_options_t options = {.allocator = r->allocator, .sink = r->sink};
  return tenon__engine_create(r->catalog, made->data, made->size_bytes, &options, out_engine);
}

static tenon_status_t make_tables(guard_runs_t* r) {
  const tenon__network_t* network = tenon__engine_plan(r->exact)->network;
  size_t most = 0;
  r->output_count = network->graphs[0]->output_count;
  r->results = tenon__arena_allocate(&r->arena, (size_t)r->sample_count * r->output_count + 1,
                                     sizeof *r->results);
  r->index = tenon__arena_allocate(&r->arena, network->graph_count + 1u, sizeof *r->index);
  TENON_TRY_MEMORY(r->results != NULL && r->index != NULL);
  for (uint32_t g = 0; g < network->graph_count; ++g) {
    const uint32_t count = network->graphs[g] == NULL ? 0 : network->graphs[g]->value_count;
    r->index[g] = tenon__arena_allocate(&r->arena, count + 1u, sizeof **r->index);
    TENON_TRY_MEMORY(r->index[g] != NULL);
    memset(r->index[g], 0xff, (count + 1u) * sizeof **r->index);
    most += count;
  }
  r->seen = tenon__arena_allocate(&r->arena, most + 1, sizeof *r->seen);
  TENON_TRY_MEMORY(r->seen != NULL);
  return TENON_OK;
}

tenon_status_t tenon__guard_runs_begin(guard_runs_t* out_runs, tenon__catalog_t* catalog,
                                       const tenon__build_options_t* options,
                                       const tenon__made_t* made) {
  guard_runs_t* r = out_runs;
  *r = (guard_runs_t){.catalog = catalog,
                      .made = *made,
                      .allocator = options->allocator,
                      .sink = options->sink,
                      .samples = options->samples,
                      .sample_count = options->sample_count};
  visit_t visit = {
      .watcher = note_range, .user = r, .sample_count = r->sample_count, .keeps = true};
  tenon__arena_initialize(&r->arena, r->allocator);
  TENON_TRY(tenon__guard_load(r, &r->made, &r->exact));
  TENON_TRY(make_tables(r));
  const tenon__graph_t* g = tenon__engine_plan(r->exact)->network->graphs[0];
  for (uint32_t k = 0; k < g->input_count; ++k) {
    see(r, 0, g->inputs[k]);
  }
  return run_samples(r, r->exact, &visit);
}

void tenon__guard_runs_end(guard_runs_t* runs) {
  if (runs->catalog != NULL) {
    tenon__engine_release(runs->exact);
    tenon__made_free(&runs->made); /* which the engine read */
    tenon__arena_deinitialize(&runs->arena);
  }
}
