/* Devices of an engine and their copies of weights: each weight that a step on a device reads is
 * copied there once. */
#include "core/engine/uploads.h"

#include <string.h>

#include "core/base/status.h"
#include "core/catalog/catalog.h"
#include "core/device/memory.h"

/* ---- Devices ---- */

static tenon_status_t open_device(tenon__engine_t* engine, uint32_t number) {
  const tenon_sink_t* sink = engine->options.sink;
  const tenon__plan_device_t* wanted = &engine->plan->devices[number];
  const tenon__device_entry_t* entry = tenon__catalog_device(engine->catalog, wanted->name, sink);
  if (entry == NULL) {
    return tenon__fail(sink, TENON_ERROR_NOT_FOUND,
                       "the plan runs on device '%s', which no plugin offers", wanted->name);
  }
  const bool is_host = (entry->device.flags & TENON_DEVICE_HOST_MEMORY) != 0;
  if (is_host != (number == 0)) {
    return tenon__fail(sink, TENON_ERROR_INVALID_DATA,
                       "the plan is broken: device '%s' %s the host's memory", wanted->name,
                       is_host ? "has" : "has not");
  }
  /* Another number counts on from the plan's: what was built for the first two runs on others. */
  const bool is_moved = engine->plan->device_count == 1 || number > 0;
  const tenon__device_source_t source = {
      .descriptor = &entry->device,
      .state = entry->owner->state,
      .plugin = entry->owner->plugin,
      .index = wanted->index + (is_moved ? engine->options.device_index : 0)};
  tenon__device_t* device = &engine->devices[number];
  TENON_TRY(tenon__device_open(&source, sink, device));
  if (strcmp(device->fingerprint, wanted->fingerprint) != 0) {
    engine->is_elsewhere = true;
    tenon__report(sink, TENON_SEVERITY_WARNING,
                  "the plan was tuned for '%s', this machine is '%s': it may be slower here",
                  wanted->fingerprint, device->fingerprint);
  }
  return TENON_OK;
}

tenon_status_t tenon__engine_open_devices(tenon__engine_t* engine) {
  for (uint32_t d = 0; d < engine->plan->device_count; ++d) {
    TENON_TRY(open_device(engine, d));
  }
  return TENON_OK;
}

void tenon__engine_close_devices(tenon__engine_t* engine) {
  for (uint32_t d = TENON_DEVICE_LIMIT; d-- > 0;) {
    tenon__device_close(&engine->devices[d]);
  }
}

/* ---- Weights ---- */

static tenon__memory_t memory_of(const tenon__engine_t* engine, uint32_t device) {
  return (tenon__memory_t){.allocator = engine->allocator, .device = &engine->devices[device]};
}

static tenon_status_t allocate_upload(tenon__engine_t* engine, uint32_t d,
                                      const tenon__weights_t* weights, void** out_block) {
  const tenon__memory_t memory = memory_of(engine, d);
  const tenon_status_t status = tenon__memory_allocate(&memory, weights->size_bytes, out_block);
  if (status == TENON_ERROR_OUT_OF_MEMORY) {
    return tenon__fail(engine->options.sink, status,
                       "the plan asks for %zu bytes for weights '%s' on device '%s', which are not "
                       "to be had",
                       weights->size_bytes, weights->name == NULL ? "" : weights->name,
                       engine->plan->devices[d].name);
  }
  return status;
}

static tenon_status_t upload(tenon__engine_t* engine, const tenon__place_t* place) {
  const tenon__network_t* network = engine->plan->network;
  const tenon__weights_t* weights = &network->weights[place->index];
  const tenon__memory_t memory = memory_of(engine, place->space);
  void*** uploads = &engine->uploads[place->space];
  if (*uploads == NULL) {
    *uploads = tenon__allocate(engine->allocator, network->weights_count, sizeof(void*));
    TENON_TRY_MEMORY(*uploads != NULL);
  }
  void** block = &(*uploads)[place->index];
  if (weights->data == NULL) {
    return TENON_OK;
  }
  if (*block == NULL) {
    TENON_TRY(allocate_upload(engine, place->space, weights, block));
  }
  return tenon__memory_write(&memory, *block, weights->data, weights->size_bytes);
}

static tenon_status_t upload_graph(tenon__engine_t* engine, const tenon__schedule_t* schedule) {
  for (uint32_t p = 0; p < schedule->place_count; ++p) {
    const tenon__place_t* place = &schedule->places[p];
    if (place->storage == TENON_STORAGE_WEIGHTS && place->space != 0) {
      TENON_TRY(upload(engine, place));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__engine_upload_weights(tenon__engine_t* engine) {
  for (uint32_t g = 0; g < engine->plan->schedule_count; ++g) {
    TENON_TRY(upload_graph(engine, &engine->plan->schedules[g]));
  }
  return TENON_OK;
}

void tenon__engine_drop_uploads(tenon__engine_t* engine) {
  for (uint32_t d = 0; d < TENON_DEVICE_LIMIT; ++d) {
    const tenon__network_t* network = engine->uploads[d] == NULL ? NULL : engine->plan->network;
    const uint32_t count = network == NULL ? 0 : network->weights_count;
    const tenon__memory_t memory = memory_of(engine, d);
    for (uint32_t k = 0; k < count; ++k) {
      tenon__memory_free(&memory, engine->uploads[d][k], network->weights[k].size_bytes);
    }
    tenon__free(engine->allocator, engine->uploads[d], count * sizeof(void*));
    engine->uploads[d] = NULL;
  }
}

const tenon__device_t* tenon__engine_main_device(const tenon__engine_t* engine) {
  const uint32_t device = tenon__plan_main_device(engine->plan);
  return device == 0 ? NULL : &engine->devices[device];
}

uint64_t tenon__engine_uploaded_bytes(const tenon__engine_t* engine) {
  const tenon__network_t* network = engine->plan->network;
  void* const* uploads = engine->uploads[tenon__plan_main_device(engine->plan)];
  const tenon__device_t* device = tenon__engine_main_device(engine);
  uint64_t bytes = device == NULL ? 0 : tenon__packed_store_bytes_on_device(engine->store, device);
  const uint32_t count = uploads == NULL ? 0 : network->weights_count;
  for (uint32_t k = 0; k < count; ++k) {
    bytes += uploads[k] == NULL ? 0 : network->weights[k].size_bytes;
  }
  return bytes;
}

void* tenon__engine_weights(const tenon__engine_t* engine, const tenon__place_t* place) {
  return place->space == 0 ? tenon__drop_const(engine->plan->network->weights[place->index].data)
                           : engine->uploads[place->space][place->index];
}
