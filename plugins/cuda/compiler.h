/*
 * Texts of kernels as code on a device: NVRTC, opened when it is first needed, and the modules that
 * a device has loaded. Equal texts are compiled and loaded once for all who ask while one of them
 * has it, and for some time after; a plan's blobs spare the compilation.
 */
#ifndef PLUGINS_CUDA_COMPILER_H_
#define PLUGINS_CUDA_COMPILER_H_

#include "device.h"

/* "NVRTC 13.0", or "no NVRTC" where there is none. Lives as long as the state. [any] */
const char* tenon__cuda_compiler_version(tenon__cuda_state_t* state);
bool tenon__cuda_compiler_exists(tenon__cuda_state_t* state);
void tenon__cuda_compiler_close(tenon__cuda_state_t* state);

/* Compiles for an architecture (90: sm_90), without a device or a driver. The caller frees the code
 * by the state's allocator. What the compiler says goes to the sink. */
tenon_status_t tenon__cuda_compile(tenon__cuda_state_t* state, const char* text, int architecture,
                                   const tenon_sink_t* sink, void** out_code, size_t* out_size);

/* What `prepare` gave, for blobs and words. */
typedef struct tenon__cuda_request_t {
  const char* text;
  tenon_preparation_t* preparation;
  const tenon_prepare_table_t* host;
} tenon__cuda_request_t;

/* A module of that text, loaded. Counted: each one that is got is released. */
tenon_status_t tenon__cuda_module_get(tenon_device_t* device, const tenon__cuda_request_t* request,
                                      tenon__cuda_module_t** out_module);
void tenon__cuda_module_release(tenon_device_t* device, tenon__cuda_module_t* module);
/* A kernel of it, ready to be launched and recorded. */
tenon_status_t tenon__cuda_module_kernel(tenon_device_t* device, tenon__cuda_module_t* module,
                                         const char* name, CUfunction* out_kernel);
/* When the device closes. */
void tenon__cuda_modules_close(tenon_device_t* device);

#endif
