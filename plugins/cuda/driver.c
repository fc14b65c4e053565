/* Opening the driver, and what its results mean. */
#include "driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_OF(name) #name
#define SYMBOL_OF(name) NAME_OF(name)

int32_t tenon__cuda_refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail) {
  *out_refusal = (tenon_refusal_t){.reason = reason, .detail = detail};
  return 0;
}

tenon_status_t tenon__cuda_fail(const tenon_sink_t* sink, tenon_status_t status, const char* format,
                                ...) {
  char message[512];
  va_list arguments;
  if (sink != NULL && sink->report != NULL) {
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof(message), format, arguments);
    va_end(arguments);
    sink->report(sink->user, status == TENON_OK ? TENON_SEVERITY_INFO : TENON_SEVERITY_ERROR,
                 message);
  }
  return status;
}

static tenon_status_t find(void* library, const char* symbol, void* out_function,
                           const tenon_sink_t* sink) {
  void* found = dlsym(library, symbol);
  if (found == NULL) {
    return tenon__cuda_fail(sink, TENON_ERROR_NOT_FOUND,
                            "libcuda.so.1 has no %s: a driver of CUDA 12.8 or newer is needed",
                            symbol);
  }
  memcpy(out_function, &found, sizeof(found)); /* POSIX: an object pointer holds a function's */
  return TENON_OK;
}

tenon_status_t tenon__cuda_driver_open(const tenon_sink_t* sink, tenon__cuda_driver_t* out_driver) {
  tenon__cuda_driver_t driver;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  tenon_status_t status = TENON_OK;
  if (library == NULL) {
    const char* why = dlerror();
    return tenon__cuda_fail(sink, TENON_ERROR_NOT_FOUND,
                            "no driver of CUDA (%s): where there is a GPU of NVIDIA's, install its "
                            "driver, 570 or newer",
                            why == NULL ? "libcuda.so.1 cannot be opened" : why);
  }
#define FIND(name)                                                      \
  if (status == TENON_OK) {                                             \
    status = find(library, SYMBOL_OF(name), (void*)&driver.name, sink); \
  }
  TENON_CUDA_FUNCTIONS(FIND)
#undef FIND
  if (status != TENON_OK) {
    return status;
  }
  int count = 0;
  CUresult result = driver.cuInit(0);
  if (result == CUDA_SUCCESS) {
    result = driver.cuDeviceGetCount(&count);
  }
  if (result != CUDA_SUCCESS || count == 0) {
    const char* name = "no device";
    if (result != CUDA_SUCCESS) {
      (void)driver.cuGetErrorName(result, &name);
    }
    return tenon__cuda_fail(
        sink, TENON_ERROR_DEVICE,
        "the driver of CUDA finds no device (%s): nvidia-smi says whether the system "
        "has one, CUDA_VISIBLE_DEVICES may hide it",
        name);
  }
  *out_driver = driver;
  return TENON_OK;
}

int tenon__cuda_is_lost(CUresult result) {
  switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_EXTERNAL_DEVICE:
    case CUDA_ERROR_UNKNOWN:
      return 1;
    default:
      return 0;
  }
}

tenon_status_t tenon__cuda_status(CUresult result) {
  switch (result) {
    case CUDA_SUCCESS:
      return TENON_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
      return TENON_ERROR_OUT_OF_MEMORY;
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_INVALID_HANDLE:
      return TENON_ERROR_INVALID_ARGUMENT;
    case CUDA_ERROR_NOT_READY:
    case CUDA_ERROR_ILLEGAL_STATE:
    case CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED:
    case CUDA_ERROR_STREAM_CAPTURE_INVALIDATED:
    case CUDA_ERROR_STREAM_CAPTURE_MERGE:
    case CUDA_ERROR_STREAM_CAPTURE_UNMATCHED:
    case CUDA_ERROR_STREAM_CAPTURE_UNJOINED:
    case CUDA_ERROR_STREAM_CAPTURE_ISOLATION:
    case CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
    case CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD:
    case CUDA_ERROR_CAPTURED_EVENT:
      return TENON_ERROR_INVALID_STATE;
    case CUDA_ERROR_NOT_SUPPORTED:
      return TENON_ERROR_UNSUPPORTED;
    default:
      return TENON_ERROR_DEVICE;
  }
}
