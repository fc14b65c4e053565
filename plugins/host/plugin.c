/*
 * The host as a device: its memory is the host's, its stream runs inline. Kernels of any plugin
 * whose device is "cpu" run on it. TENON_CPU names the widest instruction set that may be used, so
 * that each can be tested.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/plugin.h"

TENON_PLUGIN_MANIFEST("host", "0.2.0",
                      "vendor: Tenon\n"
                      "licence: Apache-2.0\n"
                      "offers: device cpu\n"
                      "host-service: allocator/1\n");

/* Each instruction set includes those before it. */
enum { ISA_BASELINE, ISA_AVX2, ISA_AVX512, ISA_AVX512VNNI, ISA_AMX, ISA_COUNT };
static const char* const isa_names[ISA_COUNT] = {"baseline", "avx2", "avx512", "avx512vnni", "amx"};

struct tenon_device_t {
  tenon_allocator_t allocator;
  int isa; /* the widest that may be used */
  char fingerprint[160];
};

typedef struct host_state_t {
  tenon_allocator_t allocator;
} host_state_t;

#if defined(__x86_64__)
/* Returns 1 if the processor has tile registers with 8-bit products (CPUID 7.0, EDX) and the system
 * lets this process use them. plugins/cpu/isa.c has the same test, because plugins share no
 * sources. */
static int has_amx(void) {
#if defined(__linux__)
  enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25 };
  enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
  unsigned a = 7;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if ((d & AMX_TILE) == 0 || (d & AMX_INT8) == 0) {
    return 0;
  }
  long result = ARCH_PRCTL;
  __asm__ volatile("syscall"
                   : "+a"(result)
                   : "D"((long)REQUEST_PERMISSION), "S"((long)TILE_DATA)
                   : "rcx", "r11", "memory");
  return result == 0;
#else
  return 0;
#endif
}
#endif

static int widest_isa(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return !__builtin_cpu_supports("avx512vnni") ? ISA_AVX512
           : has_amx()                           ? ISA_AMX
                                                 : ISA_AVX512VNNI;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return ISA_AVX2;
  }
#endif
  return ISA_BASELINE;
}

/* Returns the instruction set that TENON_CPU names, or `widest` if the processor lacks it. */
static int allowed_isa(int widest, const tenon_sink_t* sink) {
  const char* wanted = getenv("TENON_CPU");
  if (wanted == NULL || wanted[0] == 0) {
    return widest;
  }
  for (int k = 0; k < ISA_COUNT; ++k) {
    if (strcmp(wanted, isa_names[k]) == 0) {
      return k < widest ? k : widest;
    }
  }
  if (sink != NULL && sink->report != NULL) {
    char message[128];
    (void)snprintf(message, sizeof message,
                   "TENON_CPU '%.32s' is ignored: use baseline, avx2, avx512, avx512vnni or amx",
                   wanted);
    sink->report(sink->user, TENON_SEVERITY_WARNING, message);
  }
  return widest;
}

/* Reads the processor's name by CPUID. */
static void processor_name(char out_name[49]) {
  memset(out_name, 0, 49);
#if defined(__x86_64__)
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    unsigned a = 0x80000002u + leaf;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "=c"(c), "=d"(d));
    const unsigned words[4] = {a, b, c, d};
    memcpy(out_name + (size_t)leaf * 16, words, 16);
  }
#else
  memcpy(out_name, "processor", 10);
#endif
}

static uint32_t count(void* state, const tenon_sink_t* sink) {
  (void)state;
  (void)sink;
  return 1;
}

static tenon_status_t open_device(void* state, uint32_t index, const tenon_sink_t* sink,
                                  tenon_device_t** out_device) {
  const host_state_t* host = state;
  char name[49];
  if (index != 0) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  tenon_device_t* device =
      host->allocator.resize(host->allocator.user, NULL, 0, sizeof(tenon_device_t));
  if (device == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  device->allocator = host->allocator;
  device->isa = allowed_isa(widest_isa(), sink);
  processor_name(name);
  (void)snprintf(device->fingerprint, sizeof device->fingerprint, "%s, %s", name,
                 isa_names[device->isa]);
  *out_device = device;
  return TENON_OK;
}

static void close_device(tenon_device_t* device) {
  (void)device->allocator.resize(device->allocator.user, device, sizeof *device, 0);
}

static const char* fingerprint(tenon_device_t* device) {
  return device->fingerprint;
}

static int32_t has(tenon_device_t* device, const char* name) {
  for (int k = 0; k <= device->isa; ++k) {
    if (strcmp(name, isa_names[k]) == 0) {
      return 1;
    }
  }
  return 0;
}

static tenon_status_t allocate(tenon_device_t* device, tenon_stream_t* stream, size_t size_bytes,
                               void** out_data) {
  (void)stream;
  void* data =
      device->allocator.resize(device->allocator.user, NULL, 0, size_bytes == 0 ? 1 : size_bytes);
  if (data == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  *out_data = data;
  return TENON_OK;
}

static void free_memory(tenon_device_t* device, tenon_stream_t* stream, void* data,
                        size_t size_bytes) {
  (void)stream;
  (void)device->allocator.resize(device->allocator.user, data, size_bytes == 0 ? 1 : size_bytes, 0);
}

static tenon_status_t health(tenon_device_t* device, const tenon_sink_t* sink) {
  (void)device;
  (void)sink;
  return TENON_OK;
}

static const tenon_device_descriptor_t devices[] = {{
    .size = sizeof(tenon_device_descriptor_t),
    .name = "cpu",
    .summary = "the host's processors and memory",
    .flags = TENON_DEVICE_HOST_MEMORY | TENON_DEVICE_INLINE_STREAM,
    .count = count,
    .open = open_device,
    .close = close_device,
    .fingerprint = fingerprint,
    .has = has,
    .allocate = allocate,
    .free = free_memory,
    .health = health,
}};

static const tenon_offering_t* const offerings[] = {TENON_OFFERING("device/1", devices)};

static tenon_status_t start(const tenon_host_offer_t* host, void** out_state) {
  const tenon_allocator_t* allocator = host->table(host->host, "allocator/1");
  if (allocator == NULL) {
    return TENON_ERROR_DENIED;
  }
  host_state_t* state = allocator->resize(allocator->user, NULL, 0, sizeof *state);
  if (state == NULL) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  state->allocator = *allocator;
  *out_state = state;
  return TENON_OK;
}

static void stop(void* state) {
  host_state_t* host = state;
  (void)host->allocator.resize(host->allocator.user, host, sizeof *host, 0);
}

static const tenon_plugin_t plugin = {
    TENON_PLUGIN_HEADER, .name = "host", .version = "0.2.0", .offerings = TENON_LIST(offerings),
    .start = start,      .stop = stop,
};

const tenon_plugin_t* tenon_plugin_query(const tenon_host_offer_t* host) {
  return host->abi_major == TENON_ABI_MAJOR ? &plugin : NULL;
}
