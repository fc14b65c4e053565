/*
 * A stand-in for CUDA's driver on machines without a GPU: one device whose memory is the host's and
 * whose work is done when it is asked for, or kept where a stream is being captured. It serves
 * tests of the plugin `cuda`: that what it generates computes what it should, and that it calls the
 * driver in order. It knows nothing of time, of caches, of two things at once.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

enum { MEMORY_LIMIT = 1 << 30 };

typedef struct work_t {
  struct work_t* next;
  const stand_in_kernel_t* kernel; /* NULL: a library's call, a copy or a fill */
  CUlaunchConfig config;
  stand_in_call_t call; /* a library's */
  void* parameters;     /* of either */
  size_t parameter_bytes;
  void* target;
  const void* source; /* NULL: a fill */
  unsigned char byte;
  size_t size;
} work_t;

/* Work in order: a graph, and what it was instantiated into. */
typedef struct list_t {
  work_t* first;
  work_t** end;
} list_t;

struct CUstream_st {
  list_t* captured; /* NULL: is not being captured */
};
struct CUevent_st {
  bool recorded;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st { int unused; } context;
static size_t memory_taken;
static size_t memory_peak;

/* ---- Work ---- */

static void do_work(const work_t* work) {
  if (work->kernel != NULL) {
    stand_in_run(work->kernel, &work->config, work->parameters);
  } else if (work->call != NULL) {
    work->call(work->parameters);
  } else if (work->source != NULL) {
    memmove(work->target, work->source, work->size);
  } else if (work->target != NULL) {
    memset(work->target, work->byte, work->size);
  }
}

static CUresult submit(CUstream stream, const work_t* work) {
  (void)pthread_mutex_lock(&lock);
  if (stream == NULL || stream->captured == NULL) {
    do_work(work);
  } else {
    work_t* kept = malloc(sizeof(*kept));
    *kept = *work;
    kept->next = NULL;
    if (work->parameters != NULL) {
      kept->parameters = aligned_alloc(64, (work->parameter_bytes + 63) / 64 * 64);
      memcpy(kept->parameters, work->parameters, work->parameter_bytes);
    }
    *stream->captured->end = kept;
    stream->captured->end = &kept->next;
  }
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

static void* pointer(CUdeviceptr address) {
  return (void*)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra) {
  stand_in_called(__func__);
  const stand_in_kernel_t* kernel = (const stand_in_kernel_t*)f;
  (void)extra;
  if (config->gridDimX == 0 || config->blockDimX == 0 || config->blockDimX > 1024 ||
      config->sharedMemBytes > STAND_IN_SHARED_BYTES) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  /* By value: the caller's may change. */
  void* copy = aligned_alloc(64, (kernel->parameter_bytes + 63) / 64 * 64);
  memcpy(copy, parameters[0], kernel->parameter_bytes);
  const work_t work = {.kernel = kernel,
                       .config = *config,
                       .parameters = copy,
                       .parameter_bytes = kernel->parameter_bytes};
  const CUresult result = submit(config->hStream, &work);
  free(copy);
  return result;
}
void stand_in_submit(CUstream stream, stand_in_call_t call, const void* parameters, size_t bytes) {
  const work_t work = {.call = call, .parameters = (void*)parameters, .parameter_bytes = bytes};
  (void)submit(stream, &work);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void* source, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const work_t work = {.target = pointer(target), .source = source, .size = size};
  return submit(stream, &work);
}
CUresult cuMemcpyDtoHAsync(void* target, CUdeviceptr source, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const work_t work = {.target = target, .source = pointer(source), .size = size};
  return submit(stream, &work);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const work_t work = {.target = pointer(target), .source = pointer(source), .size = size};
  return submit(stream, &work);
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char byte, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const work_t work = {.target = pointer(target), .byte = byte, .size = size};
  return submit(stream, &work);
}

/* ---- The device ---- */

CUresult cuInit(unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  return CUDA_SUCCESS;
}
CUresult cuDriverGetVersion(int* version) {
  stand_in_called(__func__);
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuGetErrorName(CUresult error, const char** name) {
  stand_in_called(__func__);
  *name = error == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_SOME";
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  stand_in_called(__func__);
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  stand_in_called(__func__);
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  stand_in_called(__func__);
  (void)device;
  (void)snprintf(name, (size_t)size, "a stand-in on the host");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* bus_id, int size, CUdevice device) {
  stand_in_called(__func__);
  (void)device;
  (void)snprintf(bus_id, (size_t)size, STAND_IN_BUS_ID);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  stand_in_called(__func__);
  (void)device;
  *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR            ? 9
           : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT              ? 4
           : attribute == CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE                     ? 65536
           : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN ? 232448
                                                                                : 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute name, int value) {
  stand_in_called(__func__);
  (void)function, (void)name;
  return value >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  stand_in_called(__func__);
  (void)device;
  *out = &context;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  stand_in_called(__func__);
  (void)device;
  return memory_taken == 0 ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
CUresult cuCtxSetCurrent(CUcontext current) {
  stand_in_called(__func__);
  (void)current;
  return CUDA_SUCCESS;
}
CUresult cuCtxSynchronize(void) {
  stand_in_called(__func__);
  return CUDA_SUCCESS;
}

/* ---- Memory: with its size in front, so that what is taken can be counted ---- */

enum { FRONT = 256 };
CUresult cuMemGetInfo(size_t* free_bytes, size_t* total) {
  stand_in_called(__func__);
  *free_bytes = MEMORY_LIMIT - memory_taken;
  *total = MEMORY_LIMIT;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  stand_in_called(__func__);
  (void)properties;
  *pool = malloc(1);
  return CUDA_SUCCESS;
}
CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  stand_in_called(__func__);
  free(pool);
  return CUDA_SUCCESS;
}
CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  stand_in_called(__func__);
  (void)pool, (void)attribute, (void)value;
  return CUDA_SUCCESS;
}
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* value) {
  stand_in_called(__func__);
  (void)pool;
  if (attribute != CU_MEMPOOL_ATTR_USED_MEM_CURRENT && attribute != CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  (void)pthread_mutex_lock(&lock);
  *(cuuint64_t*)value = attribute == CU_MEMPOOL_ATTR_USED_MEM_CURRENT ? memory_taken : memory_peak;
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}
CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t size, CUmemoryPool pool,
                                 CUstream stream) {
  stand_in_called(__func__);
  (void)pool, (void)stream;
  if (size > MEMORY_LIMIT) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  uint8_t* block = NULL; /* of that very size: the sanitizer knows where it ends */
  if (posix_memalign((void**)&block, 256, size + FRONT) != 0) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  memcpy(block, &size, sizeof(size));
  memset(block + FRONT, 0xE7, size);
  (void)pthread_mutex_lock(&lock);
  memory_taken += size;
  memory_peak = memory_taken > memory_peak ? memory_taken : memory_peak;
  (void)pthread_mutex_unlock(&lock);
  *out = (CUdeviceptr)(uintptr_t)(block + FRONT);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  stand_in_called(__func__);
  size_t size = 0;
  uint8_t* block = (uint8_t*)pointer(address) - FRONT;
  (void)stream;
  memcpy(&size, block, sizeof(size));
  (void)pthread_mutex_lock(&lock);
  memory_taken -= size;
  (void)pthread_mutex_unlock(&lock);
  free(block);
  return CUDA_SUCCESS;
}
/* The application's own. */
CUresult cuMemAlloc(CUdeviceptr* out, size_t size) {
  stand_in_called(__func__);
  return cuMemAllocFromPoolAsync(out, size, NULL, NULL);
}
CUresult cuMemFree(CUdeviceptr address) {
  stand_in_called(__func__);
  return address == 0 ? CUDA_SUCCESS : cuMemFreeAsync(address, NULL);
}
CUresult cuMemHostAlloc(void** out, size_t size, unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  *out = calloc(1, size);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeHost(void* data) {
  stand_in_called(__func__);
  free(data);
  return CUDA_SUCCESS;
}

/* ---- Streams, events, graphs ---- */

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  *stream = calloc(1, sizeof(**stream));
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  stand_in_called(__func__);
  free(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  stand_in_called(__func__);
  return stream->captured == NULL ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  stand_in_called(__func__);
  *status =
      stream->captured == NULL ? CU_STREAM_CAPTURE_STATUS_NONE : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  stand_in_called(__func__);
  (void)stream, (void)event, (void)flags;
  return CUDA_SUCCESS;
}
CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  *event = calloc(1, sizeof(**event));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  stand_in_called(__func__);
  free(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  stand_in_called(__func__);
  (void)stream;
  event->recorded = true;
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  stand_in_called(__func__);
  (void)event;
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  stand_in_called(__func__);
  *milliseconds = 1.0F;
  return begin->recorded && end->recorded ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  stand_in_called(__func__);
  (void)mode;
  if (stream->captured != NULL) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  stream->captured = calloc(1, sizeof(list_t));
  stream->captured->end = &stream->captured->first;
  return CUDA_SUCCESS;
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  stand_in_called(__func__);
  *graph = (CUgraph)stream->captured;
  stream->captured = NULL;
  return *graph == NULL ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}
/* The executable takes the graph's work, and the graph is empty from then on. */
CUresult cuGraphInstantiate(CUgraphExec* recording, CUgraph graph, unsigned long long flags) {
  stand_in_called(__func__);
  list_t* made = calloc(1, sizeof(*made));
  (void)flags;
  made->first = ((list_t*)graph)->first;
  ((list_t*)graph)->first = NULL;
  *recording = (CUgraphExec)made;
  return CUDA_SUCCESS;
}
static void free_list(list_t* list) {
  while (list->first != NULL) {
    work_t* work = list->first;
    list->first = work->next;
    free(work->parameters);
    free(work);
  }
  free(list);
}
CUresult cuGraphUpload(CUgraphExec recording, CUstream stream) {
  stand_in_called(__func__);
  (void)recording, (void)stream;
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec recording, CUstream stream) {
  stand_in_called(__func__);
  (void)stream;
  (void)pthread_mutex_lock(&lock);
  for (const work_t* work = ((const list_t*)recording)->first; work != NULL; work = work->next) {
    do_work(work);
  }
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  stand_in_called(__func__);
  free_list((list_t*)graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec recording) {
  stand_in_called(__func__);
  free_list((list_t*)recording);
  return CUDA_SUCCESS;
}
