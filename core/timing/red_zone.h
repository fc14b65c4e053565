/*
 * Memory that a trial lends to a kernel, with a pattern before and after it. A pattern that has
 * changed after the run shows that the kernel wrote outside of its memory.
 */
#ifndef TENON_CORE_TIMING_RED_ZONE_H_
#define TENON_CORE_TIMING_RED_ZONE_H_

#include "core/device/memory.h"

/* Bytes of each zone: a multiple of each alignment that the contract guarantees. */
enum { TENON_RED_ZONE_BYTES = 1 << 14 };

/* `data` is at TENON_RED_ZONE_BYTES of a block of capacity_bytes + 2 * TENON_RED_ZONE_BYTES. The
 * second zone begins at `size_bytes`, at most `capacity_bytes`. */
typedef struct tenon__zoned_t {
  void* data;
  size_t size_bytes;
  size_t capacity_bytes;
} tenon__zoned_t;

typedef enum tenon__overrun_t {
  TENON_OVERRUN_NONE,
  TENON_OVERRUN_FRONT,
  TENON_OVERRUN_BEHIND
} tenon__overrun_t;

/* Returns the size of a block for that capacity, in bytes. */
static inline size_t tenon__red_zone_block_bytes(size_t capacity_bytes) {
  return capacity_bytes + 2 * (size_t)TENON_RED_ZONE_BYTES;
}
/* Convert between a block and its data. NULL stays NULL. */
static inline void* tenon__red_zone_data(void* block) {
  return block == NULL ? NULL : (char*)block + TENON_RED_ZONE_BYTES;
}
static inline void* tenon__red_zone_block(void* data) {
  return data == NULL ? NULL : (char*)data - TENON_RED_ZONE_BYTES;
}

/* Memory of the host. */
void tenon__red_zones_fill(const tenon__zoned_t* zoned);
tenon__overrun_t tenon__red_zones_check(const tenon__zoned_t* zoned);

/* Writes the pattern of one zone: TENON_RED_ZONE_BYTES of the host's memory. */
void tenon__red_zone_pattern(void* out_zone);
/* Memory of a device. `zone` contains the pattern and must stay unchanged until the copies are
 * complete. The second zone begins at the capacity. */
tenon_status_t tenon__red_zones_send(const tenon__memory_t* memory, const tenon__zoned_t* zoned,
                                     const void* zone);
/* Waits for the stream. `host` has TENON_RED_ZONE_BYTES, which are overwritten. */
tenon_status_t tenon__red_zones_fetch(const tenon__memory_t* memory, const tenon__zoned_t* zoned,
                                      void* host, tenon__overrun_t* out_overrun);

#endif
