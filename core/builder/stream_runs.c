/* Both ways in turns, in two contexts of one engine, on data in the memory of its device. The
 * smallest time of each way counts. */
#include "core/builder/stream_runs.h"

#include "core/base/file.h"
#include "core/base/noise.h"
#include "core/base/status.h"
#include "core/context/border.h"
#include "core/context/context.h"
#include "core/context/run_times.h"
#include "core/device/memory.h"
#include "core/engine/engine.h"
#include "core/engine/uploads.h"
#include "core/operator/made_data.h"
#include "core/tensor/dtype.h"
#include "core/tensor/layout.h"
#include "core/timing/trial_inputs.h"

/* A tensor in the device's memory. */
typedef struct lent_tensor_t {
  tenon_tensor_view_t view;
  size_t size_bytes;
} lent_tensor_t;

typedef struct stream_runs_t {
  const tenon__building_t* building;
  tenon__arena_t arena;
  tenon__engine_t* engine;
  tenon__memory_t memory;
  lent_tensor_t* tensors; /* inputs, then outputs */
  uint32_t tensor_count;  /* that are there */
  tenon__context_t* on_streams;
  tenon__context_t* in_a_row;
  int runs_a_round;
} stream_runs_t;

static const tenon__graph_t* main_graph(const stream_runs_t* r) {
  return tenon__engine_plan(r->engine)->network->graphs[0];
}

/* ---- Tensors ---- */

/* Dense rows at the optimum, on the device. */
static tenon_status_t lend(stream_runs_t* r, const tenon__value_node_t* value,
                           lent_tensor_t* out_tensor) {
  const uint32_t rank = value->type.rank;
  uint64_t count = 0;
  size_t bytes = 0;
  void* data = NULL;
  if (value->type.kind != TENON_ARGUMENT_TENSOR || rank == TENON_NONE ||
      value->type.dtype == TENON_DTYPE_STRING) {
    return TENON_ERROR_UNSUPPORTED;
  }
  int64_t* dims = tenon__arena_allocate(&r->arena, rank + 1u, sizeof *dims);
  int64_t* strides = tenon__arena_allocate(&r->arena, rank + 1u, sizeof *strides);
  TENON_TRY_MEMORY(dims != NULL && strides != NULL);
  if (!tenon__extents_shape(&tenon__engine_plan(r->engine)->profile.optimum, rank, value->type.dims,
                            dims) ||
      !tenon__strides_row_major(rank, dims, strides) || !tenon__element_count(rank, dims, &count) ||
      !tenon__dtype_bytes(value->type.dtype, count, &bytes)) {
    return TENON_ERROR_UNSUPPORTED;
  }
  TENON_TRY(tenon__memory_allocate(&r->memory, bytes, &data));
  *out_tensor = (lent_tensor_t){.view = {.data = data,
                                         .dims = dims,
                                         .strides = strides,
                                         .rank = rank,
                                         .dtype = value->type.dtype,
                                         .layout = TENON_NONE},
                                .size_bytes = bytes};
  return TENON_OK;
}

/* Ordinary numbers, and 0 for whole ones: that is a place in any table. */
static tenon_status_t fill(stream_runs_t* r, const tenon__value_node_t* value,
                           const lent_tensor_t* tensor) {
  const tenon__data_wish_t wish = {
      .dtype = tensor->view.dtype, .rank = tensor->view.rank, .dims = tensor->view.dims};
  void* rows = tenon__arena_allocate(&r->arena, tensor->size_bytes + 1, 1);
  TENON_TRY_MEMORY(rows != NULL);
  if (tenon__dtype_class(tensor->view.dtype) == 'f') {
    tenon__data_make(&wish, rows);
  }
  tenon__trial_write_contents(&tenon__engine_plan(r->engine)->profile, value, rows);
  return tenon__memory_write(&r->memory, tensor->view.data, rows, tensor->size_bytes);
}

static tenon_status_t make_tensors(stream_runs_t* r) {
  const tenon__graph_t* g = main_graph(r);
  const size_t count = (size_t)g->input_count + g->output_count;
  r->tensors = tenon__arena_allocate(&r->arena, count + 1u, sizeof *r->tensors);
  TENON_TRY_MEMORY(r->tensors != NULL);
  for (uint32_t k = 0; k < count; ++k) {
    const bool is_input = k < g->input_count;
    const uint32_t value = is_input ? g->inputs[k] : g->outputs[k - g->input_count];
    TENON_TRY(lend(r, &g->values[value], &r->tensors[k]));
    r->tensor_count += 1;
    TENON_TRY(is_input ? fill(r, &g->values[value], &r->tensors[k]) : TENON_OK);
  }
  return TENON_OK;
}

static void free_tensors(const stream_runs_t* r) {
  for (uint32_t k = 0; k < r->tensor_count; ++k) {
    tenon__memory_free(&r->memory, r->tensors[k].view.data, r->tensors[k].size_bytes);
  }
}

/* ---- Runs ---- */

/* Run once, recorded, and replayed. */
static tenon_status_t begin_context(const stream_runs_t* r, bool uses_lanes,
                                    tenon__context_t** out_context) {
  const tenon__graph_t* g = main_graph(r);
  TENON_TRY(tenon__context_create(r->engine, 0, NULL, out_context));
  tenon__context_use_lanes(*out_context, uses_lanes);
  for (uint32_t k = 0; k < g->input_count; ++k) {
    const tenon_argument_t argument = {.kind = TENON_ARGUMENT_TENSOR, .tensor = r->tensors[k].view};
    TENON_TRY(tenon__context_set_input_on_device(*out_context, k, &argument));
  }
  for (uint32_t k = 0; k < g->output_count; ++k) {
    TENON_TRY(
        tenon__context_set_output_on_device(*out_context, k, &r->tensors[g->input_count + k].view));
  }
  for (int k = 0; k < 3; ++k) {
    TENON_TRY(tenon__context_run(*out_context));
  }
  return tenon__context_set_timing(*out_context, true);
}

static tenon_status_t time_round(const stream_runs_t* r, tenon__context_t* context,
                                 double* inout_least) {
  tenon__run_times_t times;
  for (int k = 0; k < r->runs_a_round; ++k) {
    TENON_TRY(tenon__context_enqueue(context));
  }
  TENON_TRY(tenon__context_synchronize(context));
  TENON_TRY(tenon__context_get_times(context, &times));
  const double seconds = times.seconds / times.run_count;
  *inout_least = *inout_least > 0 && *inout_least < seconds ? *inout_least : seconds;
  return TENON_OK;
}

static tenon_status_t run_both(stream_runs_t* r, tenon__stream_times_t* times) {
  TENON_TRY(make_tensors(r));
  TENON_TRY(begin_context(r, true, &r->on_streams));
  TENON_TRY(begin_context(r, false, &r->in_a_row));
  r->runs_a_round = 1;
  TENON_TRY(time_round(r, r->in_a_row, &times->in_a_row));
  r->runs_a_round = times->in_a_row < TENON_NOISE_SHORT_PLAN_SECONDS ? TENON_NOISE_PLAN_RUNS : 1;
  const double begin = tenon__seconds();
  for (int k = 0;
       k < TENON_NOISE_MIN_PLAN_ROUNDS ||
       (k < TENON_NOISE_MAX_PLAN_ROUNDS && tenon__seconds() - begin < TENON_NOISE_PLAN_SECONDS);
       ++k) {
    if (tenon__interrupt_is_wanted(r->building->options->tuning.interrupt)) {
      return TENON_ERROR_CANCELLED;
    }
    TENON_TRY(time_round(r, r->on_streams, &times->on_streams));
    TENON_TRY(time_round(r, r->in_a_row, &times->in_a_row));
  }
  return TENON_OK;
}

tenon_status_t tenon__building_time_streams(const tenon__building_t* b, const tenon__made_t* made,
                                            tenon__stream_times_t* out_times) {
  const tenon__engine_options_t options = {.allocator = b->allocator};
  stream_runs_t r = {.building = b};
  *out_times = (tenon__stream_times_t){0};
  TENON_TRY(tenon__engine_create(b->catalog, made->data, made->size_bytes, &options, &r.engine));
  tenon__arena_initialize(&r.arena, b->allocator);
  r.memory =
      (tenon__memory_t){.allocator = b->allocator, .device = tenon__engine_main_device(r.engine)};
  const tenon_status_t status =
      r.memory.device == NULL ? TENON_ERROR_UNSUPPORTED : run_both(&r, out_times);
  tenon__context_destroy(r.on_streams);
  tenon__context_destroy(r.in_a_row);
  free_tensors(&r);
  tenon__arena_deinitialize(&r.arena);
  tenon__engine_release(r.engine);
  return status;
}
