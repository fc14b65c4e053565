/* Patterns around memory: filled before a run, compared after it, on the host or through copies to
 * a device. */
#include "core/timing/red_zone.h"

#include <string.h>

#include "core/base/status.h"
#include "core/device/device.h"

/* A byte of no common number: neither 0 nor a part of 1.0, small integers or a trial's patterns. */
enum { ZONE_BYTE = 0x6b };

static bool is_intact(const unsigned char* zone, size_t size_bytes) {
  return size_bytes == 0 || (zone[0] == ZONE_BYTE && memcmp(zone, zone + 1, size_bytes - 1) == 0);
}

static size_t behind_bytes(const tenon__zoned_t* zoned) {
  return zoned->capacity_bytes - zoned->size_bytes + TENON_RED_ZONE_BYTES;
}

static tenon__overrun_t overrun_of(bool is_front_intact, bool is_behind_intact) {
  return !is_behind_intact  ? TENON_OVERRUN_BEHIND
         : !is_front_intact ? TENON_OVERRUN_FRONT
                            : TENON_OVERRUN_NONE;
}

void tenon__red_zones_fill(const tenon__zoned_t* zoned) {
  memset((char*)zoned->data - TENON_RED_ZONE_BYTES, ZONE_BYTE, TENON_RED_ZONE_BYTES);
  memset((char*)zoned->data + zoned->size_bytes, ZONE_BYTE, behind_bytes(zoned));
}

tenon__overrun_t tenon__red_zones_check(const tenon__zoned_t* zoned) {
  const unsigned char* data = zoned->data;
  return overrun_of(is_intact(data - TENON_RED_ZONE_BYTES, TENON_RED_ZONE_BYTES),
                    is_intact(data + zoned->size_bytes, behind_bytes(zoned)));
}

void tenon__red_zone_pattern(void* out_zone) {
  memset(out_zone, ZONE_BYTE, TENON_RED_ZONE_BYTES);
}

tenon_status_t tenon__red_zones_send(const tenon__memory_t* memory, const tenon__zoned_t* zoned,
                                     const void* zone) {
  char* data = zoned->data;
  TENON_TRY(tenon__memory_write(memory, data - TENON_RED_ZONE_BYTES, zone, TENON_RED_ZONE_BYTES));
  return tenon__memory_write(memory, data + zoned->capacity_bytes, zone, TENON_RED_ZONE_BYTES);
}

tenon_status_t tenon__red_zones_fetch(const tenon__memory_t* memory, const tenon__zoned_t* zoned,
                                      void* host, tenon__overrun_t* out_overrun) {
  const char* data = zoned->data;
  const char* const zones[] = {data - TENON_RED_ZONE_BYTES, data + zoned->capacity_bytes};
  bool intact[2];
  for (int k = 0; k < 2; ++k) {
    TENON_TRY(tenon__memory_read(memory, host, zones[k], TENON_RED_ZONE_BYTES));
    TENON_TRY(tenon__device_synchronize(memory->device, memory->stream));
    intact[k] = is_intact(host, TENON_RED_ZONE_BYTES);
  }
  *out_overrun = overrun_of(intact[0], intact[1]);
  return TENON_OK;
}
