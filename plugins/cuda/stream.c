/* Streams and events. */
#include "device.h"

#include <string.h>

static void* allocate_object(const tenon_device_t* device, size_t size_bytes) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  return allocator->resize(allocator->user, NULL, 0, size_bytes);
}
static void free_object(const tenon_device_t* device, void* object, size_t size_bytes) {
  const tenon_allocator_t* allocator = &device->state->allocator;
  (void)allocator->resize(allocator->user, object, size_bytes, 0);
}

/* ---- Streams ---- */

/* `native` is a CUstream of the device's primary context; the default streams have handles too
 * (CU_STREAM_LEGACY, CU_STREAM_PER_THREAD), for NULL asks for a new one. */
tenon_status_t tenon__cuda_create_stream(tenon_device_t* device, void* native,
                                         tenon_stream_t** out_stream) {
  tenon_stream_t* stream = allocate_object(device, sizeof(*stream));
  if (stream == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *stream = (tenon_stream_t){.device = device, .handle = native, .adopted = native != NULL};
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK && native == NULL) {
    status = TENON_CUDA_CALL(device, cuStreamCreate, &stream->handle, CU_STREAM_NON_BLOCKING);
  }
  if (status != TENON_OK) {
    free_object(device, stream, sizeof(*stream));
    return status;
  }
  *out_stream = stream;
  return TENON_OK;
}

void tenon__cuda_destroy_stream(tenon_device_t* device, tenon_stream_t* stream) {
  if (!stream->adopted && tenon__cuda_enter(device) == TENON_OK) {
    (void)TENON_CUDA_CALL(device, cuStreamDestroy, stream->handle);
  }
  free_object(device, stream, sizeof(*stream));
}

tenon_status_t tenon__cuda_synchronize(tenon_device_t* device, tenon_stream_t* stream) {
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = stream != NULL ? TENON_CUDA_CALL(device, cuStreamSynchronize, stream->handle)
                            : tenon__cuda_check(device, device->driver->cuCtxSynchronize(),
                                                "cuCtxSynchronize");
  }
  return status == TENON_OK ? tenon__cuda_faults_collect(device, stream) : status;
}

void* tenon__cuda_native(tenon_device_t* device, tenon_stream_t* stream, const char* name) {
  (void)device;
  return stream != NULL && strcmp(name, TENON_CUDA_STREAM) == 0 ? stream->handle : NULL;
}

/* ---- Events ---- */

tenon_status_t tenon__cuda_create_event(tenon_device_t* device, tenon_event_t** out_event) {
  tenon_event_t* event = allocate_object(device, sizeof(*event));
  if (event == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuEventCreate, &event->handle, CU_EVENT_DEFAULT);
  }
  if (status != TENON_OK) {
    free_object(device, event, sizeof(*event));
    return status;
  }
  *out_event = event;
  return TENON_OK;
}

void tenon__cuda_destroy_event(tenon_device_t* device, tenon_event_t* event) {
  if (tenon__cuda_enter(device) == TENON_OK) {
    (void)TENON_CUDA_CALL(device, cuEventDestroy, event->handle);
  }
  free_object(device, event, sizeof(*event));
}

tenon_status_t tenon__cuda_record_event(tenon_device_t* device, tenon_stream_t* stream,
                                        tenon_event_t* event) {
  const tenon_status_t status = tenon__cuda_enter(device);
  return status != TENON_OK ? status
                            : TENON_CUDA_CALL(device, cuEventRecord, event->handle,
                                              tenon__cuda_stream_of(device, stream));
}

/* Without a stream it is the calling thread that waits. */
tenon_status_t tenon__cuda_wait_event(tenon_device_t* device, tenon_stream_t* stream,
                                      tenon_event_t* event) {
  const tenon_status_t status = tenon__cuda_enter(device);
  if (status != TENON_OK) {
    return status;
  }
  return stream == NULL ? TENON_CUDA_CALL(device, cuEventSynchronize, event->handle)
                        : TENON_CUDA_CALL(device, cuStreamWaitEvent, stream->handle, event->handle,
                                          CU_EVENT_WAIT_DEFAULT);
}

/* Waits for `end`. INVALID_ARGUMENT where one of them was never recorded. */
tenon_status_t tenon__cuda_elapsed(tenon_device_t* device, tenon_event_t* begin, tenon_event_t* end,
                                   double* out_seconds) {
  float milliseconds = 0.0F;
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuEventSynchronize, end->handle);
  }
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuEventElapsedTime, &milliseconds, begin->handle, end->handle);
  }
  if (status == TENON_OK) {
    *out_seconds = (double)milliseconds * 1e-3;
  }
  return status;
}
