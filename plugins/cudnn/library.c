/* Opening cuDNN, what its results mean, and handles. */
#include "library.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

tenon_status_t tenon__cudnn_say(const tenon_sink_t* sink, tenon_status_t status, const char* format,
                                ...) {
  if (sink != NULL && sink->report != NULL) {
    char message[640];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    sink->report(sink->user, TENON_SEVERITY_ERROR, message);
  }
  return status;
}

tenon_status_t tenon__cudnn_status(cudnnStatus_t result) {
  if (result == CUDNN_STATUS_SUCCESS) {
    return TENON_OK;
  }
  if (result == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
      result == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  switch (CUDNN_STATUS_CATEGORY((int)result)) {
    case 2000:
      return TENON_ERROR_INTERNAL;
    case 3000:
      return TENON_ERROR_UNSUPPORTED;
    default:
      return TENON_ERROR_DEVICE;
  }
}

/* ---- Opening ---- */

static const char* find_all(void* opened, tenon__cudnn_library_t* out_library) {
  const char* lacking = NULL;
  void* found = NULL;
#define FIND(name)                                              \
  found = dlsym(opened, #name);                                 \
  lacking = found == NULL && lacking == NULL ? #name : lacking; \
  memcpy((void*)&out_library->name, &found, sizeof(found));
  TENON_CUDNN_FUNCTIONS(FIND)
#undef FIND
  return lacking;
}

static tenon_status_t open_once(tenon__cudnn_state_t* state) {
  void* opened = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (opened == NULL) {
    const char* why = dlerror();
    (void)snprintf(state->why, sizeof(state->why), "no cuDNN: %s",
                   why == NULL ? "libcudnn.so.9 cannot be opened" : why);
    return TENON_ERROR_NOT_FOUND;
  }
  const char* lacking = find_all(opened, &state->library);
  if (lacking != NULL) {
    (void)snprintf(state->why, sizeof(state->why), "libcudnn.so.9 has no %s", lacking);
    return TENON_ERROR_NOT_FOUND;
  }
  const size_t version = state->library.cudnnGetVersion();
  if (version < TENON_CUDNN_OLDEST) {
    (void)snprintf(state->why, sizeof(state->why),
                   "libcudnn.so.9 is %zu.%zu, it takes %d.%d or newer", version / 10000,
                   version / 100 % 100, TENON_CUDNN_OLDEST / 10000, TENON_CUDNN_OLDEST / 100 % 100);
    return TENON_ERROR_UNSUPPORTED;
  }
  (void)snprintf(state->version, sizeof(state->version), "cudnn %zu.%zu.%zu", version / 10000,
                 version / 100 % 100, version % 100);
  return TENON_OK;
}

tenon_status_t tenon__cudnn_open(tenon__cudnn_state_t* state, const tenon_sink_t* sink) {
  (void)pthread_mutex_lock(&state->lock);
  if (!state->tried) {
    state->opened = open_once(state);
    state->tried = true;
  }
  (void)pthread_mutex_unlock(&state->lock);
  return state->opened == TENON_OK ? TENON_OK
                                   : tenon__cudnn_say(sink, state->opened, "%s", state->why);
}

const char* tenon__cudnn_validity(void* state, tenon_device_t* device) {
  const tenon__cudnn_state_t* cudnn = state;
  (void)device;
  return tenon__cudnn_open(state, NULL) == TENON_OK ? cudnn->version : NULL;
}

/* ---- Handles ---- */

/* Under the lock, with the device's context entered. */
static tenon_status_t add_handle(tenon__cudnn_device_t* device, const tenon_sink_t* sink) {
  const uint32_t made = atomic_load(&device->made);
  tenon__cudnn_handle_t* handle = &device->handles[made];
  const cudnnStatus_t result = device->library->cudnnCreate(&handle->handle);
  if (result != CUDNN_STATUS_SUCCESS) {
    return tenon__cudnn_say(sink, tenon__cudnn_status(result), "cudnnCreate: %s",
                            device->library->cudnnGetErrorString(result));
  }
  handle->stream = NULL;
  atomic_store(&handle->taken, 0);
  atomic_store(&device->made, made + 1);
  return TENON_OK;
}

/* When the device closes. */
static void forget_device(void* user) {
  tenon__cudnn_device_t* device = user;
  (void)pthread_mutex_lock(device->lock);
  for (uint32_t k = atomic_load(&device->made); k-- > 0;) {
    (void)device->library->cudnnDestroy(device->handles[k].handle);
  }
  atomic_store(&device->made, 0);
  atomic_store(&device->wanted, 0);
  device->native = NULL;
  (void)pthread_mutex_unlock(device->lock);
}

/* Under the lock: the device's entry, or a free one; NULL: all are taken. */
static tenon__cudnn_device_t* entry_of(tenon__cudnn_state_t* state,
                                       const tenon_cuda_native_t* native) {
  tenon__cudnn_device_t* found = NULL;
  for (uint32_t k = 0; k < TENON_CUDNN_DEVICES; k++) {
    tenon__cudnn_device_t* entry = &state->devices[k];
    if (entry->native == native || (entry->native == NULL && found == NULL)) {
      found = entry;
      if (entry->native == native) {
        break;
      }
    }
  }
  return found;
}

/* Under the lock, with the device's context entered. */
static tenon_status_t find_entry(tenon__cudnn_state_t* state, const tenon_cuda_native_t* native,
                                 const tenon_sink_t* sink, tenon__cudnn_device_t** out_device) {
  tenon__cudnn_device_t* device = entry_of(state, native);
  if (device == NULL) {
    return tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED, "more than %d devices",
                            TENON_CUDNN_DEVICES);
  }
  if (device->native == NULL) {
    device->library = &state->library;
    device->lock = &state->lock;
    const tenon_status_t status = native->on_close(native->device, forget_device, device);
    if (status != TENON_OK) {
      return status;
    }
    device->native = native;
  }
  *out_device = device;
  return atomic_load(&device->made) > 0 ? TENON_OK : add_handle(device, sink);
}

tenon_status_t tenon__cudnn_device_find(tenon__cudnn_state_t* state, const tenon_prepare_t* call,
                                        tenon__cudnn_device_t** out_device) {
  const tenon_sink_t* sink = call->host->sink == NULL ? NULL : call->host->sink(call->preparation);
  const tenon_cuda_native_t* native =
      call->host->service == NULL ? NULL
                                  : call->host->service(call->preparation, TENON_CUDA_NATIVE);
  if (native == NULL || native->size < sizeof(*native)) {
    return tenon__cudnn_say(sink, TENON_ERROR_UNSUPPORTED,
                            "the device has no service %s, or an old one", TENON_CUDA_NATIVE);
  }
  tenon_status_t status = tenon__cudnn_open(state, sink);
  if (status == TENON_OK) {
    status = native->enter(native->device);
  }
  if (status != TENON_OK) {
    return status;
  }
  (void)pthread_mutex_lock(&state->lock);
  status = find_entry(state, native, sink, out_device);
  (void)pthread_mutex_unlock(&state->lock);
  return status;
}

tenon_status_t tenon__cudnn_device_grow(tenon__cudnn_state_t* state, tenon__cudnn_device_t* device,
                                        const tenon_sink_t* sink) {
  tenon_status_t status = TENON_OK;
  (void)pthread_mutex_lock(&state->lock);
  if (atomic_exchange(&device->wanted, 0) > 0 && atomic_load(&device->made) < TENON_CUDNN_HANDLES) {
    status = add_handle(device, sink);
  }
  (void)pthread_mutex_unlock(&state->lock);
  return status;
}

tenon__cudnn_handle_t* tenon__cudnn_take(tenon__cudnn_device_t* device) {
  for (;;) {
    const uint32_t made = atomic_load(&device->made);
    for (uint32_t k = 0; k < made; k++) {
      if (atomic_exchange(&device->handles[k].taken, 1) == 0) {
        return &device->handles[k];
      }
    }
    atomic_store(&device->wanted, 1);
    (void)sched_yield();
  }
}

void tenon__cudnn_give(tenon__cudnn_handle_t* handle) {
  atomic_store(&handle->taken, 0);
}

cudnnStatus_t tenon__cudnn_begin(tenon__cudnn_device_t* device, const tenon_enqueue_t* call,
                                 tenon__cudnn_handle_t** out_handle) {
  void* stream = device->native->stream(call->host->stream(call->run));
  tenon__cudnn_handle_t* handle = tenon__cudnn_take(device);
  cudnnStatus_t result = CUDNN_STATUS_SUCCESS;
  if (handle->stream != stream) {
    result = device->library->cudnnSetStream(handle->handle, stream);
    handle->stream = result == CUDNN_STATUS_SUCCESS ? stream : NULL;
  }
  *out_handle = handle;
  return result;
}
