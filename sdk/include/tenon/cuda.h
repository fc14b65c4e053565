/*
 * tenon/cuda.h - between the plugin `cuda` and kernels of others on its device.
 *
 * What `service("cuda.native/1")` of the device gives to a kernel that speaks to CUDA itself, or to
 * a library of CUDA's. Lives as long as the device. [growing] Needs none of CUDA's headers.
 *
 * The host calls a kernel on any of its threads. So prepare, bind, enqueue, unbind and destroy of a
 * kernel that uses CUDA begin with `enter`.
 */
#ifndef TENON_CUDA_H_
#define TENON_CUDA_H_

#include "tenon/plugin.h"

#define TENON_CUDA_NATIVE "cuda.native/1"
#define TENON_CUDA_STREAM "cuda.stream/1"

typedef struct tenon_cuda_native_t {
  size_t size;
  tenon_device_t* device;
  /* A CUcontext: the primary one, so CUDA's run-time library uses the same. */
  void* context;
  /* The driver's number of the device. */
  int32_t ordinal;
  /* 90 for compute capability 9.0. */
  int32_t architecture;
  int32_t multiprocessors;
  int32_t reserved;
  /* [any] Makes the context the calling thread's; cheap. */
  tenon_status_t (*enter)(tenon_device_t* device);
  /* [any] The CUstream behind a stream of the device. */
  void* (*stream)(const tenon_stream_t* stream);
  /* [any] Calls `function(user)` once, when the device closes and before its context goes, on a
   * thread that has entered it; what came last is called first. For what a library keeps for a
   * device: handles, workspaces. Whoever asks stays until then: a plugin is stopped after all
   * devices. Within `function` nothing may be asked of this. OUT_OF_MEMORY. */
  tenon_status_t (*on_close)(tenon_device_t* device, void (*function)(void* user), void* user);
} tenon_cuda_native_t;

#endif
