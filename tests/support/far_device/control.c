/* The table that tests have, and the report. */
#include "report.h"

#include <stdio.h>
#include <unistd.h>

#include "environment.h"
#include "memory.h"
#include "stream.h"
#include "watch.h"

/* Under the lock. */
static void forget(tenon_device_t* device) {
  const far_environment_t* environment = far_environment();
  memcpy(device->settings, environment->settings, sizeof(device->settings));
  memcpy(device->failures, environment->failures, sizeof(device->failures));
  memset(device->counts.calls, 0, sizeof(device->counts.calls));
  memset(device->counts.copied_bytes, 0, sizeof(device->counts.copied_bytes));
  device->counts.kernel_waits = 0;
  memset(device->counts.edges, 0, sizeof(device->counts.edges));
  device->counts.mistakes = 0;
  device->counts.peak_bytes = device->counts.live_bytes;
  device->loss = environment->loss;
  device->lost = false;
  device->words[0] = 0;
  device->ranges[0] = 0;
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
                                          .owns = owns,
                                          .ranges = far_ranges}};
const tenon_offering_t far_control_offering = TENON_OFFERING_OF(FAR_CONTROL_KIND, controls);

/* ---- The report ---- */

void far_report(uint32_t index) {
  static const char* const call_words[] = {
#define WORD(name, word) word,
      FAR_CALLS(WORD)
#undef WORD
  };
  const char* path = far_environment()->report;
  FILE* file = path == NULL ? NULL : fopen(path, "a");
  if (file == NULL) {
    return;
  }
  far_counts_t counts;
  get_counts(index, &counts);
  (void)fprintf(file, "process %ld device %u", (long)getpid(), index);
  for (uint32_t call = 0; call < FAR_CALL_COUNT; ++call) {
    (void)fprintf(file, " %s %llu", call_words[call], (unsigned long long)counts.calls[call]);
  }
  const struct {
    const char* word;
    uint64_t value;
  } others[] = {
      {"to_device_bytes", counts.copied_bytes[TENON_COPY_TO_DEVICE]},
      {"to_host_bytes", counts.copied_bytes[TENON_COPY_TO_HOST]},
      {"within_bytes", counts.copied_bytes[TENON_COPY_WITHIN]},
      {"kernel_waits", counts.kernel_waits},
      {"mistakes", counts.mistakes},
      {"peak_bytes", counts.peak_bytes},
      {"live_allocations", counts.live_allocations},
      {"live_streams", counts.live_streams},
      {"live_events", counts.live_events},
      {"live_recordings", counts.live_recordings},
  };
  for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); ++k) {
    (void)fprintf(file, " %s %llu", others[k].word, (unsigned long long)others[k].value);
  }
  (void)fputc('\n', file);
  (void)fclose(file);
}
