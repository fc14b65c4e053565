/*
 * The service "device.watch/1": clocks and memory for who measures, and ranges of NVTX for NVIDIA's
 * tools, which show under a step's name what was asked for in it. NVTX is headers alone: what it
 * calls is the tool that has been put into the process (Nsight Systems, Nsight Compute), and where
 * there is none it makes no domain, and the host never calls.
 */
#include "device.h"
#include "management.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif

/* ---- Readings ---- */

static uint64_t pool_bytes(tenon_device_t* device, CUmemPool_attribute attribute) {
  cuuint64_t bytes = 0;
  return device->driver->cuMemPoolGetAttribute(device->pool, attribute, &bytes) == CUDA_SUCCESS
             ? bytes
             : 0;
}

static tenon_status_t read_device(tenon_device_t* device, tenon_device_reading_t* out_reading) {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  tenon_status_t status = tenon__cuda_enter(device);
  if (status == TENON_OK) {
    status = TENON_CUDA_CALL(device, cuMemGetInfo, &free_bytes, &total_bytes);
  }
  if (status != TENON_OK) {
    return status;
  }
  tenon__cuda_clocks(device, &out_reading->clock_hertz, &out_reading->memory_clock_hertz);
  out_reading->used_bytes = pool_bytes(device, CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
  out_reading->peak_bytes = pool_bytes(device, CU_MEMPOOL_ATTR_USED_MEM_HIGH);
  out_reading->free_bytes = free_bytes;
  out_reading->total_bytes = total_bytes;
  return TENON_OK;
}

/* ---- Ranges ---- */

#ifdef HAS_NVTX
/* The process's: ranges are its threads', whatever their device. NULL: no tool is there. */
static nvtxDomainHandle_t domain;

static void make_domain(void) {
  domain = nvtxDomainCreateA("Tenon");
}

static bool is_watched(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, make_domain);
  return domain != NULL;
}

static void begin_range(tenon_device_t* device, const char* name) {
  const nvtxEventAttributes_t attributes = {.version = NVTX_VERSION,
                                            .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                            .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                            .message = {.ascii = name}};
  (void)device;
  (void)nvtxDomainRangePushEx(domain, &attributes);
}

static void end_range(tenon_device_t* device) {
  (void)device;
  (void)nvtxDomainRangePop(domain);
}
#endif

void tenon__cuda_watch_open(tenon_device_t* device) {
  device->watch = (tenon_device_watch_t){.size = sizeof(tenon_device_watch_t), .read = read_device};
#ifdef HAS_NVTX
  if (is_watched()) {
    device->watch.begin_range = begin_range;
    device->watch.end_range = end_range;
  }
#endif
}
