/* A kernel's call as work for a stream: packed at enqueue, unpacked and computed on the device. */
#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extents.h"
#include "memory.h"
#include "plugins/reference/kernels.h"
#include "stream.h"

enum { SCRATCH_BYTE = 0x5C };

/* What prepare leaves. */
typedef struct instance_t {
  const far_heart_t* heart;
  void* inner;
  const char* name;
  uint64_t host_inputs; /* those that enqueue reads in the host's memory, and takes along */
  uint32_t input_count;
  uint32_t output_count;
  /* Of the heart; ours is behind. */
  uint64_t scratch_bytes;
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
} instance_t;

/* What bind leaves. */
typedef struct bound_t {
  const instance_t* instance;
  void* inner;
  tenon_argument_t* arguments; /* as the device sees them, while it computes: inputs, outputs */
  void* packed;                /* a call on its way to the stream */
  size_t packed_size;
} bound_t;

/* A call; behind it its arguments, behind them their extents and strides. */
typedef struct packed_t {
  bound_t* bound;
  char* scratch;
  char* zeroed;
  char* persistent;
  tenon_fault_t* fault; /* NULL: the call fails instead */
  uint32_t input_count;
  uint32_t output_count;
} packed_t;

/* ---- Prepare, bind ---- */

tenon_status_t far_prepare(const tenon_prepare_t* call, void** out_instance) {
  instance_t* instance = call->host->allocate(call->preparation, sizeof(*instance));
  if (instance == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  const uint32_t kind = call->table->kind(call->region);
  const tenon__kernel_row_t* row =
      kind == TENON_REGION_OPERATOR
          ? tenon__kernel_find(call->table->node_operator(call->region, 0))
          : NULL;
  *instance = (instance_t){.heart = far_heart_of(call->region, call->table),
                           .name = row != NULL                       ? row->op
                                   : kind == TENON_REGION_EXPRESSION ? "expressions"
                                                                     : "moves",
                           .input_count = call->table->input_count(call->region),
                           .output_count = call->table->output_count(call->region),
                           .scratch_bytes = call->tactic->scratch_bytes - FAR_OWN_SCRATCH,
                           .zeroed_bytes = call->tactic->zeroed_bytes - FAR_OWN_ZEROED,
                           .persistent_bytes = call->tactic->persistent_bytes - FAR_OWN_PERSISTENT};
  for (uint32_t k = 0; call->tactic->inputs != NULL && k < instance->input_count; ++k) {
    const bool is_host = (call->tactic->inputs[k].flags & TENON_RULE_HOST) != 0;
    instance->host_inputs |= is_host ? UINT64_C(1) << k : 0;
  }
  const tenon_status_t status = instance->heart->prepare(call, &instance->inner);
  if (status == TENON_OK) {
    *out_instance = instance;
  }
  return status;
}

static size_t extents_size(const tenon_argument_t* argument) {
  return argument != NULL && argument->kind == TENON_ARGUMENT_TENSOR
             ? argument->tensor.rank * sizeof(int64_t) * 2
             : 0;
}

static bool is_host(const instance_t* instance, uint32_t index) {
  return index < instance->input_count && index < 64 && (instance->host_inputs >> index & 1) != 0;
}

/* Of the numbers that travel with a call; dense. */
static size_t host_size(const tenon_tensor_view_t* view) {
  const size_t count = (size_t)tenon__dims_product(view->dims, 0, view->rank);
  return ((count * tenon__number_bits(view->dtype) + 7) / 8 + 7) / 8 * 8;
}

tenon_status_t far_bind(void* instance, tenon_binding_t* binding, const tenon_bind_table_t* host,
                        void** out_bound) {
  const instance_t* from = instance;
  bound_t* bound = host->allocate(binding, sizeof(*bound));
  const size_t count = (size_t)from->input_count + from->output_count;
  size_t size = sizeof(packed_t) + count * sizeof(tenon_argument_t);
  for (uint32_t index = 0; index < from->input_count; ++index) {
    size += extents_size(host->input(binding, index));
    size += is_host(from, index) ? host_size(&host->input(binding, index)->tensor) : 0;
  }
  for (uint32_t index = 0; index < from->output_count; ++index) {
    size += extents_size(host->output(binding, index));
  }
  tenon_argument_t* arguments = host->allocate(binding, (count + 1) * sizeof(*arguments));
  void* packed = host->allocate(binding, size);
  if (bound == NULL || arguments == NULL || packed == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *bound =
      (bound_t){.instance = from, .arguments = arguments, .packed = packed, .packed_size = size};
  const tenon_status_t status = from->heart->bind(from->inner, binding, host, &bound->inner);
  if (status == TENON_OK) {
    *out_bound = bound;
  }
  return status;
}

/* ---- What the heart may call while it computes ---- */

/* Its run. `call`: the host's, where enqueue is still on its way; NULL on a stream. */
typedef struct far_run_t {
  tenon_device_t* device;
  const packed_t* packed;
  const tenon_enqueue_t* call;
  char* scratch;
  char* zeroed;
  char* persistent;
  tenon_fault_t* fault;
  bool told; /* a fault: no failure of the stream */
} far_run_t;

static far_run_t* run_of(tenon_run_t* run) {
  return (void*)run;
}

static void* scratch_of(tenon_run_t* run) {
  return run_of(run)->scratch;
}

static void* zeroed_of(tenon_run_t* run) {
  return run_of(run)->zeroed;
}

static void* persistent_of(tenon_run_t* run) {
  return run_of(run)->persistent;
}

static tenon_stream_t* no_stream(tenon_run_t* run) {
  (void)run;
  return NULL;
}

static void in_a_loop(tenon_run_t* run, uint32_t count,
                      void (*body)(void* user, uint32_t index, uint32_t thread), void* user) {
  (void)run;
  for (uint32_t index = 0; index < count; ++index) {
    body(user, index, 0);
  }
}

static uint32_t one_thread(tenon_run_t* run) {
  (void)run;
  return 1;
}

/* The first number in the message is what it is about. */
static tenon_status_t fail(tenon_run_t* run, tenon_status_t status, const char* message) {
  far_run_t* far = run_of(run);
  if (far->fault != NULL && status == TENON_ERROR_INVALID_DATA) {
    const char* number = message + strcspn(message, "-0123456789");
    *far->fault = far->fault->code != 0
                      ? *far->fault
                      : (tenon_fault_t){.code = 1, .value = strtoll(number, NULL, 10)};
    far->told = true;
    return status;
  }
  far_say(far->device, "%s: %s", far->packed->bound->instance->name, message);
  return far->call != NULL ? far->call->host->fail(far->call->run, status, message) : status;
}

/* What the host gives is the device's memory. */
static tenon_status_t allocate_output(tenon_run_t* run, uint32_t output, uint32_t rank,
                                      const int64_t* dims, void** out_data) {
  const far_run_t* far = run_of(run);
  if (far->call == NULL) {
    return fail(run, TENON_ERROR_INTERNAL, "a stream cannot allocate an output");
  }
  void* data = NULL;
  const tenon_status_t status =
      far->call->host->allocate_output(far->call->run, output, rank, dims, &data);
  const int64_t count = tenon__dims_product(dims, 0, rank);
  if (status != TENON_OK || count == 0) {
    *out_data = NULL;
    return status;
  }
  const tenon_dtype_t dtype = far->call->outputs[output].tensor.dtype;
  const size_t size = ((size_t)count * tenon__number_bits(dtype) + 7) / 8;
  *out_data = far_memory_inside(far->device, data, size, "an output that was allocated");
  return *out_data == NULL ? TENON_ERROR_INVALID_ARGUMENT : TENON_OK;
}

static tenon_status_t append_output(tenon_run_t* run, uint32_t output,
                                    const tenon_argument_t* item) {
  (void)output;
  (void)item;
  return fail(run, TENON_ERROR_UNSUPPORTED, "there are no sequences");
}

static tenon_status_t copy_string(tenon_run_t* run, uint32_t output, tenon_string_view_t text,
                                  tenon_string_view_t* out_copy) {
  (void)output;
  (void)text;
  (void)out_copy;
  return fail(run, TENON_ERROR_UNSUPPORTED, "there are no texts");
}

static int32_t cancelled(tenon_run_t* run) {
  const tenon_enqueue_t* call = run_of(run)->call;
  return call != NULL && TENON_HAS(call->host, tenon_run_table_t, cancelled) &&
                 call->host->cancelled != NULL
             ? call->host->cancelled(call->run)
             : 0;
}

static const tenon_run_table_t run_table = {.size = sizeof(tenon_run_table_t),
                                            .scratch = scratch_of,
                                            .zeroed = zeroed_of,
                                            .persistent = persistent_of,
                                            .stream = no_stream,
                                            .parallel = in_a_loop,
                                            .thread_count = one_thread,
                                            .allocate_output = allocate_output,
                                            .append_output = append_output,
                                            .copy_string = copy_string,
                                            .fail = fail,
                                            .cancelled = cancelled};

/* ---- Computing ---- */

/* Gives a view its address inside: all of its elements must be in one allocation. */
static bool reach(tenon_device_t* device, const char* name, tenon_tensor_view_t* view) {
  int64_t first = 0;
  int64_t last = 0;
  if (view->device_extents != NULL) {
    view->device_extents = far_memory_inside(device, view->device_extents,
                                             view->rank * sizeof(int64_t), "its extents");
    if (view->device_extents == NULL) {
      return false;
    }
  }
  for (uint32_t axis = 0; axis < view->rank; ++axis) {
    const int64_t span = (view->dims[axis] - 1) * view->strides[axis];
    if (view->dims[axis] == 0) {
      view->data = NULL;
      return true;
    }
    first += span < 0 ? span : 0;
    last += span > 0 ? span : 0;
  }
  const int64_t bits = tenon__number_bits(view->dtype);
  const int64_t begin = (first * bits + view->bit_offset) / 8;
  const int64_t end = ((last + 1) * bits + view->bit_offset + 7) / 8;
  char* inside =
      far_memory_inside(device, (const char*)view->data + begin, (size_t)(end - begin), name);
  view->data = inside == NULL ? NULL : inside - begin;
  return inside != NULL;
}

/* The arguments as the device sees them. */
static bool unpack(tenon_device_t* device, const packed_t* packed) {
  bound_t* bound = packed->bound;
  const tenon_argument_t* from = (const void*)(packed + 1);
  const uint32_t count = packed->input_count + packed->output_count;
  const int64_t* extents = (const void*)(from + count);
  const char* numbers = (const char*)packed + bound->packed_size; /* from behind: see pack */
  for (uint32_t index = 0; index < count; ++index) {
    tenon_argument_t* to = &bound->arguments[index];
    *to = from[index];
    if (to->kind != TENON_ARGUMENT_TENSOR) {
      continue;
    }
    to->tensor.dims = extents;
    to->tensor.strides = extents + to->tensor.rank;
    extents += (size_t)2 * to->tensor.rank;
    if (is_host(bound->instance, index)) {
      numbers -= host_size(&to->tensor);
      memcpy(&to->tensor.data, &numbers, sizeof numbers); /* read alone, as inputs are */
    } else if (!reach(device, bound->instance->name, &to->tensor)) {
      return false;
    }
  }
  return true;
}

static bool is_all(const char* bytes, size_t size, char byte) {
  for (size_t k = 0; k < size; ++k) {
    if (bytes[k] != byte) {
      return false;
    }
  }
  return true;
}

/* Before: what lies there must be as the contract says. Zeroed memory is dirty until the call has
 * gone well. */
static tenon_status_t look_before(far_run_t* run) {
  const instance_t* instance = run->packed->bound->instance;
  char* zeroed = run->zeroed + instance->zeroed_bytes;
  char* persistent = run->persistent + instance->persistent_bytes;
  const size_t length = strlen(instance->name);
  if (!is_all(zeroed, FAR_OWN_ZEROED, 0)) {
    return fail((tenon_run_t*)(void*)run, TENON_ERROR_INTERNAL, "zeroed memory is not zero");
  }
  if (!is_all(persistent, FAR_OWN_PERSISTENT, 0) &&
      strncmp(persistent, instance->name, length) != 0) {
    return fail((tenon_run_t*)(void*)run, TENON_ERROR_INTERNAL, "persistent memory was changed");
  }
  memset(zeroed, 1, FAR_OWN_ZEROED);
  memset(run->scratch + instance->scratch_bytes, SCRATCH_BYTE, FAR_OWN_SCRATCH);
  memcpy(persistent, instance->name, length);
  return TENON_OK;
}

static tenon_status_t look_after(far_run_t* run) {
  const instance_t* instance = run->packed->bound->instance;
  if (!is_all(run->scratch + instance->scratch_bytes, FAR_OWN_SCRATCH, SCRATCH_BYTE)) {
    return fail((tenon_run_t*)(void*)run, TENON_ERROR_INTERNAL,
                "scratch was changed by something else");
  }
  memset(run->zeroed + instance->zeroed_bytes, 0, FAR_OWN_ZEROED);
  return TENON_OK;
}

static tenon_status_t compute(tenon_device_t* device, const packed_t* packed,
                              const tenon_enqueue_t* call) {
  bound_t* bound = packed->bound;
  const instance_t* instance = bound->instance;
  far_run_t run = {.device = device, .packed = packed, .call = call};
  run.scratch = far_memory_inside(device, packed->scratch,
                                  instance->scratch_bytes + FAR_OWN_SCRATCH, "scratch");
  run.zeroed =
      far_memory_inside(device, packed->zeroed, instance->zeroed_bytes + FAR_OWN_ZEROED, "zeroed");
  run.persistent = far_memory_inside(device, packed->persistent,
                                     instance->persistent_bytes + FAR_OWN_PERSISTENT, "persistent");
  run.fault = packed->fault == NULL
                  ? NULL
                  : far_memory_inside(device, packed->fault, sizeof(*packed->fault), "its fault");
  if (run.scratch == NULL || run.zeroed == NULL || run.persistent == NULL ||
      (run.fault == NULL && packed->fault != NULL) || !unpack(device, packed)) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  const tenon_enqueue_t inner = {.size = sizeof(inner),
                                 .instance = instance->inner,
                                 .bound = bound->inner,
                                 .run = (tenon_run_t*)(void*)&run,
                                 .host = &run_table,
                                 .inputs = bound->arguments,
                                 .outputs = bound->arguments + packed->input_count,
                                 .input_count = packed->input_count,
                                 .output_count = packed->output_count};
  tenon_status_t status = look_before(&run);
  if (status == TENON_OK) {
    status = instance->heart->enqueue(&inner);
    status = run.told ? TENON_OK : status;
  }
  if (status == TENON_OK) {
    far_lock(device);
    const uint64_t stretch = device->settings[FAR_SETTING_STRETCH];
    far_unlock(device);
    far_extents_pass(bound->arguments, packed->input_count, bound->arguments + packed->input_count,
                     packed->output_count, stretch);
  }
  return status == TENON_OK ? look_after(&run) : status;
}

static tenon_status_t run_call(tenon_device_t* device, const void* payload, bool failed) {
  (void)failed;
  return compute(device, payload, NULL);
}

/* ---- Enqueue ---- */

static void pack_argument(const tenon_argument_t* argument, tenon_argument_t* out_argument,
                          int64_t** inout_extents) {
  *out_argument = *argument;
  if (argument->kind == TENON_ARGUMENT_TENSOR) {
    const size_t size = argument->tensor.rank * sizeof(int64_t);
    if (size > 0) {
      memcpy(*inout_extents, argument->tensor.dims, size);
      memcpy(*inout_extents + argument->tensor.rank, argument->tensor.strides, size);
    }
    *inout_extents += (size_t)2 * argument->tensor.rank;
  }
}

/* What enqueue reads itself lies at the end, the first input's last. */
static void pack_numbers(const tenon_enqueue_t* call, char* end) {
  const bound_t* bound = call->bound;
  for (uint32_t index = 0; index < call->input_count; ++index) {
    const tenon_tensor_view_t* view = &call->inputs[index].tensor;
    if (is_host(bound->instance, index) && call->inputs[index].kind == TENON_ARGUMENT_TENSOR) {
      const size_t count = (size_t)tenon__dims_product(view->dims, 0, view->rank);
      end -= host_size(view);
      memcpy(end, view->data, (count * tenon__number_bits(view->dtype) + 7) / 8);
    }
  }
}

static tenon_fault_t* fault_of(const tenon_enqueue_t* call) {
  return TENON_HAS(call->host, tenon_run_table_t, fault) && call->host->fault != NULL
             ? call->host->fault(call->run)
             : NULL;
}

static const packed_t* pack(const tenon_enqueue_t* call) {
  bound_t* bound = call->bound;
  packed_t* packed = bound->packed;
  *packed = (packed_t){.bound = bound,
                       .scratch = call->host->scratch(call->run),
                       .zeroed = call->host->zeroed(call->run),
                       .persistent = call->host->persistent(call->run),
                       .fault = fault_of(call),
                       .input_count = call->input_count,
                       .output_count = call->output_count};
  tenon_argument_t* to = (void*)(packed + 1);
  int64_t* extents = (void*)(to + call->input_count + call->output_count);
  for (uint32_t index = 0; index < call->input_count; ++index) {
    pack_argument(&call->inputs[index], to++, &extents);
  }
  for (uint32_t index = 0; index < call->output_count; ++index) {
    pack_argument(&call->outputs[index], to++, &extents);
  }
  pack_numbers(call, (char*)packed + bound->packed_size);
  return packed;
}

/* Must an output be allocated, whose extents the call finds? */
static bool finds_extents(const tenon_enqueue_t* call) {
  for (uint32_t index = 0; index < call->output_count; ++index) {
    if (call->outputs[index].kind == TENON_ARGUMENT_ALLOCATE) {
      return true;
    }
  }
  return false;
}

/* Waits for what the stream has, and computes here. */
static tenon_status_t wait_and_compute(tenon_device_t* device, tenon_stream_t* stream,
                                       const packed_t* packed, const tenon_enqueue_t* call) {
  tenon_status_t status = far_stream_finish(stream);
  if (status != TENON_OK) {
    return status;
  }
  far_lock(device);
  ++device->counts.kernel_waits;
  far_unlock(device);
  status = far_enter(device, FAR_CALL_WORK);
  return status == TENON_OK ? compute(device, packed, call) : status;
}

static void count_edge(tenon_device_t* device, const tenon_enqueue_t* call) {
  if (TENON_HAS(call->host, tenon_run_table_t, edge) && call->host->edge != NULL) {
    const uint32_t edge = call->host->edge(call->run);
    far_lock(device);
    ++device->counts.edges[edge & (TENON_EDGE_KERNEL | TENON_EDGE_RELEASES_EARLY)];
    far_unlock(device);
  }
}

tenon_status_t far_enqueue(const tenon_enqueue_t* call) {
  static const far_work_t work = {.run = run_call};
  const bound_t* bound = call->bound;
  tenon_stream_t* stream = call->host->stream(call->run);
  const packed_t* packed = pack(call);
  tenon_device_t* device =
      stream != NULL ? stream->queue->device : far_memory_owner(packed->scratch);
  if (device == NULL) {
    return far_mistake(far_device(0), "%s: its scratch, %p, is in no device's memory",
                       bound->instance->name, (void*)packed->scratch);
  }
  const tenon_status_t status = far_enter(device, FAR_CALL_KERNEL);
  if (status != TENON_OK) {
    return status;
  }
  count_edge(device, call);
  if (stream == NULL || finds_extents(call)) {
    return wait_and_compute(device, stream, packed, call);
  }
  return far_stream_add(device, stream, &work, packed, bound->packed_size);
}
