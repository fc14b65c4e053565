/* The device `far` driven by its tables alone, as a host would: opened, with one stream. */
#ifndef TENON_TESTS_DEVICE_DEVICE_WORLD_H_
#define TENON_TESTS_DEVICE_DEVICE_WORLD_H_

#include <stdlib.h>

#include "core/base/test.h"
#include "tests/support/far_device/control.h"

typedef struct world_t {
  const tenon_plugin_t* plugin;
  const far_control_t* far;
  const tenon_device_descriptor_t* table;
  tenon_device_t* device;
  tenon_stream_t* stream;
  uint32_t index;
} world_t;

static inline bool world_find(world_t* world) {
  memset(world, 0, sizeof(*world));
  world->plugin = far_plugin_open(FAR_DEVICE_PATH);
  world->far = far_control_open(FAR_DEVICE_PATH);
  const tenon_offering_t* offering = far_plugin_offering(world->plugin, "device/1");
  if (world->far == NULL || offering == NULL) {
    tenon__test_fail(__FILE__, __LINE__, "%s: %s", FAR_DEVICE_PATH, dlerror());
    return false;
  }
  world->table = offering->items.items;
  world->far->reset();
  return true;
}

static inline bool world_open(world_t* world, uint32_t index) {
  if (!world_find(world)) {
    return false;
  }
  world->index = index;
  return world->table->open(NULL, index, NULL, &world->device) == TENON_OK &&
         world->table->create_stream(world->device, NULL, &world->stream) == TENON_OK;
}

static inline far_counts_t world_counts(const world_t* world) {
  far_counts_t counts;
  world->far->counts(world->index, &counts);
  return counts;
}

static inline uint64_t world_calls(const world_t* world, far_call_t call) {
  return world_counts(world).calls[call];
}

/* Nothing may be left. */
static inline void world_close(world_t* world) {
  world->table->destroy_stream(world->device, world->stream);
  const far_counts_t counts = world_counts(world);
  EXPECT_INT(counts.live_allocations, 0);
  EXPECT_INT(counts.live_bytes, 0);
  EXPECT_INT(counts.live_streams, 0);
  EXPECT_INT(counts.live_events, 0);
  EXPECT_INT(counts.live_recordings, 0);
  world->table->close(world->device);
  EXPECT_INT(world_counts(world).openings, 0);
}

static inline char* world_allocate(world_t* world, size_t size) {
  void* data = NULL;
  EXPECT_STATUS(world->table->allocate(world->device, NULL, size, &data), TENON_OK);
  return data;
}

static inline void world_free(world_t* world, void* data, size_t size) {
  world->table->free(world->device, NULL, data, size);
}

static inline tenon_status_t world_write(world_t* world, tenon_stream_t* stream, void* target,
                                         const void* source, size_t size) {
  return world->table->copy(world->device, stream, TENON_COPY_TO_DEVICE, target, source, size);
}

static inline tenon_status_t world_read(world_t* world, tenon_stream_t* stream, void* target,
                                        const void* source, size_t size) {
  return world->table->copy(world->device, stream, TENON_COPY_TO_HOST, target, source, size);
}

static inline tenon_status_t world_synchronize(world_t* world) {
  return world->table->synchronize(world->device, world->stream);
}

/* The byte that is there now. */
static inline int world_byte(world_t* world, const char* data) {
  unsigned char byte = 0;
  EXPECT_STATUS(world_read(world, NULL, &byte, data, 1), TENON_OK);
  return byte;
}

static inline void world_set(world_t* world, far_setting_t setting, uint64_t value) {
  world->far->set(world->index, setting, value);
}

#endif
