/*
 * What tests say to the device `far`, and ask it. The plugin has this table on offer under a kind
 * that no host knows, so a test that has loaded the plugin's file (far_control_open) speaks with
 * the same image as the host that it tests. Settings and counts are the process's, each device's
 * own.
 *
 *   const far_control_t* far = far_control_open(FAR_DEVICE_FOLDER "/far_device.so");
 *   far->reset();
 *   far->set(0, FAR_SETTING_LAZY, 1);
 *   far->fail(0, FAR_CALL_COPY, 3, TENON_ERROR_OUT_OF_MEMORY);
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_CONTROL_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_CONTROL_H_

#include <dlfcn.h>
#include <string.h>

#include "tenon/plugin.h"

#define FAR_CONTROL_KIND "far.control/1"
enum { FAR_DEVICES = 2 };

/* NAME, its word in the environment and in reports. What is counted, and can be made to fail; free
 * and what destroys cannot. KERNEL is a call of enqueue, which fails at once; WORK is a piece of
 * work when a stream gets to it, which fails later: of a replay each piece that was recorded. */
#define FAR_CALLS(X)                        \
  X(OPEN, "open")                           \
  X(ALLOCATE, "allocate")                   \
  X(FREE, "free")                           \
  X(COPY, "copy")                           \
  X(FILL, "fill")                           \
  X(CREATE_STREAM, "create_stream")         \
  X(DESTROY_STREAM, "destroy_stream")       \
  X(SYNCHRONIZE, "synchronize")             \
  X(CREATE_EVENT, "create_event")           \
  X(DESTROY_EVENT, "destroy_event")         \
  X(RECORD_EVENT, "record_event")           \
  X(WAIT_EVENT, "wait_event")               \
  X(ELAPSED, "elapsed")                     \
  X(BEGIN_RECORD, "begin_record")           \
  X(END_RECORD, "end_record")               \
  X(REPLAY, "replay")                       \
  X(DESTROY_RECORDING, "destroy_recording") \
  X(HEALTH, "health")                       \
  X(READ, "read")                           \
  X(KERNEL, "kernel")                       \
  X(WORK, "work")

#define FAR_CALL_ENTRY(name, word) FAR_CALL_##name,
typedef enum far_call_t { FAR_CALLS(FAR_CALL_ENTRY) FAR_CALL_COUNT } far_call_t;

typedef enum far_setting_t {
  /* Microseconds that a stream waits before each piece of work; 0: it lets others go first. */
  FAR_SETTING_DELAY,
  /* 1: streams do nothing before somebody waits, for a stream or an event: then all that was
   * enqueued by then, on all streams. What is late may so be later than anything, without a clock.
   */
  FAR_SETTING_LAZY,
  /* The most bytes that may be allocated at once. */
  FAR_SETTING_MEMORY,
  /* 1: a mistake of the host's is counted, and the call fails with INVALID_ARGUMENT; 0: it ends the
   * process, with its words. */
  FAR_SETTING_TOLERANT,
  /* What a kernel that leaves extents in the device's memory adds to the last of them: more than it
   * found. */
  FAR_SETTING_STRETCH,
  /* 1: whoever opens the device is told that tools want ranges. */
  FAR_SETTING_WATCHED,
  /* Nanoseconds that each copy and kernel takes by the device's clock, which then stands but for
   * those; 0: the clock is the machine's. */
  FAR_SETTING_WORK_TIME,
  /* The same for what is replayed of a recording of several streams. */
  FAR_SETTING_JOINED_TIME,
  FAR_SETTING_COUNT
} far_setting_t;

/* What happened on a device since the last reset, and what lives on it now. */
typedef struct far_counts_t {
  /* By far_call_t; those that failed too. */
  uint64_t calls[FAR_CALL_COUNT];
  /* By TENON_COPY_*, when the bytes were copied. */
  uint64_t copied_bytes[4];
  /* Kernels that waited for their stream. */
  uint64_t kernel_waits;
  /* Kernels by what they were told stands before them: of TENON_EDGE_*, 0 for nothing. */
  uint64_t edges[4];
  uint64_t mistakes;
  uint64_t peak_bytes;
  uint64_t live_allocations;
  uint64_t live_bytes;
  uint64_t live_streams;
  uint64_t live_events;
  uint64_t live_recordings;
  uint64_t openings;
} far_counts_t;

/* [any], each of them. `device` is 0 or 1. */
typedef struct far_control_t {
  size_t size;
  /* All devices as the process began: settings and failures as the environment has them, counts
   * zero but for what lives, lost ones whole again. */
  void (*reset)(void);
  void (*set)(uint32_t device, far_setting_t setting, uint64_t value);
  /* The nth such call from now fails with `status`, 1 is the next; 0: none does any more. */
  void (*fail)(uint32_t device, far_call_t call, uint64_t nth, tenon_status_t status);
  /* The device is lost at its nth piece of work from now; 0: now. */
  void (*lose)(uint32_t device, uint64_t nth);
  void (*counts)(uint32_t device, far_counts_t* out_counts);
  /* What went wrong last; "": nothing since the reset. */
  void (*words)(uint32_t device, char* out_words, size_t size);
  /* 1 when the address is of the device's memory, allocated or not. */
  int32_t (*owns)(uint32_t device, const void* address);
  /* The ranges since the reset, as "a(b())c()". */
  void (*ranges)(uint32_t device, char* out_text, size_t size);
} far_control_t;

/* The plugin's descriptor; NULL when the file cannot be loaded. The image stays. */
static inline const tenon_plugin_t* far_plugin_open(const char* path) {
  static const tenon_host_offer_t offer = {.abi_major = TENON_ABI_MAJOR,
                                           .abi_max_minor = TENON_ABI_MINOR};
  void* image = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* symbol = image == NULL ? NULL : dlsym(image, TENON_PLUGIN_QUERY_SYMBOL);
  tenon_plugin_query_t query = NULL;
  memcpy((void*)&query, (void*)&symbol, sizeof(query));
  return query == NULL ? NULL : query(&offer);
}

/* What is on offer under `kind`; NULL when nothing is. */
static inline const tenon_offering_t* far_plugin_offering(const tenon_plugin_t* plugin,
                                                          const char* kind) {
  const tenon_offering_t* const* offerings = plugin == NULL ? NULL : plugin->offerings.items;
  for (uint32_t k = 0; plugin != NULL && k < plugin->offerings.count; ++k) {
    if (strcmp(offerings[k]->kind, kind) == 0) {
      return offerings[k];
    }
  }
  return NULL;
}

static inline const far_control_t* far_control_open(const char* path) {
  const tenon_offering_t* offering = far_plugin_offering(far_plugin_open(path), FAR_CONTROL_KIND);
  return offering == NULL ? NULL : offering->items.items;
}

#endif
