/* Launching, and finding the device. */
#include "launch.h"

#include <stdio.h>

enum { DEPENDENT_ARCHITECTURE = 90, THREADS_AT_ONCE = 1024 /* of a multiprocessor, to be sure */ };

uint32_t tenon__cuda_fits_at_once(const tenon_device_t* device, uint64_t threads) {
  return threads <= (uint64_t)device->multiprocessors * THREADS_AT_ONCE ? 1 : 0;
}

tenon_status_t tenon__cuda_prefer_shared(tenon_device_t* device, CUfunction function) {
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuFuncSetAttribute, function,
                             CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, device->shared_bytes);
  }
  return status != TENON_OK ? status
                            : TENON_CUDA_CALL(device, cuFuncSetAttribute, function,
                                              CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                              CU_SHAREDMEM_CARVEOUT_MAX_SHARED);
}

tenon_device_t* tenon__cuda_prepared_device(const tenon_prepare_t* call) {
  const tenon_cuda_native_t* native =
      call->host->service == NULL ? NULL
                                  : call->host->service(call->preparation, TENON_CUDA_NATIVE);
  return native == NULL ? NULL : native->device;
}

tenon_status_t tenon__cuda_check_architecture(const tenon_prepare_t* call,
                                              const tenon_device_t* device, int oldest,
                                              bool is_only) {
  const int own = device->architecture;
  if (own == oldest || (own > oldest && !is_only)) {
    return TENON_OK;
  }
  return tenon__cuda_fail(call->host->sink == NULL ? NULL : call->host->sink(call->preparation),
                          TENON_ERROR_UNSUPPORTED,
                          "the GPU has architecture sm_%d, this kernel needs sm_%d%s", own, oldest,
                          is_only ? "" : " or newer");
}

tenon_status_t tenon__cuda_launch(tenon_device_t* device, const tenon_enqueue_t* call,
                                  const tenon__cuda_launch_t* launch, void* parameters) {
  return tenon__cuda_launch_clusters(device, call, launch, 1, parameters);
}

tenon_status_t tenon__cuda_launch_clusters(tenon_device_t* device, const tenon_enqueue_t* call,
                                           const tenon__cuda_launch_t* launch, uint32_t cluster,
                                           void* parameters) {
  CUlaunchAttribute attributes[2];
  uint32_t count = 0;
  if (device->architecture >= DEPENDENT_ARCHITECTURE) {
    attributes[count++] =
        (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                            .value = {.programmaticStreamSerializationAllowed = 1}};
  }
  if (cluster > 1) {
    attributes[count++] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                              .value = {.clusterDim = {cluster, 1, 1}}};
  }
  const CUlaunchConfig config = {
      .gridDimX = launch->blocks,
      .gridDimY = 1,
      .gridDimZ = 1,
      .blockDimX = launch->threads,
      .blockDimY = 1,
      .blockDimZ = 1,
      .sharedMemBytes = launch->shared_bytes,
      .hStream = tenon__cuda_stream_of(device, call->host->stream(call->run)),
      .attrs = attributes,
      .numAttrs = count};
  void* arguments[] = {parameters};
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuLaunchKernelEx, &config, launch->kernel, arguments, NULL);
  }
  if (status == TENON_OK) {
    return TENON_OK;
  }
  char message[128];
  const char* name = "an unknown error";
  (void)device->driver->cuGetErrorName((CUresult)atomic_load(&device->last_result), &name);
  (void)snprintf(message, sizeof(message), "a launch of %u blocks of %u threads failed: %s",
                 launch->blocks, launch->threads, name);
  return call->host->fail(call->run, status, message);
}
