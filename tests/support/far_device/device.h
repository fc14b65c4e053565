/*
 * One device: its memory, its streams, what is counted and what is to fail. All of it is guarded by
 * one lock, and whoever waits for anything of it waits for `changed`. Devices are the process's, as
 * a driver's are: any number of hosts may open them.
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_DEVICE_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_DEVICE_H_

#include <pthread.h>
#include <stdbool.h>

#include "control.h"

typedef struct far_block_t far_block_t;
typedef struct far_queue_t far_queue_t;

/* The `left`th call from now gives `status`; 0: none. */
typedef struct far_failure_t {
  uint64_t left;
  tenon_status_t status;
} far_failure_t;

struct tenon_device_t {
  uint32_t index;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  /* Where addresses that are handed out lie, never to be touched, and where the same bytes can be.
   */
  char* outside;
  char* inside;
  size_t range;
  far_block_t* blocks;
  far_queue_t* queues;
  uint64_t recording_serial; /* of the latest recording */
  uint64_t settings[FAR_SETTING_COUNT];
  uint64_t clock; /* nanoseconds, where a setting says what work takes */
  far_failure_t failures[FAR_CALL_COUNT];
  uint64_t loss; /* pieces of work until then; 0: never */
  bool lost;
  far_counts_t counts;
  char words[256];
  char fingerprint[64];
  char ranges[8192];
};

/* NULL past the last. */
tenon_device_t* far_device(uint32_t index);
/* How many the environment lets be there. */
uint32_t far_device_count(void);

void far_lock(tenon_device_t* device);
void far_unlock(tenon_device_t* device);
/* Until something changed. Under the lock. */
void far_wait(tenon_device_t* device);
/* Wakes all who wait. Under the lock. */
void far_changed(tenon_device_t* device);

/* Counts a call, and says whether it is to fail: because the device is lost, or a test wants it. */
tenon_status_t far_enter(tenon_device_t* device, far_call_t call);
/* Counts a call that cannot fail. */
void far_count(tenon_device_t* device, far_call_t call);
bool far_is_lost(tenon_device_t* device);
/* Keeps words for health and for tests. */
__attribute__((format(printf, 2, 3))) void far_say(tenon_device_t* device, const char* format, ...);
/* The host did what no device forgives: tells it on standard error and ends the process; of a
 * tolerant device counts it, and returns INVALID_ARGUMENT. Not under the lock. */
__attribute__((format(printf, 2, 3))) tenon_status_t far_mistake(tenon_device_t* device,
                                                                 const char* format, ...);

/* Of the descriptor. */
tenon_status_t far_open(void* state, uint32_t index, const tenon_sink_t* sink,
                        tenon_device_t** out_device);
void far_close(tenon_device_t* device);
const char* far_fingerprint(tenon_device_t* device);
tenon_status_t far_health(tenon_device_t* device, const tenon_sink_t* sink);

#endif
