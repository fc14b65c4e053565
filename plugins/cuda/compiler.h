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

/* While a kernel is prepared: a module of that text, which goes, and the kernels that are wanted of
 * it, ready to be launched and recorded. Counted: each one that is got is released. */
tenon_status_t tenon__cuda_module_get(tenon_device_t* device, const tenon_prepare_t* call,
                                      tenon__cuda_text_t* adopt_text,
                                      const tenon__cuda_wanted_t* wanted, uint32_t count,
                                      tenon__cuda_module_t** out_module);
/* Has neither the device a module of that text, nor the plan its code? */
bool tenon__cuda_module_is_lacking(tenon_device_t* device, const tenon_prepare_t* call,
                                   const tenon__cuda_text_t* text);
/* Before one of several texts is got that the next preparations ask for: those of which there is no
 * module are compiled at once, each in a thread of its own, where there are processors for all. At
 * most TENON_CUDA_AHEAD, which go. */
enum { TENON_CUDA_AHEAD = 8 };
void tenon__cuda_modules_ahead(tenon_device_t* device, const tenon_prepare_t* call,
                               tenon__cuda_text_t* adopt_texts, uint32_t count);
void tenon__cuda_module_release(tenon_device_t* device, tenon__cuda_module_t* module);
/* When the device closes. */
void tenon__cuda_modules_close(tenon_device_t* device);

#endif
