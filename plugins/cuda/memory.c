/*
 * Memory of the device: one pool that keeps what it once had, so that taking and giving cost a
 * microsecond or two and no synchronisation. What is asked for without a stream goes through the
 * device's own and is there when the call returns.
 */
#include "device.h"

static CUdeviceptr address_of(const void* data) {
  return (CUdeviceptr)(uintptr_t)data;
}

/* Waits where there is no stream whose order would do. */
static tenon_status_t settle(tenon_device_t* device, const tenon_stream_t* stream) {
  return stream != NULL ? TENON_OK : TENON_CUDA_CALL(device, cuStreamSynchronize, device->own);
}

tenon_status_t tenon__cuda_memory_open(tenon_device_t* device) {
  const CUmemPoolProps properties = {
      .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->handle}};
  cuuint64_t keep = UINT64_MAX;
  tenon_status_t status =
      TENON_CUDA_CALL(device, cuStreamCreate, &device->own, CU_STREAM_NON_BLOCKING);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuMemPoolCreate, &device->pool, &properties);
  }
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuMemPoolSetAttribute, device->pool,
                             CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
  }
  return status;
}

void tenon__cuda_memory_close(tenon_device_t* device) {
  if (device->own != NULL) {
    (void)device->driver->cuStreamSynchronize(device->own);
  }
  if (device->pool != NULL) {
    (void)device->driver->cuMemPoolDestroy(device->pool);
  }
  if (device->own != NULL) {
    (void)device->driver->cuStreamDestroy(device->own);
  }
}

tenon_status_t tenon__cuda_allocate(tenon_device_t* device, tenon_stream_t* stream,
                                    size_t size_bytes, void** out_data) {
  CUdeviceptr address = 0;
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status =
        TENON_CUDA_CALL(device, cuMemAllocFromPoolAsync, &address, size_bytes == 0 ? 1 : size_bytes,
                        device->pool, tenon__cuda_stream_of(device, stream));
  }
  if (status == TENON_OK) {
    status = settle(device, stream);
  }
  if (status == TENON_OK) {
    *out_data = (void*)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
  }
  return status;
}

void tenon__cuda_free(tenon_device_t* device, tenon_stream_t* stream, void* data,
                      size_t size_bytes) {
  (void)size_bytes;
  if (data != NULL && tenon__cuda_enter(device) == TENON_OK) {
    (void)TENON_CUDA_CALL(device, cuMemFreeAsync, address_of(data),
                          tenon__cuda_stream_of(device, stream));
  }
}

tenon_status_t tenon__cuda_copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                                void* target, const void* source, size_t size_bytes) {
  CUstream handle = tenon__cuda_stream_of(device, stream);
  tenon_status_t status = tenon__cuda_enter(device);
  if (status != TENON_OK || size_bytes == 0) {
    return status;
  }
  switch (direction) {
    case TENON_COPY_TO_DEVICE:
      status = TENON_CUDA_CALL(device, cuMemcpyHtoDAsync, address_of(target), source, size_bytes,
                               handle);
      break;
    case TENON_COPY_TO_HOST:
      status = TENON_CUDA_CALL(device, cuMemcpyDtoHAsync, target, address_of(source), size_bytes,
                               handle);
      break;
    case TENON_COPY_WITHIN:
      status = TENON_CUDA_CALL(device, cuMemcpyDtoDAsync, address_of(target), address_of(source),
                               size_bytes, handle);
      break;
    default:
      return TENON_ERROR_INVALID_ARGUMENT;
  }
  return status == TENON_OK ? settle(device, stream) : status;
}

tenon_status_t tenon__cuda_fill(tenon_device_t* device, tenon_stream_t* stream, void* target,
                                int32_t byte, size_t size_bytes) {
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK && size_bytes > 0) {
    status = TENON_CUDA_CALL(device, cuMemsetD8Async, address_of(target), (unsigned char)byte,
                             size_bytes, tenon__cuda_stream_of(device, stream));
  }
  return status == TENON_OK ? settle(device, stream) : status;
}
