/* The device of an engine's plan, for applications that have no interface of it: its memory, and
 * what it says of itself. */
#include <string.h>

#include "core/device/memory.h"
#include "core/engine/uploads.h"
#include "sdk/library/library.h"

/* NULL, with the reason told: it has none but the host. */
static const tenon__device_t* find_device(const tenon_engine_t* engine, const char* function) {
  const tenon__device_t* device = tenon__engine_main_device(engine->engine);
  if (device == NULL) {
    tenon__report(&engine->sink, TENON_SEVERITY_ERROR,
                  "%s: the plan runs on the host alone: there is no other memory", function);
  }
  return device;
}

/* In no stream's order. */
static tenon__memory_t memory_of(const tenon_engine_t* engine, const tenon__device_t* device) {
  return (tenon__memory_t){.allocator = engine->registry->allocator, .device = device};
}

tenon_status_t tenon_engine_allocate(tenon_engine_t* engine, size_t size_bytes, void** out_data) {
  void* data = NULL;
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "out_data", out_data != NULL));
  const tenon__device_t* device = find_device(engine, __func__);
  if (device == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  const tenon__memory_t memory = memory_of(engine, device);
  const tenon_status_t status = tenon__memory_allocate(&memory, size_bytes, &data);
  if (status == TENON_ERROR_OUT_OF_MEMORY) {
    return tenon__fail(&engine->sink, status, "%s: %zu bytes on device %s cannot be allocated",
                       __func__, size_bytes, device->source.descriptor->name);
  }
  TENON_TRY(tenon__tell(&engine->sink, __func__, status));
  *out_data = data;
  return TENON_OK;
}

void tenon_engine_free(tenon_engine_t* engine, void* data, size_t size_bytes) {
  const tenon__device_t* device = engine == NULL ? NULL : tenon__engine_main_device(engine->engine);
  if (device != NULL) {
    const tenon__memory_t memory = memory_of(engine, device);
    tenon__memory_free(&memory, data, size_bytes);
  }
}

tenon_status_t tenon_engine_copy(tenon_engine_t* engine, int32_t direction, void* target,
                                 const void* source, size_t size_bytes) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  TENON_TRY(tenon__need(&engine->sink, __func__, "target", target != NULL || size_bytes == 0));
  TENON_TRY(tenon__need(&engine->sink, __func__, "source", source != NULL || size_bytes == 0));
  const tenon__device_t* device = find_device(engine, __func__);
  if (device == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  if (direction != TENON_COPY_TO_DEVICE && direction != TENON_COPY_TO_HOST &&
      direction != TENON_COPY_WITHIN) {
    return tenon__fail(&engine->sink, TENON_ERROR_INVALID_ARGUMENT,
                       "%s: there is no direction %d: TENON_COPY_* are the directions", __func__,
                       (int)direction);
  }
  return tenon__tell(&engine->sink, __func__,
                     tenon__device_copy(device, NULL, direction, target, source, size_bytes));
}

tenon_status_t tenon_engine_read_device(const tenon_engine_t* engine,
                                        tenon_device_reading_t* out_reading) {
  TENON_TRY(tenon__enter(__func__, "engine", engine != NULL));
  tenon_device_reading_t told = {0};
  const tenon__device_t* device = tenon__engine_main_device(engine->engine);
  if (device != NULL) {
    TENON_TRY(tenon__tell(&engine->sink, __func__, tenon__device_read(device, &told)));
  }
  const tenon_device_reading_t made = {.clock_hertz = told.clock_hertz,
                                       .memory_clock_hertz = told.memory_clock_hertz,
                                       .used_bytes = told.used_bytes,
                                       .peak_bytes = told.peak_bytes,
                                       .free_bytes = told.free_bytes,
                                       .total_bytes = told.total_bytes};
  return TENON_RESULT_FILL(&engine->sink, tenon_device_reading_t, &made, out_reading);
}
