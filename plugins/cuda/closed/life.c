/* The life that all rows share. */
#include <string.h>

#include "../analysis.h"
#include "families.h"

/* ---- What is taken ---- */

static bool is_open(const tenon__closed_work_t* work) {
  bool open = false;
  for (uint32_t k = 0; k < work->in_count; k++) {
    open = open || work->in[k].open;
  }
  return open;
}
/* Scratch is asked for before a run knows its extents. Extents that it finds do not matter. */
static bool needs_bounds(const tenon__closed_work_t* work) {
  const uint32_t without = TENON_CLOSED_SCRATCH_IF_BOUNDED | TENON_CLOSED_SCRATCH_IS_FIXED;
  return work->row->scratch != NULL && (work->row->flags & without) == 0;
}
static uint64_t scratch_of(const tenon__closed_work_t* work) {
  const bool needs_extents = (work->row->flags & TENON_CLOSED_SCRATCH_IS_FIXED) == 0;
  return work->row->scratch == NULL || (needs_extents && is_open(work)) ? 0
                                                                        : work->row->scratch(work);
}

static bool type_is_taken(const tenon__closed_row_t* row, const tenon__closed_shape_t* shape) {
  const int kind = tenon__cuda_class(shape->dtype);
  const bool is_whole = tenon__cuda_bytes(shape->dtype) != 0;
  return !shape->present || (kind != 'x' && kind != 's' && kind != 'c' &&
                             (is_whole || (row->flags & TENON_CLOSED_PACKED) != 0 ||
                              shape->dtype == TENON_DTYPE_FLOAT8E8M0));
}

static const char* read_work(const tenon_region_t* region, const tenon_region_table_t* table,
                             tenon__closed_work_t* out_work) {
  memset(out_work, 0, sizeof(*out_work));
  out_work->row = tenon__closed_find(table->node_operator(region, 0));
  out_work->region = region;
  out_work->table = table;
  return out_work->row == NULL ? "no row" : tenon__closed_read_region(out_work);
}

/* The row's own reasons, asked when types are known to be taken. */
static const char* refuse(const tenon__closed_work_t* work, bool is_known) {
  const char* why = work->row->refuse == NULL ? NULL : work->row->refuse(work);
  return why == NULL ? tenon__closed_refuse_data(work, is_known) : why;
}

static int32_t match_work(tenon__cuda_state_t* state, const tenon__closed_work_t* work,
                          bool is_known, tenon_refusal_t* out_refusal) {
  for (uint32_t k = 0; k < TENON_CLOSED_INPUTS; k++) {
    if (!type_is_taken(work->row, &work->in[k])) {
      return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
    }
  }
  for (uint32_t k = 0; k < TENON_CLOSED_OUTPUTS; k++) {
    if (!type_is_taken(work->row, &work->out[k])) {
      return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
    }
  }
  if (needs_bounds(work) && is_open(work)) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_DYNAMIC_SHAPE, "extents without bounds");
  }
  const char* reason = refuse(work, is_known);
  if (reason != NULL) {
    return tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER, reason);
  }
  return tenon__cuda_compiler_exists(state) ? 1
                                            : tenon__cuda_refuse(out_refusal, TENON_REFUSAL_LIBRARY,
                                                                 "CUDA's run-time compiler, NVRTC");
}

static int32_t match(void* state, const tenon_region_t* region, const tenon_region_table_t* table,
                     bool is_known, tenon_refusal_t* out_refusal) {
  tenon__closed_work_t work;
  const char* why = read_work(region, table, &work);
  return why != NULL ? tenon__cuda_refuse(out_refusal, TENON_REFUSAL_OTHER, why)
                     : match_work(state, &work, is_known, out_refusal);
}
int32_t tenon__closed_match(void* state, const tenon_region_t* region,
                            const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  return match(state, region, table, false, out_refusal);
}
int32_t tenon__closed_match_known(void* state, const tenon_region_t* region,
                                  const tenon_region_table_t* table, tenon_refusal_t* out_refusal) {
  return match(state, region, table, true, out_refusal);
}

tenon_status_t tenon__closed_tactics(void* state, const tenon_region_t* region,
                                     const tenon_region_table_t* table, tenon_emit_t* emit,
                                     tenon_status_t (*add)(tenon_emit_t*, const tenon_tactic_t*)) {
  tenon__closed_work_t work;
  tenon_argument_rule_t outputs[TENON_CLOSED_OUTPUTS] = {{0}};
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  (void)state;
  if (read_work(region, table, &work) != NULL) {
    return TENON_OK;
  }
  const tenon__closed_row_t* row = work.row;
  for (uint32_t k = 0; k < work.out_count; k++) {
    outputs[k].flags = row->extents != NULL ? TENON_RULE_EXTENTS : 0;
  }
  outputs[0].in_place = (row->flags & TENON_CLOSED_IN_PLACE) != 0 ? 1 : 0;
  const tenon_tactic_t tactic = {
      .size = sizeof(tactic),
      .name = "by hand",
      .outputs = outputs,
      .numerics = (row->flags & TENON_CLOSED_SUMS) != 0 ? &numerics : NULL,
      .scratch_bytes = scratch_of(&work),
      .persistent_bytes = (row->flags & TENON_CLOSED_COUNTS_CALLS) != 0 ? sizeof(uint64_t) : 0,
      .flags = TENON_TACTIC_RECORDABLE | TENON_TACTIC_RELEASES_EARLY |
               (row->extents != NULL ? TENON_TACTIC_HOST_WAITS : 0),
      .launches = 1,
  };
  return add(emit, &tactic);
}

/* ---- Preparing ---- */

static tenon_status_t read_call(const tenon_prepare_t* call,
                                tenon__closed_instance_t** out_instance) {
  tenon_device_t* device = tenon__cuda_prepared_device(call);
  if (device == NULL) {
    return TENON_ERROR_UNSUPPORTED;
  }
  tenon__closed_instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  instance->device = device;
  *out_instance = instance;
  return read_work(call->region, call->table, &instance->work) == NULL ? TENON_OK
                                                                       : TENON_ERROR_INTERNAL;
}

void tenon__closed_begin_prepare(const tenon_prepare_t* call) {
  tenon__closed_instance_t* instance = NULL;
  if (read_call(call, &instance) == TENON_OK) {
    tenon__closed_begin(call, instance);
  }
}

void tenon__closed_begin(const tenon_prepare_t* call, const tenon__closed_instance_t* instance) {
  tenon__cuda_text_t text = {.allocator = instance->device->state->allocator};
  tenon__closed_write(&instance->work, &text);
  tenon__cuda_module_begin(instance->device, call, &text);
}

tenon_status_t tenon__closed_finish(const tenon_prepare_t* call, tenon__closed_instance_t* instance,
                                    void** out_instance) {
  tenon__cuda_text_t text = {.allocator = instance->device->state->allocator};
  tenon__cuda_wanted_t wanted[TENON_CLOSED_KERNELS];
  uint32_t count = 0;
  const char* const* kernels = instance->work.row->kernels;
  for (; kernels[count] != NULL && count < TENON_CLOSED_KERNELS; count++) {
    wanted[count] = (tenon__cuda_wanted_t){kernels[count], &instance->kernels[count]};
  }
  tenon__closed_write(&instance->work, &text);
  tenon_status_t status =
      tenon__cuda_module_get(instance->device, call, &text, wanted, count, &instance->module);
  status = status == TENON_OK && (instance->work.row->flags & TENON_CLOSED_SHARED) != 0
               ? tenon__cuda_prefer_shared(instance->device, instance->kernels[count - 1])
               : status;
  if (status == TENON_OK) {
    *out_instance = instance;
  }
  return status;
}

tenon_status_t tenon__closed_prepare(const tenon_prepare_t* call, void** out_instance) {
  tenon__closed_instance_t* instance = NULL;
  const tenon_status_t status = read_call(call, &instance);
  return status == TENON_OK ? tenon__closed_finish(call, instance, out_instance) : status;
}

tenon_status_t tenon__closed_prepare_known(const tenon_prepare_t* call, void** out_instance) {
  tenon__closed_instance_t* instance = NULL;
  const tenon_status_t status = read_call(call, &instance);
  return status == TENON_OK ? tenon__closed_finish_known(call, instance, out_instance) : status;
}

void tenon__closed_destroy(void* instance) {
  tenon__closed_instance_t* self = instance;
  tenon__cuda_module_release(self->device, self->module);
}

/* ---- Binding ---- */

/* An argument's extents; those of one that the run makes are not known. */
static bool take_argument(const tenon_argument_t* argument, tenon__closed_shape_t* shape,
                          tenon__closed_tensor_t* tensor) {
  const tenon_tensor_view_t* view = &argument->tensor;
  if (argument->kind != TENON_ARGUMENT_TENSOR) {
    return true;
  }
  const uint32_t bits = view->bit_offset;
  shape->rank = view->rank;
  shape->count = 1;
  for (uint32_t k = 0; k < view->rank && k < TENON_CLOSED_AXES; k++) {
    shape->dims[k] = view->dims[k];
    tensor->dims[k] = view->dims[k];
    shape->count *= view->dims[k];
  }
  tensor->rank = view->rank;
  tensor->count = shape->count;
  tensor->skip = bits == 0 ? 0 : bits / tenon__cuda_bits(view->dtype);
  return view->rank <= TENON_CLOSED_AXES;
}

static void bind_elements(tenon__closed_work_t* work) {
  for (uint32_t k = 0; work->row->kernels[k] != NULL; k++) {
    tenon__closed_launch(work, k, work->out[0].count);
  }
}

tenon_status_t tenon__closed_bind(void* instance, tenon_binding_t* binding,
                                  const tenon_bind_table_t* host, void** out_bound) {
  const tenon__closed_instance_t* self = instance;
  tenon__closed_bound_t* bound = host->allocate(binding, sizeof(*bound));
  bool fits = true;
  if (bound == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  bound->instance = self;
  bound->work = self->work;
  bound->has_scratch = scratch_of(&self->work) > 0;
  for (uint32_t k = 0; k < bound->work.in_count; k++) {
    fits = fits &&
           take_argument(host->input(binding, k), &bound->work.in[k], &bound->parameters.in[k]);
  }
  for (uint32_t k = 0; k < bound->work.out_count; k++) {
    fits = fits &&
           take_argument(host->output(binding, k), &bound->work.out[k], &bound->parameters.out[k]);
    fits = fits && bound->parameters.out[k].skip == 0;
  }
  if (!fits) {
    return tenon__cuda_fail(
        host->sink == NULL ? NULL : host->sink(binding), TENON_ERROR_UNSUPPORTED,
        "more than %d axes, or an output that begins within a byte", TENON_CLOSED_AXES);
  }
  bound->work.finding = self->work.row->finding;
  (self->work.row->bind == NULL ? bind_elements : self->work.row->bind)(&bound->work);
  memcpy(bound->parameters.number, bound->work.number, sizeof(bound->work.number));
  *out_bound = bound;
  return TENON_OK;
}

/* ---- Running ---- */

enum { THREADS_OF_A_MULTIPROCESSOR = 4096 };

tenon_status_t tenon__closed_run(const tenon_enqueue_t* call, tenon__closed_bound_t* bound,
                                 uint32_t begin, uint32_t end) {
  tenon_device_t* device = bound->instance->device;
  const int64_t most = (int64_t)device->multiprocessors * THREADS_OF_A_MULTIPROCESSOR;
  tenon_status_t status = TENON_OK;
  for (uint32_t k = begin; k < end && status == TENON_OK; k++) {
    const tenon__closed_launch_t* from = &bound->work.launches[k];
    const int64_t blocks = (from->threads + from->block - 1) / from->block;
    const int64_t shared =
        from->shared_bytes < device->shared_bytes ? from->shared_bytes : device->shared_bytes;
    /* Clusters stay whole. */
    const int64_t fitting = blocks * from->block < most ? blocks : most / from->block / 8 * 8;
    const tenon__cuda_launch_t launch = {bound->instance->kernels[from->kernel], (uint32_t)fitting,
                                         from->block, (uint32_t)shared};
    bound->parameters.threads = from->threads;
    bound->parameters.pass = from->pass;
    bound->parameters.shared = (int32_t)shared;
    bound->parameters.release =
        (int32_t)tenon__cuda_fits_at_once(device, (uint64_t)launch.blocks * launch.threads);
    if (blocks > 0) {
      status = tenon__cuda_launch(device, call, &launch, &bound->parameters);
    }
  }
  return status;
}

static void take_addresses(const tenon_enqueue_t* call, tenon__closed_bound_t* bound) {
  tenon__closed_parameters_t* to = &bound->parameters;
  for (uint32_t k = 0; k < bound->work.in_count; k++) {
    to->in[k].data =
        call->inputs[k].kind == TENON_ARGUMENT_TENSOR ? call->inputs[k].tensor.data : NULL;
  }
  for (uint32_t k = 0; k < bound->work.out_count; k++) {
    const bool is_there = call->outputs[k].kind == TENON_ARGUMENT_TENSOR;
    to->out[k].data = is_there ? call->outputs[k].tensor.data : NULL;
    to->extents[k] = is_there ? call->outputs[k].tensor.device_extents : NULL;
  }
  to->scratch = bound->has_scratch ? call->host->scratch(call->run) : NULL;
  to->persistent = call->host->persistent(call->run);
  to->fault = TENON_HAS(call->host, tenon_run_table_t, fault) ? call->host->fault(call->run) : NULL;
}

/* The first launch copies what the others change. */
static bool lies_in_place(const tenon__closed_bound_t* bound) {
  return (bound->work.row->flags & TENON_CLOSED_IN_PLACE) != 0 &&
         bound->parameters.in[0].data == bound->parameters.out[0].data;
}

tenon_status_t tenon__closed_enqueue(const tenon_enqueue_t* call) {
  tenon__closed_bound_t* bound = call->bound;
  const tenon__closed_row_t* row = bound->work.row;
  take_addresses(call, bound);
  if (lies_in_place(bound)) {
    return tenon__closed_run(call, bound, 1, bound->work.launch_count);
  }
  tenon_status_t status = tenon__closed_run(call, bound, 0, bound->work.finding);
  if (status == TENON_OK && row->extents != NULL) {
    status = tenon__closed_make_outputs(call, bound);
  }
  return status == TENON_OK
             ? tenon__closed_run(call, bound, bound->work.finding, bound->work.launch_count)
             : status;
}
