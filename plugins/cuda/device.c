/* The device's life: what is dear is made by the first who opens it and shared by all others. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "memory_nodes.h"

tenon_status_t tenon__cuda_check(tenon_device_t* device, CUresult result, const char* call) {
  if (result != CUDA_SUCCESS) {
    atomic_store(&device->last_result, (int)result);
    atomic_store(&device->last_call, call);
    if (tenon__cuda_is_lost(result)) {
      int none = 0;
      (void)atomic_compare_exchange_strong(&device->lost, &none, (int)result);
    }
  }
  return tenon__cuda_status(result);
}

tenon_status_t tenon__cuda_enter(tenon_device_t* device) {
  return TENON_CUDA_CALL(device, cuCtxSetCurrent, device->context);
}

CUstream tenon__cuda_stream_of(const tenon_device_t* device, const tenon_stream_t* stream) {
  return stream != NULL ? stream->handle : device->own;
}

static const char* error_name(const tenon__cuda_driver_t* driver, int result) {
  const char* name = "an unknown error";
  (void)driver->cuGetErrorName((CUresult)result, &name);
  return name;
}

/* ---- The driver ---- */

tenon_status_t tenon__cuda_state_driver(tenon__cuda_state_t* state, const tenon_sink_t* sink) {
  tenon_status_t status = TENON_OK;
  (void)pthread_mutex_lock(&state->lock);
  if (!state->driver_is_open) {
    status = tenon__cuda_driver_open(sink, &state->driver);
    state->driver_is_open = status == TENON_OK;
  }
  (void)pthread_mutex_unlock(&state->lock);
  return status;
}

static uint32_t count(void* state, const tenon_sink_t* sink) {
  tenon__cuda_state_t* cuda = state;
  int found = 0;
  if (tenon__cuda_state_driver(cuda, sink) != TENON_OK ||
      cuda->driver.cuDeviceGetCount(&found) != CUDA_SUCCESS || found < 0) {
    return 0;
  }
  return found < TENON_CUDA_DEVICE_LIMIT ? (uint32_t)found : TENON_CUDA_DEVICE_LIMIT;
}

/* ---- Opening ---- */

static int attribute(const tenon_device_t* device, CUdevice_attribute name) {
  int value = 0;
  return device->driver->cuDeviceGetAttribute(&value, name, device->handle) == CUDA_SUCCESS ? value
                                                                                            : 0;
}

static tenon_status_t enter_native(tenon_device_t* device) {
  return tenon__cuda_enter(device);
}
static void* native_stream(const tenon_stream_t* stream) {
  return stream == NULL ? NULL : stream->handle;
}

static tenon_status_t on_close(tenon_device_t* device, void (*function)(void* user), void* user) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  tenon__cuda_closer_t* closer = allocator->resize(allocator->user, NULL, 0, sizeof(*closer));
  if (closer == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  (void)pthread_mutex_lock(&device->lock);
  *closer = (tenon__cuda_closer_t){device->closers, function, user};
  device->closers = closer;
  (void)pthread_mutex_unlock(&device->lock);
  return TENON_OK;
}

static void call_closers(tenon_device_t* device) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  while (device->closers != NULL) {
    tenon__cuda_closer_t* closer = device->closers;
    device->closers = closer->next;
    closer->function(closer->user);
    (void)allocator->resize(allocator->user, closer, sizeof(*closer), 0);
  }
}

static void describe(tenon_device_t* device) {
  char name[128] = "an unnamed device";
  int version = 0;
  (void)device->driver->cuDeviceGetName(name, (int)sizeof(name), device->handle);
  (void)device->driver->cuDriverGetVersion(&version);
  device->architecture = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                         attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  device->multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  device->shared_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  (void)snprintf(device->fingerprint, sizeof(device->fingerprint),
                 "%s, sm_%d, %d, driver %d.%d, %s", name, device->architecture,
                 device->multiprocessors, version / 1000, version % 1000 / 10,
                 tenon__cuda_compiler_version(device->state));
  device->native = (tenon_cuda_native_t){.size = sizeof(tenon_cuda_native_t),
                                         .device = device,
                                         .context = device->context,
                                         .ordinal = (int32_t)device->index,
                                         .architecture = device->architecture,
                                         .multiprocessors = device->multiprocessors,
                                         .enter = enter_native,
                                         .stream = native_stream,
                                         .on_close = on_close};
}

static void close_parts(tenon_device_t* device) {
  const tenon__cuda_state_t* state = device->state;
  if (device->context != NULL) {
    (void)tenon__cuda_enter(device);
    call_closers(device);
    tenon__cuda_modules_close(device);
    tenon__cuda_memory_code_close(device);
    tenon__cuda_faults_close(device);
    tenon__cuda_memory_close(device);
    (void)device->driver->cuCtxSetCurrent(NULL);
    (void)device->driver->cuDevicePrimaryCtxRelease(device->handle);
  }
  (void)pthread_mutex_destroy(&device->lock);
  (void)state->allocator.resize(state->allocator.user, device, sizeof(*device), 0);
}

static tenon_status_t open_parts(tenon_device_t* device) {
  tenon_status_t status = TENON_CUDA_CALL(device, cuDeviceGet, &device->handle, (int)device->index);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuDevicePrimaryCtxRetain, &device->context, device->handle);
  }
  if (status == TENON_OK) {
    status = tenon__cuda_enter(device);
  }
  if (status == TENON_OK) {
    status = tenon__cuda_memory_open(device);
  }
  if (status == TENON_OK) {
    status = tenon__cuda_faults_open(device);
  }
  if (status == TENON_OK) {
    describe(device);
    tenon__cuda_watch_open(device);
  }
  return status;
}

/* Under the state's lock. */
static tenon_status_t make_device(tenon__cuda_state_t* state, uint32_t index,
                                  const tenon_sink_t* sink) {
  tenon_device_t* device =
      state->allocator.resize(state->allocator.user, NULL, 0, sizeof(tenon_device_t));
  if (device == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  memset(device, 0, sizeof(*device));
  device->state = state;
  device->driver = &state->driver;
  device->index = index;
  (void)pthread_mutex_init(&device->lock, NULL);
  const tenon_status_t status = open_parts(device);
  if (status != TENON_OK) {
    const char* call = atomic_load(&device->last_call);
    (void)tenon__cuda_fail(sink, status, "device %u of CUDA cannot be opened: %s: %s", index,
                           call == NULL ? "no memory" : call,
                           error_name(device->driver, atomic_load(&device->last_result)));
    close_parts(device);
    return status;
  }
  state->devices[index] = device;
  return TENON_OK;
}

static tenon_status_t open_device(void* state, uint32_t index, const tenon_sink_t* sink,
                                  tenon_device_t** out_device) {
  tenon__cuda_state_t* cuda = state;
  const uint32_t found = count(state, sink);
  if (index >= found) {
    return found == 0 ? TENON_ERROR_NOT_FOUND
                      : tenon__cuda_fail(sink, TENON_ERROR_INVALID_ARGUMENT,
                                         "device %u is asked for, there are %u", index, found);
  }
  (void)pthread_mutex_lock(&cuda->lock);
  const tenon_status_t status =
      cuda->devices[index] != NULL ? TENON_OK : make_device(cuda, index, sink);
  if (status == TENON_OK) {
    *out_device = cuda->devices[index];
    (*out_device)->opened++;
  }
  (void)pthread_mutex_unlock(&cuda->lock);
  return status;
}

static void close_device(tenon_device_t* device) {
  tenon__cuda_state_t* state = device->state;
  (void)pthread_mutex_lock(&state->lock);
  if (--device->opened == 0) {
    state->devices[device->index] = NULL;
    close_parts(device);
  }
  (void)pthread_mutex_unlock(&state->lock);
}

/* ---- What it is ---- */

static const char* fingerprint(tenon_device_t* device) {
  return device->fingerprint;
}

/* "sm_80": that or newer. */
static int32_t has(tenon_device_t* device, const char* name) {
  char* end = NULL;
  if (strncmp(name, "sm_", 3) != 0) {
    return 0;
  }
  const long least = strtol(name + 3, &end, 10);
  return end != name + 3 && *end == 0 && device->architecture >= least ? 1 : 0;
}

static void* service(tenon_device_t* device, const char* name) {
  return strcmp(name, TENON_CUDA_NATIVE) == 0    ? (void*)&device->native
         : strcmp(name, TENON_DEVICE_WATCH) == 0 ? (void*)&device->watch
                                                 : NULL;
}

/* A device that is lost stays so for the process: each call says the same. What failed without
 * harm, and what kernels found in data, is told once, as a warning. */
static tenon_status_t health(tenon_device_t* device, const tenon_sink_t* sink) {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuMemGetInfo, &free_bytes, &total_bytes);
  }
  const int lost = atomic_load(&device->lost);
  if (lost != 0 || status != TENON_OK) {
    const char* call = atomic_load(&device->last_call);
    return tenon__cuda_fail(
        sink, TENON_ERROR_DEVICE,
        "the device is lost to this process: %s (last in %s); only a new process can use it",
        error_name(device->driver, lost != 0 ? lost : atomic_load(&device->last_result)),
        call == NULL ? "no call" : call);
  }
  char text[TENON_CUDA_FAULT_TEXT];
  (void)pthread_mutex_lock(&device->lock);
  memcpy(text, device->fault_text, sizeof(text));
  device->fault_text[0] = 0;
  (void)pthread_mutex_unlock(&device->lock);
  const char* call = atomic_exchange(&device->last_call, NULL);
  const bool says = sink != NULL && sink->report != NULL;
  if (text[0] != 0 && says) {
    sink->report(sink->user, TENON_SEVERITY_WARNING, text);
  }
  if (call != NULL && says) {
    (void)snprintf(text, sizeof(text), "%s failed: %s", call,
                   error_name(device->driver, atomic_load(&device->last_result)));
    sink->report(sink->user, TENON_SEVERITY_WARNING, text);
  }
  return TENON_OK;
}

static const tenon_device_descriptor_t devices[] = {{
    .size = sizeof(tenon_device_descriptor_t),
    .name = "cuda",
    .summary = "GPUs of NVIDIA, through CUDA",
    .flags = TENON_DEVICE_RECORDS | TENON_DEVICE_RECORDS_STREAMS,
    .count = count,
    .open = open_device,
    .close = close_device,
    .fingerprint = fingerprint,
    .has = has,
    .allocate = tenon__cuda_allocate,
    .free = tenon__cuda_free,
    .copy = tenon__cuda_copy,
    .fill = tenon__cuda_fill,
    .create_stream = tenon__cuda_create_stream,
    .destroy_stream = tenon__cuda_destroy_stream,
    .synchronize = tenon__cuda_synchronize,
    .create_event = tenon__cuda_create_event,
    .destroy_event = tenon__cuda_destroy_event,
    .record_event = tenon__cuda_record_event,
    .wait_event = tenon__cuda_wait_event,
    .elapsed = tenon__cuda_elapsed,
    .begin_record = tenon__cuda_begin_record,
    .end_record = tenon__cuda_end_record,
    .replay = tenon__cuda_replay,
    .destroy_recording = tenon__cuda_destroy_recording,
    .native = tenon__cuda_native,
    .service = service,
    .health = health,
}};

const tenon_offering_t tenon__cuda_devices = TENON_OFFERING_OF("device/1", devices);
