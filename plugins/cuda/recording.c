/* Recordings: graphs that were captured and instantiated. */
#include "memory_nodes.h"

/* Of this thread alone: what other threads do meanwhile with the device is none of its business. */
tenon_status_t tenon__cuda_begin_record(tenon_device_t* device, tenon_stream_t* stream) {
  const tenon_status_t status = tenon__cuda_enter(device);
  return status != TENON_OK ? status
                            : TENON_CUDA_CALL(device, cuStreamBeginCapture, stream->handle,
                                              CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
}

tenon_status_t tenon__cuda_end_record(tenon_device_t* device, tenon_stream_t* stream,
                                      void** out_recording) {
  CUgraph graph = NULL;
  CUgraphExec recording = NULL;
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuStreamEndCapture, stream->handle, &graph);
  }
  if (status == TENON_OK) {
    status = tenon__cuda_memory_nodes(device, graph);
  }
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuGraphInstantiate, &recording, graph, 0);
  }
  if (status == TENON_OK) { /* what the first launch would do */
    status = TENON_CUDA_CALL(device, cuGraphUpload, recording, stream->handle);
  }
  if (graph != NULL) {
    (void)device->driver->cuGraphDestroy(graph);
  }
  if (status == TENON_OK) {
    *out_recording = recording;
  } else if (recording != NULL) {
    (void)device->driver->cuGraphExecDestroy(recording);
  }
  return status;
}

tenon_status_t tenon__cuda_replay(tenon_device_t* device, tenon_stream_t* stream, void* recording) {
  const tenon_status_t status = tenon__cuda_enter(device);
  return status != TENON_OK ? status
                            : TENON_CUDA_CALL(device, cuGraphLaunch, (CUgraphExec)recording,
                                              tenon__cuda_stream_of(device, stream));
}

void tenon__cuda_destroy_recording(tenon_device_t* device, void* recording) {
  if (recording != NULL && tenon__cuda_enter(device) == TENON_OK) {
    (void)TENON_CUDA_CALL(device, cuGraphExecDestroy, (CUgraphExec)recording);
  }
}
