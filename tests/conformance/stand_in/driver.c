/*
 * A stand-in for CUDA's driver on machines without a GPU: one device whose memory is the host's and
 * whose work is done when it is asked for, or kept where a stream is being captured. It serves
 * tests of the plugin `cuda`: that what it generates computes what it should, and that it calls the
 * driver in order. It knows nothing of time, of caches, of two things at once; but what a graph
 * does not put in an order comes in another one each time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "streams.h"

enum { MEMORY_LIMIT = 1 << 30 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUctx_st { int unused; } context;
static size_t memory_taken;
static size_t memory_peak;

static void* pointer(CUdeviceptr address) {
  return (void*)(uintptr_t)address; /* NOLINT(performance-no-int-to-ptr) */
}

static unsigned cluster_of(const CUlaunchConfig* config) {
  unsigned cluster = 1;
  for (unsigned k = 0; k < config->numAttrs; k++) {
    if (config->attrs[k].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      cluster = config->attrs[k].value.clusterDim.x;
    }
  }
  return cluster;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters,
                          void** extra) {
  stand_in_called(__func__);
  stand_in_kernel_t* kernel = (stand_in_kernel_t*)f;
  (void)extra;
  kernel->was_launched = true;
  const unsigned cluster = cluster_of(config);
  if (config->gridDimX == 0 || config->blockDimX == 0 ||
      config->sharedMemBytes > STAND_IN_SHARED_BYTES || cluster == 0 ||
      cluster > STAND_IN_CLUSTER_BLOCKS || config->gridDimX % cluster != 0 ||
      config->blockDimX > 1024 || cluster * config->blockDimX > STAND_IN_CLUSTER_THREADS) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  /* By value: the caller's may change. */
  void* copy = aligned_alloc(64, (kernel->parameter_bytes + 63) / 64 * 64);
  memcpy(copy, parameters[0], kernel->parameter_bytes);
  const stand_in_work_t work = {.kernel = kernel,
                                .config = *config,
                                .cluster = cluster,
                                .parameters = copy,
                                .parameter_bytes = kernel->parameter_bytes};
  const CUresult result = stand_in_work(config->hStream, &work);
  free(copy);
  return result;
}
void stand_in_submit(CUstream stream, stand_in_call_t call, const void* parameters, size_t bytes) {
  const stand_in_work_t work = {
      .call = call, .parameters = (void*)parameters, .parameter_bytes = bytes};
  (void)stand_in_work(stream, &work);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr target, const void* source, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const stand_in_work_t work = {.target = pointer(target), .source = source, .size = size};
  return stand_in_work(stream, &work);
}
CUresult cuMemcpyDtoHAsync(void* target, CUdeviceptr source, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const stand_in_work_t work = {.target = target, .source = pointer(source), .size = size};
  return stand_in_work(stream, &work);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const stand_in_work_t work = {.target = pointer(target), .source = pointer(source), .size = size};
  return stand_in_work(stream, &work);
}
CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char byte, size_t size, CUstream stream) {
  stand_in_called(__func__);
  const stand_in_work_t work = {
      .target = pointer(target), .value = byte, .element = 1, .size = size};
  return stand_in_work(stream, &work);
}
/* As libraries do, and tests of what becomes of it. */
CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream stream) {
  stand_in_called(__func__);
  const stand_in_work_t work = {
      .target = pointer(target), .value = value, .element = 2, .size = count * 2};
  return stand_in_work(stream, &work);
}
CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream) {
  stand_in_called(__func__);
  const stand_in_work_t work = {.target = pointer(target),
                                .value = value,
                                .element = 4,
                                .size = width * 4,
                                .height = height,
                                .pitch = pitch};
  return stand_in_work(stream, &work);
}
CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return cuMemsetD2D32Async(target, 0, value, count, 1, stream);
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
typedef struct front_t {
  size_t size;
  struct front_t* next;
} front_t;
static front_t* blocks; /* behind the lock */

static void link_block(front_t* block) {
  block->next = blocks;
  blocks = block;
}
static void unlink_block(const front_t* block) {
  front_t** place = &blocks;
  while (*place != block) {
    place = &(*place)->next;
  }
  *place = block->next;
}
/* Does an address lie in memory of the device? */
static bool is_of_device(CUdeviceptr address) {
  bool found = false;
  (void)pthread_mutex_lock(&lock);
  for (const front_t* block = blocks; block != NULL && !found; block = block->next) {
    const CUdeviceptr begin = (CUdeviceptr)(uintptr_t)block + FRONT;
    found = address >= begin && address - begin < block->size;
  }
  (void)pthread_mutex_unlock(&lock);
  return found;
}
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  stand_in_called(__func__);
  if (attribute == CU_POINTER_ATTRIBUTE_MEMORY_TYPE) {
    *(CUmemorytype*)data = is_of_device(address) ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  } else {
    *(int*)data = 0; /* the one device's ordinal */
  }
  return CUDA_SUCCESS;
}
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
  const front_t front = {.size = size};
  memset(block + FRONT, 0xE7, size);
  (void)pthread_mutex_lock(&lock);
  memcpy(block, &front, sizeof(front));
  link_block((front_t*)(void*)block);
  memory_taken += size;
  memory_peak = memory_taken > memory_peak ? memory_taken : memory_peak;
  (void)pthread_mutex_unlock(&lock);
  *out = (CUdeviceptr)(uintptr_t)(block + FRONT);
  return CUDA_SUCCESS;
}
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  stand_in_called(__func__);
  uint8_t* block = (uint8_t*)pointer(address) - FRONT;
  (void)stream;
  (void)pthread_mutex_lock(&lock);
  memory_taken -= ((const front_t*)(void*)block)->size;
  unlink_block((const front_t*)(void*)block);
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
