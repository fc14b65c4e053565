/*
 * The device `cuda`: a GPU's primary context, one pool of memory and what is shared by everybody
 * who opened it. Files: device.c (life, health), memory.c (pool, copies), stream.c (streams,
 * events), recording.c, memory_nodes.c (of recordings), fault.c (errors that kernels find in data),
 * watch.c (clocks, memory, ranges).
 *
 * What is thread safe: everything; the driver's calls are, and what changes here is behind `lock`
 * or atomic.
 *
 * A call of the driver that fails becomes a status in one place, tenon__cuda_check, which keeps
 * what failed: functions of the device have no sink, so `health` says it.
 */
#ifndef PLUGINS_CUDA_DEVICE_H_
#define PLUGINS_CUDA_DEVICE_H_

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "driver.h"
#include "tenon/cuda.h"

enum { TENON_CUDA_DEVICE_LIMIT = 64 };

typedef struct tenon__cuda_module_t tenon__cuda_module_t;         /* compiler.h */
typedef struct tenon__cuda_ahead_t tenon__cuda_ahead_t;           /* ahead.c */
typedef struct tenon__cuda_compiler_t tenon__cuda_compiler_t;     /* compiler.h */
typedef struct tenon__cuda_management_t tenon__cuda_management_t; /* management.h */

/* What `start` makes. */
typedef struct tenon__cuda_state_t {
  tenon_allocator_t allocator;
  pthread_mutex_t lock; /* of what follows */
  bool driver_is_open;
  tenon__cuda_driver_t driver;
  tenon_device_t* devices[TENON_CUDA_DEVICE_LIMIT]; /* those that are open */
  pthread_mutex_t compiler_lock;                    /* of the compiler */
  tenon__cuda_compiler_t* compiler;                 /* NULL until it is first needed */
  tenon__cuda_management_t* management;             /* likewise; behind lock */
} tenon__cuda_state_t;

/* A word in mapped memory of the host into which a kernel stores what it found in data, and whose
 * it is: see fault.c. */
typedef struct tenon__cuda_fault_t {
  uint64_t* word;         /* as the host sees it; 0: nothing */
  CUdeviceptr address;    /* as kernels do */
  tenon_stream_t* stream; /* on which the kernel was last put */
  bool taken;
} tenon__cuda_fault_t;

/* What somebody wants to be called for when the device closes. */
typedef struct tenon__cuda_closer_t {
  struct tenon__cuda_closer_t* next;
  void (*function)(void* user);
  void* user;
} tenon__cuda_closer_t;

enum { TENON_CUDA_PIECE_UNITS = 3 }; /* of 16 bytes, 4, 1 */

/* The kernels that set and copy memory in recordings, by their units: see memory_nodes.h. */
typedef struct tenon__cuda_memory_code_t {
  CUlibrary library; /* NULL until it is first needed */
  bool failed;       /* to load it: nodes stay as they are */
  CUfunction set[TENON_CUDA_PIECE_UNITS];
  CUfunction copy[TENON_CUDA_PIECE_UNITS];
} tenon__cuda_memory_code_t;

enum { TENON_CUDA_FAULTS = 512, TENON_CUDA_FAULT_TEXT = 160 };

struct tenon_device_t {
  tenon__cuda_state_t* state;
  const tenon__cuda_driver_t* driver;
  uint32_t index;
  uint32_t opened; /* how often; behind state->lock */
  CUdevice handle;
  CUcontext context;
  CUmemoryPool pool;
  CUstream own; /* orders what is asked for without a stream */
  int architecture;
  int multiprocessors;
  int shared_bytes; /* the most of a block */
  char fingerprint[256];
  tenon_cuda_native_t native;
  tenon_device_watch_t watch;
  _Atomic(int) last_result; /* CUresult of the last call that failed */
  _Atomic(const char*) last_call;
  _Atomic(int) lost;             /* the first result after which nothing works */
  pthread_mutex_t lock;          /* of what follows */
  tenon__cuda_closer_t* closers; /* the last first */
  tenon__cuda_module_t* modules;
  tenon__cuda_memory_code_t memory_code;
  tenon__cuda_ahead_t* ahead; /* NULL until something is begun */
  tenon__cuda_fault_t* faults;
  uint32_t fault_count; /* the most that were taken at once */
  char fault_text[TENON_CUDA_FAULT_TEXT];
};

struct tenon_stream_t {
  tenon_device_t* device;
  CUstream handle;
  bool adopted;
};

struct tenon_event_t {
  CUevent handle;
};

/* The status of a call of the driver, `call` its name; remembers failures for health. */
tenon_status_t tenon__cuda_check(tenon_device_t* device, CUresult result, const char* call);
#define TENON_CUDA_CALL(device, function, ...) \
  tenon__cuda_check((device), (device)->driver->function(__VA_ARGS__), #function)

/* Makes the device's context the thread's. */
tenon_status_t tenon__cuda_enter(tenon_device_t* device);
/* The driver's stream; the device's own where there is none. */
CUstream tenon__cuda_stream_of(const tenon_device_t* device, const tenon_stream_t* stream);

/* device.c. Opens the driver once; says why it cannot. */
tenon_status_t tenon__cuda_state_driver(tenon__cuda_state_t* state, const tenon_sink_t* sink);
extern const tenon_offering_t tenon__cuda_devices;

/* memory.c */
tenon_status_t tenon__cuda_memory_open(tenon_device_t* device);
void tenon__cuda_memory_close(tenon_device_t* device);
tenon_status_t tenon__cuda_allocate(tenon_device_t* device, tenon_stream_t* stream,
                                    size_t size_bytes, void** out_data);
void tenon__cuda_free(tenon_device_t* device, tenon_stream_t* stream, void* data,
                      size_t size_bytes);
tenon_status_t tenon__cuda_copy(tenon_device_t* device, tenon_stream_t* stream, int32_t direction,
                                void* target, const void* source, size_t size_bytes);
tenon_status_t tenon__cuda_fill(tenon_device_t* device, tenon_stream_t* stream, void* target,
                                int32_t byte, size_t size_bytes);

/* stream.c */
tenon_status_t tenon__cuda_create_stream(tenon_device_t* device, void* native,
                                         tenon_stream_t** out_stream);
void tenon__cuda_destroy_stream(tenon_device_t* device, tenon_stream_t* stream);
tenon_status_t tenon__cuda_synchronize(tenon_device_t* device, tenon_stream_t* stream);
tenon_status_t tenon__cuda_create_event(tenon_device_t* device, tenon_event_t** out_event);
void tenon__cuda_destroy_event(tenon_device_t* device, tenon_event_t* event);
tenon_status_t tenon__cuda_record_event(tenon_device_t* device, tenon_stream_t* stream,
                                        tenon_event_t* event);
tenon_status_t tenon__cuda_wait_event(tenon_device_t* device, tenon_stream_t* stream,
                                      tenon_event_t* event);
tenon_status_t tenon__cuda_elapsed(tenon_device_t* device, tenon_event_t* begin, tenon_event_t* end,
                                   double* out_seconds);
void* tenon__cuda_native(tenon_device_t* device, tenon_stream_t* stream, const char* name);

/* recording.c */
tenon_status_t tenon__cuda_begin_record(tenon_device_t* device, tenon_stream_t* stream);
tenon_status_t tenon__cuda_end_record(tenon_device_t* device, tenon_stream_t* stream,
                                      void** out_recording);
tenon_status_t tenon__cuda_replay(tenon_device_t* device, tenon_stream_t* stream, void* recording);
void tenon__cuda_destroy_recording(tenon_device_t* device, void* recording);

/* watch.c */
void tenon__cuda_watch_open(tenon_device_t* device);

/* fault.c */
tenon_status_t tenon__cuda_faults_open(tenon_device_t* device);
void tenon__cuda_faults_close(tenon_device_t* device);
/* NULL when all are taken: then errors in data are not told, and nothing else is different. */
tenon__cuda_fault_t* tenon__cuda_fault_take(tenon_device_t* device);
void tenon__cuda_fault_give(tenon_device_t* device, tenon__cuda_fault_t* fault);
/* After `stream` (NULL: any) was waited for: INVALID_DATA where one of its kernels found something,
 * which is then forgotten, and told by the next `health`. */
tenon_status_t tenon__cuda_faults_collect(tenon_device_t* device, const tenon_stream_t* stream);
/* What a kernel stores: which axis of which extent was read where. */
void tenon__cuda_fault_words(uint64_t word, char* out_text, size_t capacity);

#endif
