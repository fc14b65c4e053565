/* Devices: who opened them, what is counted, what fails, and what is the matter with them. */
#include "device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "environment.h"
#include "memory.h"
#include "report.h"

static tenon_device_t devices[FAR_DEVICES] = {
    {.index = 0, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER},
    {.index = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER},
};

tenon_device_t* far_device(uint32_t index) {
  return index < FAR_DEVICES ? &devices[index] : NULL;
}

uint32_t far_device_count(void) {
  return far_environment()->count;
}

void far_lock(tenon_device_t* device) {
  (void)pthread_mutex_lock(&device->lock);
}

void far_unlock(tenon_device_t* device) {
  (void)pthread_mutex_unlock(&device->lock);
}

void far_wait(tenon_device_t* device) {
  (void)pthread_cond_wait(&device->changed, &device->lock);
}

void far_changed(tenon_device_t* device) {
  (void)pthread_cond_broadcast(&device->changed);
}

static tenon_status_t enter(tenon_device_t* device, far_call_t call) {
  ++device->counts.calls[call];
  if (call == FAR_CALL_WORK && device->loss > 0 && --device->loss == 0) {
    device->lost = true;
    (void)snprintf(device->words, sizeof(device->words), "far device %u was lost at work %llu",
                   device->index, (unsigned long long)device->counts.calls[call]);
  }
  far_failure_t* failure = &device->failures[call];
  const bool fails = failure->left > 0 && --failure->left == 0;
  if (device->lost) {
    return TENON_ERROR_DEVICE;
  }
  return fails ? failure->status : TENON_OK;
}

tenon_status_t far_enter(tenon_device_t* device, far_call_t call) {
  far_lock(device);
  const tenon_status_t status = enter(device, call);
  far_unlock(device);
  return status;
}

void far_count(tenon_device_t* device, far_call_t call) {
  far_lock(device);
  ++device->counts.calls[call];
  far_unlock(device);
}

bool far_is_lost(tenon_device_t* device) {
  far_lock(device);
  const bool lost = device->lost;
  far_unlock(device);
  return lost;
}

void far_say(tenon_device_t* device, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  far_lock(device);
  if (!device->lost) {
    (void)vsnprintf(device->words, sizeof(device->words), format, arguments);
  }
  far_unlock(device);
  va_end(arguments);
}

tenon_status_t far_mistake(tenon_device_t* device, const char* format, ...) {
  char words[256];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(words, sizeof(words), format, arguments);
  va_end(arguments);
  far_lock(device);
  ++device->counts.mistakes;
  const bool tolerant = device->settings[FAR_SETTING_TOLERANT] != 0;
  far_unlock(device);
  if (!tolerant) {
    (void)fprintf(stderr, "far device %u: %s\n", device->index, words);
    abort();
  }
  far_say(device, "%s", words);
  return TENON_ERROR_INVALID_ARGUMENT;
}

/* ---- Of the descriptor ---- */

static tenon_status_t open_first(tenon_device_t* device, const tenon_sink_t* sink) {
  if (!far_memory_reserve(device)) {
    if (sink != NULL && sink->report != NULL) {
      sink->report(sink->user, TENON_SEVERITY_ERROR,
                   "the address space for a far device's memory cannot be reserved");
    }
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  (void)snprintf(device->fingerprint, sizeof(device->fingerprint), "far, %zu MiB of addresses",
                 device->range >> 20);
  return TENON_OK;
}

tenon_status_t far_open(void* state, uint32_t index, const tenon_sink_t* sink,
                        tenon_device_t** out_device) {
  (void)state;
  tenon_device_t* device = far_device(index);
  if (device == NULL || index >= far_device_count()) {
    return TENON_ERROR_INVALID_ARGUMENT;
  }
  far_begin();
  far_lock(device);
  tenon_status_t status = enter(device, FAR_CALL_OPEN);
  if (status == TENON_OK) {
    status = open_first(device, sink);
  }
  if (status == TENON_OK) {
    ++device->counts.openings;
    *out_device = device;
  }
  far_unlock(device);
  return status;
}

void far_close(tenon_device_t* device) {
  far_lock(device);
  const bool open = device->counts.openings > 0;
  if (open) {
    --device->counts.openings;
  }
  const far_counts_t counts = device->counts;
  far_unlock(device);
  if (!open) {
    (void)far_mistake(device, "is closed once too often");
    return;
  }
  if (counts.openings == 0) {
    far_report(device->index);
  }
  if (counts.openings == 0 &&
      counts.live_allocations + counts.live_streams + counts.live_events + counts.live_recordings >
          0) {
    (void)far_mistake(
        device,
        "is closed with %llu allocations, %llu streams, %llu events and %llu "
        "recordings left on it",
        (unsigned long long)counts.live_allocations, (unsigned long long)counts.live_streams,
        (unsigned long long)counts.live_events, (unsigned long long)counts.live_recordings);
  }
}

const char* far_fingerprint(tenon_device_t* device) {
  return device->fingerprint;
}

tenon_status_t far_health(tenon_device_t* device, const tenon_sink_t* sink) {
  far_lock(device);
  const tenon_status_t status = enter(device, FAR_CALL_HEALTH);
  char words[sizeof(device->words)];
  (void)snprintf(words, sizeof(words), "%s", device->words);
  far_unlock(device);
  if (words[0] != 0 && sink != NULL && sink->report != NULL) {
    sink->report(sink->user, status == TENON_OK ? TENON_SEVERITY_INFO : TENON_SEVERITY_ERROR,
                 words);
  }
  return status;
}
