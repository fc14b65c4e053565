/* Opening cuBLASLt, what its results mean, and the handles. */
#include "library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_OF(name) #name
#define SYMBOL_OF(name) NAME_OF(name)

/* ---- Words ---- */

tenon_status_t tenon__cublas_fail(const tenon_sink_t* sink, tenon_status_t status,
                                  const char* format, ...) {
  char message[512];
  va_list arguments;
  if (sink != NULL && sink->report != NULL) {
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    sink->report(sink->user, TENON_SEVERITY_ERROR, message);
  }
  return status;
}

tenon_status_t tenon__cublas_status(cublasStatus_t result) {
  switch (result) {
    case CUBLAS_STATUS_SUCCESS:
      return TENON_OK;
    case CUBLAS_STATUS_ALLOC_FAILED:
      return TENON_ERROR_OUT_OF_MEMORY;
    case CUBLAS_STATUS_INVALID_VALUE:
      return TENON_ERROR_INVALID_ARGUMENT;
    case CUBLAS_STATUS_ARCH_MISMATCH:
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return TENON_ERROR_UNSUPPORTED;
    default:
      return TENON_ERROR_DEVICE;
  }
}

tenon_status_t tenon__cublas_check(const tenon__cublas_calls_t* calls, const tenon_sink_t* sink,
                                   cublasStatus_t result, const char* call) {
  return result == CUBLAS_STATUS_SUCCESS
             ? TENON_OK
             : tenon__cublas_fail(sink, tenon__cublas_status(result), "%s failed: %s", call,
                                  calls->cublasLtGetStatusName(result));
}

/* ---- Opening ---- */

static bool find(void* library, const char* symbol, void* out_function) {
  void* found = dlsym(library, symbol);
  memcpy(out_function, &found, sizeof(found)); /* POSIX: an object pointer holds a function's */
  return found != NULL;
}

static bool open_library(tenon__cublas_calls_t* out_calls) {
  static const char* const names[] = {"libcublasLt.so.13", "libcublasLt.so.12"};
  void* library = NULL;
  for (size_t k = 0; k < sizeof(names) / sizeof(*names) && library == NULL; k++) {
    library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
  }
  bool found = library != NULL;
#define FIND(name) found = found && find(library, SYMBOL_OF(name), (void*)&out_calls->name);
  TENON_CUBLAS_FUNCTIONS(FIND)
#undef FIND
  return found;
}

bool tenon__cublas_is_there(tenon__cublas_state_t* state) {
  (void)pthread_mutex_lock(&state->lock);
  if (!state->was_tried) {
    state->was_tried = true;
    state->is_open = open_library(&state->calls);
    const size_t version = state->is_open ? state->calls.cublasLtGetVersion() : 0;
    (void)snprintf(state->version, sizeof(state->version), "cublasLt %zu.%zu.%zu", version / 10000,
                   version / 100 % 100, version % 100);
  }
  const bool is_open = state->is_open;
  (void)pthread_mutex_unlock(&state->lock);
  return is_open;
}

const char* tenon__cublas_validity(void* state, tenon_device_t* device) {
  const tenon__cublas_state_t* cublas = state;
  (void)device;
  return tenon__cublas_is_there(state) ? cublas->version : NULL;
}

/* ---- Handles ---- */

/* When the device closes. */
static void forget_handle(void* user) {
  tenon__cublas_handle_t* handle = user;
  tenon__cublas_state_t* state = handle->state;
  (void)pthread_mutex_lock(&state->lock);
  tenon__cublas_handle_t** place = &state->handles;
  while (*place != handle) {
    place = &(*place)->next;
  }
  *place = handle->next;
  (void)state->calls.cublasLtDestroy(handle->handle);
  (void)state->allocator.resize(state->allocator.user, handle, sizeof(*handle), 0);
  (void)pthread_mutex_unlock(&state->lock);
}

static tenon_status_t make_handle(tenon__cublas_state_t* state, const tenon_cuda_native_t* native,
                                  const tenon_sink_t* sink, tenon__cublas_handle_t** out_handle) {
  tenon__cublas_handle_t* made =
      state->allocator.resize(state->allocator.user, NULL, 0, sizeof(*made));
  if (made == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *made = (tenon__cublas_handle_t){.next = state->handles, .native = native, .state = state};
  tenon_status_t status = native->enter(native->device);
  if (status == TENON_OK) {
    status = tenon__cublas_check(&state->calls, sink, state->calls.cublasLtCreate(&made->handle),
                                 "cublasLtCreate");
  }
  if (status == TENON_OK) {
    status = native->on_close(native->device, forget_handle, made);
  }
  if (status != TENON_OK) {
    if (made->handle != NULL) {
      (void)state->calls.cublasLtDestroy(made->handle);
    }
    (void)state->allocator.resize(state->allocator.user, made, sizeof(*made), 0);
    return status;
  }
  state->handles = made;
  *out_handle = made;
  return TENON_OK;
}

tenon_status_t tenon__cublas_handle_of(tenon__cublas_state_t* state,
                                       const tenon_cuda_native_t* native, const tenon_sink_t* sink,
                                       tenon__cublas_handle_t** out_handle) {
  tenon_status_t status = TENON_OK;
  (void)pthread_mutex_lock(&state->lock);
  tenon__cublas_handle_t* found = state->handles;
  while (found != NULL && found->native != native) {
    found = found->next;
  }
  if (found == NULL) {
    status = make_handle(state, native, sink, &found);
  }
  *out_handle = found;
  (void)pthread_mutex_unlock(&state->lock);
  return status;
}
