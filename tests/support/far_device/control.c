/* The table that tests have, and the report. */
#include "report.h"

#include <stdio.h>

#include "environment.h"
#include "memory.h"
#include "stream.h"

/* Under the lock. */
static void forget(tenon_device_t* device) {
  const far_environment_t* environment = far_environment();
  memcpy(device->settings, environment->settings, sizeof(device->settings));
  memcpy(device->failures, environment->failures, sizeof(device->failures));
  memset(device->counts.calls, 0, sizeof(device->counts.calls));
  memset(device->counts.copied_bytes, 0, sizeof(device->counts.copied_bytes));
  device->counts.kernel_waits = 0;
  device->counts.mistakes = 0;
  device->counts.peak_bytes = device->counts.live_bytes;
  device->loss = environment->loss;
  device->lost = false;
  device->words[0] = 0;
  if (device->settings[FAR_SETTING_LAZY] == 0) {
    far_streams_permit(device);
  }
}

static void reset_all(void) {
  for (uint32_t index = 0; index < FAR_DEVICES; ++index) {
    tenon_device_t* device = far_device(index);
    far_lock(device);
    forget(device);
    far_unlock(device);
  }
}

void far_begin(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, reset_all);
}

static void reset(void) {
  far_begin();
  reset_all();
}

static void set(uint32_t index, far_setting_t setting, uint64_t value) {
  far_begin();
  tenon_device_t* device = far_device(index);
  far_lock(device);
  device->settings[setting] = value;
  if (device->settings[FAR_SETTING_LAZY] == 0) {
    far_streams_permit(device);
  }
  far_unlock(device);
}

static void fail(uint32_t index, far_call_t call, uint64_t nth, tenon_status_t status) {
  far_begin();
  tenon_device_t* device = far_device(index);
  far_lock(device);
  device->failures[call] = (far_failure_t){nth, status};
  far_unlock(device);
}

static void lose(uint32_t index, uint64_t nth) {
  far_begin();
  tenon_device_t* device = far_device(index);
  far_lock(device);
  device->loss = nth;
  if (nth == 0) {
    device->lost = true;
    (void)snprintf(device->words, sizeof(device->words), "far device %u was lost", index);
  }
  far_unlock(device);
}

static void get_counts(uint32_t index, far_counts_t* out_counts) {
  tenon_device_t* device = far_device(index);
  far_lock(device);
  *out_counts = device->counts;
  far_unlock(device);
}

static void words(uint32_t index, char* out_words, size_t size) {
  tenon_device_t* device = far_device(index);
  far_lock(device);
  (void)snprintf(out_words, size, "%s", device->words);
  far_unlock(device);
}

static int32_t owns(uint32_t index, const void* address) {
  return far_memory_owner(address) == far_device(index) ? 1 : 0;
}

static const far_control_t controls[] = {{.size = sizeof(far_control_t),
                                          .reset = reset,
                                          .set = set,
                                          .fail = fail,
                                          .lose = lose,
                                          .counts = get_counts,
                                          .words = words,
                                          .owns = owns}};
const tenon_offering_t far_control_offering = TENON_OFFERING_OF(FAR_CONTROL_KIND, controls);

/* ---- The report ---- */

static void report_device(FILE* file, uint32_t index) {
  static const char* const call_words[] = {
#define WORD(name, word) word,
      FAR_CALLS(WORD)
#undef WORD
  };
  far_counts_t counts;
  get_counts(index, &counts);
  (void)fprintf(file, "device %u", index);
  for (uint32_t call = 0; call < FAR_CALL_COUNT; ++call) {
    (void)fprintf(file, " %s %llu", call_words[call], (unsigned long long)counts.calls[call]);
  }
  (void)fprintf(file, " to_device_bytes %llu to_host_bytes %llu within_bytes %llu",
                (unsigned long long)counts.copied_bytes[TENON_COPY_TO_DEVICE],
                (unsigned long long)counts.copied_bytes[TENON_COPY_TO_HOST],
                (unsigned long long)counts.copied_bytes[TENON_COPY_WITHIN]);
  (void)fprintf(file, " kernel_waits %llu mistakes %llu peak_bytes %llu",
                (unsigned long long)counts.kernel_waits, (unsigned long long)counts.mistakes,
                (unsigned long long)counts.peak_bytes);
  (void)fprintf(file,
                " live_allocations %llu live_streams %llu live_events %llu live_recordings %llu "
                "openings %llu\n",
                (unsigned long long)counts.live_allocations,
                (unsigned long long)counts.live_streams, (unsigned long long)counts.live_events,
                (unsigned long long)counts.live_recordings, (unsigned long long)counts.openings);
}

void far_report(void) {
  const char* path = far_environment()->report;
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  for (uint32_t index = 0; file != NULL && index < FAR_DEVICES; ++index) {
    report_device(file, index);
  }
  if (file != NULL) {
    (void)fclose(file);
  }
}