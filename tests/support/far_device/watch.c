/* Readings are what is counted, and clocks as the environment wants them to change; ranges are kept
 * as text. */
#include "watch.h"

#include <stdio.h>

#include "environment.h"

static tenon_status_t read_device(tenon_device_t* device, tenon_device_reading_t* out_reading) {
  const far_environment_t* environment = far_environment();
  const tenon_status_t status = far_enter(device, FAR_CALL_READ);
  if (status != TENON_OK) {
    return status;
  }
  far_lock(device);
  const far_counts_t counts = device->counts;
  const uint64_t limit = device->settings[FAR_SETTING_MEMORY];
  far_unlock(device);
  const uint64_t reads = counts.calls[FAR_CALL_READ] - 1;
  out_reading->clock_hertz = environment->clocks[reads % FAR_CLOCKS] * 1e6;
  out_reading->memory_clock_hertz = environment->clocks[reads % FAR_CLOCKS] > 0 ? 2e9 : 0;
  out_reading->used_bytes = counts.live_bytes;
  out_reading->peak_bytes = counts.peak_bytes;
  out_reading->free_bytes = limit - counts.live_bytes;
  out_reading->total_bytes = limit;
  return TENON_OK;
}

/* What does not fit is left out, whole. */
static void add(tenon_device_t* device, const char* name, char bracket) {
  far_lock(device);
  const size_t used = strlen(device->ranges);
  const int length =
      snprintf(device->ranges + used, sizeof(device->ranges) - used, "%s%c", name, bracket);
  if ((size_t)length >= sizeof(device->ranges) - used) {
    device->ranges[used] = 0;
  }
  far_unlock(device);
}

static void begin_range(tenon_device_t* device, const char* name) {
  add(device, name, '(');
}

static void end_range(tenon_device_t* device) {
  add(device, "", ')');
}

const tenon_device_watch_t* far_watch(tenon_device_t* device) {
  static const tenon_device_watch_t unwatched = {.size = sizeof(unwatched), .read = read_device};
  static const tenon_device_watch_t watched = {.size = sizeof(watched),
                                               .read = read_device,
                                               .begin_range = begin_range,
                                               .end_range = end_range};
  far_lock(device);
  const bool is_watched = device->settings[FAR_SETTING_WATCHED] != 0;
  far_unlock(device);
  return is_watched ? &watched : &unwatched;
}

void far_ranges(uint32_t index, char* out_text, size_t size) {
  tenon_device_t* device = far_device(index);
  far_lock(device);
  (void)snprintf(out_text, size, "%s", device->ranges);
  far_unlock(device);
}
