/*
 * Texts of kernels as code on a device: NVRTC, opened when it is first needed, and the modules that
 * a device has loaded. Equal texts are compiled and loaded once for all who ask while one of them
 * has it, and for some time after; a plan's blobs spare the compilation.
 */
#ifndef PLUGINS_CUDA_COMPILER_H_
#define PLUGINS_CUDA_COMPILER_H_

#include "device.h"
#include "text.h"

/* "NVRTC 13.0", or "no NVRTC" where there is none. Lives as long as the state. [any] */
const char* tenon__cuda_compiler_version(tenon__cuda_state_t* state);
bool tenon__cuda_compiler_exists(tenon__cuda_state_t* state);
/* The file that NVRTC was loaded from; NULL where there is none. */
const char* tenon__cuda_compiler_library(tenon__cuda_state_t* state);
void tenon__cuda_compiler_close(tenon__cuda_state_t* state);

/* Compiles for an architecture (90: sm_90), without a device or a driver. The caller frees the code
 * by the state's allocator. What the compiler says goes to the sink. */
tenon_status_t tenon__cuda_compile(tenon__cuda_state_t* state, const char* text, int architecture,
                                   const tenon_sink_t* sink, void** out_code, size_t* out_size);

/* A kernel of a module, and where it is to be put. */
typedef struct tenon__cuda_wanted_t {
  const char* name;
  CUfunction* out_kernel;
} tenon__cuda_wanted_t;

/* Of what is loaded; ready to be launched and recorded. */
tenon_status_t tenon__cuda_find_kernel(tenon_device_t* device, CUlibrary library,
                                       const tenon__cuda_wanted_t* wanted);

/* While a kernel is prepared: a module of that text, which goes, and the kernels that are wanted of
 * it, ready to be launched and recorded. Counted: each one that is got is released. */
tenon_status_t tenon__cuda_module_get(tenon_device_t* device, const tenon_prepare_t* call,
                                      tenon__cuda_text_t* adopt_text,
                                      const tenon__cuda_wanted_t* wanted, uint32_t count,
                                      tenon__cuda_module_t** out_module);
/* For kernels' `begin_prepare`: compiles the text, which goes, in a thread of the device's, unless
 * it has such a module, the plan its code, or it is under way already. */
void tenon__cuda_module_begin(tenon_device_t* device, const tenon_prepare_t* call,
                              tenon__cuda_text_t* adopt_text);
void tenon__cuda_module_release(tenon_device_t* device, tenon__cuda_module_t* module);
/* When the device closes. */
void tenon__cuda_modules_close(tenon_device_t* device);

/* ahead.c, for module.c: texts by their keys. The text goes. */
enum { TENON_CUDA_KEY = 48 };
void tenon__cuda_ahead_begin(tenon_device_t* device, const char* key,
                             tenon__cuda_text_t* adopt_text);
/* The code, the caller's from then on; waits for it where it is under way. False: it was not begun,
 * only waits for its turn, which it then does no more, or cannot be compiled. */
bool tenon__cuda_ahead_take(tenon_device_t* device, const char* key, void** out_code,
                            size_t* out_size);
void tenon__cuda_ahead_close(tenon_device_t* device);

#endif
