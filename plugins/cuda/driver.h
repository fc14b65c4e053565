/*
 * CUDA's driver, opened when it is first asked for: the plugin is linked to nothing of CUDA, so it
 * loads where there is none. Each function of the driver is a member of tenon__cuda_driver_t, under
 * the name by which cuda.h calls it; the symbol is the version that cuda.h means.
 *
 *   CUresult result = driver->cuMemFreeAsync(address, stream);
 */
#ifndef PLUGINS_CUDA_DRIVER_H_
#define PLUGINS_CUDA_DRIVER_H_

#include <cuda.h>

#include "tenon/plugin.h"

#define TENON_CUDA_FUNCTIONS(X)      \
  X(cuInit)                          \
  X(cuDriverGetVersion)              \
  X(cuGetErrorName)                  \
  X(cuDeviceGetCount)                \
  X(cuDeviceGet)                     \
  X(cuDeviceGetName)                 \
  X(cuDeviceGetAttribute)            \
  X(cuDeviceGetPCIBusId)             \
  X(cuDevicePrimaryCtxRetain)        \
  X(cuDevicePrimaryCtxRelease)       \
  X(cuCtxSetCurrent)                 \
  X(cuCtxSynchronize)                \
  X(cuMemGetInfo)                    \
  X(cuMemPoolCreate)                 \
  X(cuMemPoolDestroy)                \
  X(cuMemPoolSetAttribute)           \
  X(cuMemPoolGetAttribute)           \
  X(cuMemAllocFromPoolAsync)         \
  X(cuMemFreeAsync)                  \
  X(cuMemHostAlloc)                  \
  X(cuMemFreeHost)                   \
  X(cuMemcpyHtoDAsync)               \
  X(cuMemcpyDtoHAsync)               \
  X(cuMemcpyDtoDAsync)               \
  X(cuMemsetD8Async)                 \
  X(cuStreamCreate)                  \
  X(cuStreamDestroy)                 \
  X(cuStreamSynchronize)             \
  X(cuStreamIsCapturing)             \
  X(cuStreamWaitEvent)               \
  X(cuStreamBeginCapture)            \
  X(cuStreamEndCapture)              \
  X(cuEventCreate)                   \
  X(cuEventDestroy)                  \
  X(cuEventRecord)                   \
  X(cuEventSynchronize)              \
  X(cuEventElapsedTime)              \
  X(cuPointerGetAttribute)           \
  X(cuGraphGetNodes)                 \
  X(cuGraphNodeGetType)              \
  X(cuGraphMemsetNodeGetParams)      \
  X(cuGraphMemcpyNodeGetParams)      \
  X(cuGraphNodeGetDependencies_v2)   \
  X(cuGraphNodeGetDependentNodes_v2) \
  X(cuGraphAddKernelNode_v2)         \
  X(cuGraphAddDependencies_v2)       \
  X(cuGraphDestroyNode)              \
  X(cuGraphInstantiate)              \
  X(cuGraphUpload)                   \
  X(cuGraphLaunch)                   \
  X(cuGraphDestroy)                  \
  X(cuGraphExecDestroy)              \
  X(cuLibraryLoadData)               \
  X(cuLibraryUnload)                 \
  X(cuLibraryGetKernel)              \
  X(cuKernelGetFunction)             \
  X(cuFuncSetAttribute)              \
  X(cuLaunchKernelEx)

#define TENON_CUDA_MEMBER(name) __typeof__(name)* name; /* NOLINT(bugprone-macro-parentheses) */
typedef struct tenon__cuda_driver_t {
  TENON_CUDA_FUNCTIONS(TENON_CUDA_MEMBER)
} tenon__cuda_driver_t;

/* Opens libcuda.so.1 and asks it for its devices. On failure says why on the sink: there is no
 * driver, it is too old, or it has no device. What was opened stays open. */
tenon_status_t tenon__cuda_driver_open(const tenon_sink_t* sink, tenon__cuda_driver_t* out_driver);

/* What a result of the driver is in this contract: the one place that decides. */
tenon_status_t tenon__cuda_status(CUresult result);
/* After such a result nothing of this process works on the device again. */
int tenon__cuda_is_lost(CUresult result);

/* Writes a message; `sink` may be NULL or say nothing. Returns the status. */
/* 0, with the reason: what `match` returns. */
int32_t tenon__cuda_refuse(tenon_refusal_t* out_refusal, uint32_t reason, const char* detail);
tenon_status_t tenon__cuda_fail(const tenon_sink_t* sink, tenon_status_t status, const char* format,
                                ...) __attribute__((format(printf, 3, 4)));

#endif
