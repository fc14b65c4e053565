/* What kernels of closed operators on dense tensors share. */
#include "closed.h"

#include <stdarg.h>
#include <stdio.h>

void* tenon__cpu_closed_create(const tenon_prepare_t* call, size_t size_bytes) {
  const tenon__cpu_state_t* cpu = call->state;
  const tenon__cpu_region_t region = {call->region, call->table};
  tenon__cpu_closed_t* self = call->host->allocate(call->preparation, size_bytes);
  if (self != NULL) {
    const tenon_value_info_t* x = tenon__cpu_region_input(region, 0);
    self->isa = cpu->isa;
    self->dtype = x == NULL ? TENON_DTYPE_FLOAT32 : x->dtype;
    for (uint32_t port = 0; port < TENON_CPU_CLOSED_PORTS; port++) {
      const tenon_value_info_t* value = tenon__cpu_region_input(region, port);
      const bool is_there = value != NULL && value->kind != TENON_ARGUMENT_ABSENT;
      self->inputs[port] = is_there ? tenon__cpu_region_argument(region, port) : TENON_NONE;
    }
  }
  return self;
}

const tenon_tensor_view_t* tenon__cpu_closed_input(const tenon_enqueue_t* call, uint32_t port) {
  const tenon__cpu_closed_t* self = call->instance;
  const uint32_t index = self->inputs[port];
  return index < call->input_count && call->inputs[index].kind == TENON_ARGUMENT_TENSOR
             ? &call->inputs[index].tensor
             : NULL;
}

const tenon_tensor_view_t* tenon__cpu_closed_output(const tenon_enqueue_t* call, uint32_t index) {
  return index < call->output_count && call->outputs[index].kind == TENON_ARGUMENT_TENSOR
             ? &call->outputs[index].tensor
             : NULL;
}

int64_t tenon__cpu_closed_integer(const tenon_tensor_view_t* view, int64_t otherwise) {
  if (view == NULL || tenon__cpu_closed_count(view, 0, view->rank) == 0) {
    return otherwise;
  }
  return view->dtype == TENON_DTYPE_INT32 ? *(const int32_t*)view->data
                                          : *(const int64_t*)view->data;
}

tenon_status_t tenon__cpu_closed_fail(const tenon_enqueue_t* call, const char* format, ...) {
  char message[256];
  va_list arguments;
  va_start(arguments, format);
  /* A false alarm of clang's. NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized) */
  (void)vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  return call->host->fail(call->run, TENON_ERROR_INVALID_DATA, message);
}

static bool is_small(int64_t count, const char* things, char out_message[128]) {
  (void)snprintf(out_message, 128, "%lld %s, where this kernel has numbers for %d",
                 (long long)count, things, INT32_MAX);
  return count <= INT32_MAX;
}

tenon_status_t tenon__cpu_closed_check_count(const tenon_enqueue_t* call, int64_t count,
                                             const char* things) {
  char message[128];
  return is_small(count, things, message)
             ? TENON_OK
             : call->host->fail(call->run, TENON_ERROR_UNSUPPORTED, message);
}

tenon_status_t tenon__cpu_closed_check_bound(tenon_binding_t* binding,
                                             const tenon_bind_table_t* host, int64_t count,
                                             const char* things) {
  char message[128];
  const bool is_possible = is_small(count, things, message);
  const tenon_sink_t* sink = host->sink == NULL ? NULL : host->sink(binding);
  if (!is_possible && sink != NULL) {
    sink->report(sink->user, TENON_SEVERITY_ERROR, message);
  }
  return is_possible ? TENON_OK : TENON_ERROR_UNSUPPORTED;
}

tenon_status_t tenon__cpu_closed_allocate(const tenon_enqueue_t* call, uint32_t index,
                                          uint32_t rank, const int64_t* dims, void** out_data) {
  *out_data = NULL;
  if (index >= call->output_count || call->outputs[index].kind == TENON_ARGUMENT_ABSENT) {
    return TENON_OK;
  }
  if (call->outputs[index].kind == TENON_ARGUMENT_ALLOCATE) {
    return call->host->allocate_output(call->run, index, rank, dims, out_data);
  }
  const tenon_tensor_view_t* view = &call->outputs[index].tensor;
  for (uint32_t k = 0; k < rank; k++) {
    if (rank != view->rank || dims[k] != view->dims[k]) {
      return tenon__cpu_closed_fail(call, "extent %lld of axis %u is none that was planned for",
                                    (long long)dims[k], k);
    }
  }
  *out_data = view->data;
  return TENON_OK;
}

int64_t tenon__cpu_closed_count(const tenon_tensor_view_t* view, uint32_t begin, uint32_t end) {
  int64_t count = 1;
  for (uint32_t k = begin; k < end; k++) {
    count *= view->dims[k];
  }
  return count;
}

/* ---- Threads ---- */

typedef struct division_t {
  tenon__cpu_range_t body;
  void* user;
  int64_t count;
  uint32_t parts;
} division_t;

static void run_part(void* user, uint32_t index, uint32_t thread) {
  const division_t* all = user;
  const int64_t whole = all->count / all->parts;
  const int64_t rest = all->count % all->parts;
  const int64_t begin = whole * index + (index < rest ? index : rest);
  all->body(all->user, begin, begin + whole + (index < rest ? 1 : 0), thread);
}

void tenon__cpu_closed_divide(const tenon_enqueue_t* call, int64_t count, double item_ns,
                              tenon__cpu_range_t body, void* user) {
  enum { PARTS_PER_THREAD = 4, LEAST_NS = 15000 };
  const uint32_t threads = call->host->thread_count(call->run);
  const double worth = (double)count * item_ns / LEAST_NS;
  const double most = worth < (double)count ? worth : (double)count;
  uint32_t parts =
      threads * PARTS_PER_THREAD; /* of one thread too: a run can be cancelled between */
  parts = (double)parts > most ? (uint32_t)most : parts;
  if (count > 0) {
    division_t all = {body, user, count, parts < 1 ? 1 : parts};
    tenon__cpu_parallel(call, all.parts, run_part, &all);
  }
}

/* ---- Matching ---- */

static double bytes_of(const tenon_region_t* region, const tenon_region_table_t* table,
                       uint32_t number) {
  const tenon_value_info_t* value = number == TENON_NONE ? NULL : table->value(region, number);
  if (value == NULL) {
    return 0;
  }
  double bytes = (double)tenon__cpu_element_bytes(value->dtype);
  for (uint32_t k = 0; k < value->rank; k++) {
    bytes *= value->dims_opt[k] > 0 ? (double)value->dims_opt[k] : 1.0;
  }
  return bytes;
}

tenon_status_t tenon__cpu_closed_tactics(void* state, const tenon_region_t* handle,
                                         const tenon_region_table_t* table, tenon_emit_t* emit,
                                         tenon_status_t (*add)(tenon_emit_t*,
                                                               const tenon_tactic_t*)) {
  (void)state;
  double bytes = 0;
  for (uint32_t k = 0; k < table->input_count(handle); k++) {
    bytes += bytes_of(handle, table, table->input(handle, k));
  }
  for (uint32_t k = 0; k < table->output_count(handle); k++) {
    bytes += bytes_of(handle, table, table->output(handle, k));
  }
  const tenon_numerics_t numerics = {.size = sizeof(numerics), .reassociates = 1};
  const tenon_tactic_t tactic = {.size = sizeof(tactic),
                                 .name = "dense",
                                 .numerics = &numerics,
                                 .estimate_seconds = 1e-6 + bytes / 2e9,
                                 .launches = 1};
  return add(emit, &tactic);
}

int32_t tenon__cpu_closed_match_f32(void* state, const tenon_region_t* handle,
                                    const tenon_region_table_t* table,
                                    tenon_refusal_t* out_refusal) {
  (void)state;
  const tenon_value_info_t* x = tenon__cpu_region_input((tenon__cpu_region_t){handle, table}, 0);
  return x->dtype == TENON_DTYPE_FLOAT32
             ? 1
             : tenon__cpu_refuse(out_refusal, TENON_REFUSAL_DTYPE, NULL);
}
