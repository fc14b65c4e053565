/* Calls of a device's functions: each notes the function for crash reports and adds the device's
 * name to failures. Devices with the memory of the host need no functions for memory. */
#include "core/device/device.h"

#include <string.h>

#include "core/base/call.h"
#include "core/base/status.h"

static tenon__call_t call_of(const tenon__device_t* device, const char* function) {
  return (tenon__call_t){device->source.plugin, function, device->source.descriptor->name, ""};
}

/* Of a device there is no word but the status: functions for runs have no sink. */
static tenon_status_t tell(const tenon__device_t* device, const char* function,
                           tenon_status_t status) {
  return status == TENON_OK
             ? TENON_OK
             : tenon__fail(device->sink, status, "device '%s:%u' (plugin %s): %s: %s",
                           device->source.descriptor->name, device->source.index,
                           device->source.plugin, function, tenon__status_text(status));
}

tenon_status_t tenon__device_open(const tenon__device_source_t* source, const tenon_sink_t* sink,
                                  tenon__device_t* out_device) {
  tenon__device_t device = {.source = *source, .sink = sink};
  const tenon_device_descriptor_t* descriptor = source->descriptor;
  const tenon__call_t call = call_of(&device, "open");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      descriptor->open(source->state, source->index, sink, &device.handle);
  device.fingerprint = status == TENON_OK ? descriptor->fingerprint(device.handle) : "";
  device.watch = status == TENON_OK && descriptor->service != NULL
                     ? descriptor->service(device.handle, TENON_DEVICE_WATCH)
                     : NULL;
  tenon__call_leave(outer);
  TENON_TRY(tell(&device, "cannot be opened", status));
  *out_device = device;
  return TENON_OK;
}

void tenon__device_close(tenon__device_t* device) {
  if (device->source.descriptor == NULL) {
    return;
  }
  const tenon__call_t call = call_of(device, "close");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->source.descriptor->close(device->handle);
  tenon__call_leave(outer);
  *device = (tenon__device_t){0};
}

bool tenon__device_is_well(const tenon__device_t* device) {
  const tenon_device_descriptor_t* descriptor = device->source.descriptor;
  if (descriptor->health == NULL) {
    return true;
  }
  const tenon__call_t call = call_of(device, "health");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = descriptor->health(device->handle, device->sink);
  tenon__call_leave(outer);
  return status == TENON_OK;
}

bool tenon__device_is_host(const tenon__device_t* device) {
  return (device->source.descriptor->flags & TENON_DEVICE_HOST_MEMORY) != 0;
}

bool tenon__device_is_inline(const tenon__device_t* device) {
  return (device->source.descriptor->flags & TENON_DEVICE_INLINE_STREAM) != 0;
}

bool tenon__device_has(const tenon__device_t* device, const char* name) {
  const tenon_device_descriptor_t* descriptor = device->source.descriptor;
  if (name == NULL || descriptor->has == NULL) {
    return name == NULL;
  }
  const tenon__call_t call = call_of(device, "has");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const bool has = descriptor->has(device->handle, name) != 0;
  tenon__call_leave(outer);
  return has;
}

/* ---- Who looks ---- */

tenon_status_t tenon__device_read(const tenon__device_t* device,
                                  tenon_device_reading_t* out_reading) {
  *out_reading = (tenon_device_reading_t){.size = sizeof *out_reading};
  if (device->watch == NULL || !TENON_HAS(device->watch, tenon_device_watch_t, read) ||
      device->watch->read == NULL) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "read");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = device->watch->read(device->handle, out_reading);
  tenon__call_leave(outer);
  return tell(device, "read", status);
}

bool tenon__device_is_watched(const tenon__device_t* device) {
  return device->watch != NULL && TENON_HAS(device->watch, tenon_device_watch_t, end_range) &&
         device->watch->begin_range != NULL && device->watch->end_range != NULL;
}

void tenon__device_begin_range(const tenon__device_t* device, const char* name) {
  const tenon__call_t call = call_of(device, "begin_range");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->watch->begin_range(device->handle, name);
  tenon__call_leave(outer);
}

void tenon__device_end_range(const tenon__device_t* device) {
  const tenon__call_t call = call_of(device, "end_range");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->watch->end_range(device->handle);
  tenon__call_leave(outer);
}

/* ---- Streams ---- */

tenon_status_t tenon__device_create_stream(const tenon__device_t* device, void* native,
                                           tenon_stream_t** out_stream) {
  *out_stream = NULL;
  if (tenon__device_is_inline(device)) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "create_stream");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      device->source.descriptor->create_stream(device->handle, native, out_stream);
  tenon__call_leave(outer);
  return tell(device, "create_stream", status);
}

void tenon__device_destroy_stream(const tenon__device_t* device, tenon_stream_t* stream) {
  if (stream == NULL) {
    return;
  }
  const tenon__call_t call = call_of(device, "destroy_stream");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->source.descriptor->destroy_stream(device->handle, stream);
  tenon__call_leave(outer);
}

tenon_status_t tenon__device_synchronize(const tenon__device_t* device, tenon_stream_t* stream) {
  if (stream == NULL) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "synchronize");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = device->source.descriptor->synchronize(device->handle, stream);
  tenon__call_leave(outer);
  return tell(device, "synchronize", status);
}

void* tenon__device_native(const tenon__device_t* device, tenon_stream_t* stream,
                           const char* name) {
  const tenon_device_descriptor_t* descriptor = device->source.descriptor;
  if (descriptor->native == NULL) {
    return NULL;
  }
  const tenon__call_t call = call_of(device, "native");
  const tenon__call_t* outer = tenon__call_enter(&call);
  void* native = descriptor->native(device->handle, stream, name);
  tenon__call_leave(outer);
  return native;
}

/* ---- Events ---- */

tenon_status_t tenon__device_create_event(const tenon__device_t* device,
                                          tenon_event_t** out_event) {
  *out_event = NULL;
  if (tenon__device_is_inline(device)) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "create_event");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = device->source.descriptor->create_event(device->handle, out_event);
  tenon__call_leave(outer);
  return tell(device, "create_event", status);
}

void tenon__device_destroy_event(const tenon__device_t* device, tenon_event_t* event) {
  if (event == NULL) {
    return;
  }
  const tenon__call_t call = call_of(device, "destroy_event");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->source.descriptor->destroy_event(device->handle, event);
  tenon__call_leave(outer);
}

typedef tenon_status_t (*event_function_t)(tenon_device_t* device, tenon_stream_t* stream,
                                           tenon_event_t* event);

static tenon_status_t with_event(const tenon__device_t* device, const char* name,
                                 event_function_t function, tenon_stream_t* stream,
                                 tenon_event_t* event) {
  if (event == NULL) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, name);
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = function(device->handle, stream, event);
  tenon__call_leave(outer);
  return tell(device, name, status);
}

tenon_status_t tenon__device_record_event(const tenon__device_t* device, tenon_stream_t* stream,
                                          tenon_event_t* event) {
  return with_event(device, "record_event", device->source.descriptor->record_event, stream, event);
}

tenon_status_t tenon__device_wait_event(const tenon__device_t* device, tenon_stream_t* stream,
                                        tenon_event_t* event) {
  return with_event(device, "wait_event", device->source.descriptor->wait_event, stream, event);
}

tenon_status_t tenon__device_elapsed(const tenon__device_t* device, tenon_event_t* begin,
                                     tenon_event_t* end, double* out_seconds) {
  *out_seconds = 0;
  if (begin == NULL || end == NULL) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "elapsed");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      device->source.descriptor->elapsed(device->handle, begin, end, out_seconds);
  tenon__call_leave(outer);
  return tell(device, "elapsed", status);
}

/* ---- Recordings ---- */

bool tenon__device_records(const tenon__device_t* device) {
  return (device->source.descriptor->flags & TENON_DEVICE_RECORDS) != 0;
}

bool tenon__device_records_streams(const tenon__device_t* device) {
  const uint32_t both = TENON_DEVICE_RECORDS | TENON_DEVICE_RECORDS_STREAMS;
  return (device->source.descriptor->flags & both) == both;
}

tenon_status_t tenon__device_begin_record(const tenon__device_t* device, tenon_stream_t* stream) {
  const tenon__call_t call = call_of(device, "begin_record");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = device->source.descriptor->begin_record(device->handle, stream);
  tenon__call_leave(outer);
  return tell(device, "begin_record", status);
}

tenon_status_t tenon__device_end_record(const tenon__device_t* device, tenon_stream_t* stream,
                                        void** out_recording) {
  const tenon__call_t call = call_of(device, "end_record");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      device->source.descriptor->end_record(device->handle, stream, out_recording);
  tenon__call_leave(outer);
  return tell(device, "end_record", status);
}

tenon_status_t tenon__device_replay(const tenon__device_t* device, tenon_stream_t* stream,
                                    void* recording) {
  const tenon__call_t call = call_of(device, "replay");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      device->source.descriptor->replay(device->handle, stream, recording);
  tenon__call_leave(outer);
  return tell(device, "replay", status);
}

void tenon__device_destroy_recording(const tenon__device_t* device, void* recording) {
  if (recording == NULL) {
    return;
  }
  const tenon__call_t call = call_of(device, "destroy_recording");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->source.descriptor->destroy_recording(device->handle, recording);
  tenon__call_leave(outer);
}

/* ---- Memory ---- */

tenon_status_t tenon__device_copy(const tenon__device_t* device, tenon_stream_t* stream,
                                  int32_t direction, void* target, const void* source,
                                  size_t size_bytes) {
  if (size_bytes == 0) {
    return TENON_OK;
  }
  if (tenon__device_is_host(device)) {
    memmove(target, source, size_bytes);
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "copy");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status = device->source.descriptor->copy(device->handle, stream, direction,
                                                                target, source, size_bytes);
  tenon__call_leave(outer);
  return tell(device, "copy", status);
}

tenon_status_t tenon__device_allocate(const tenon__device_t* device, tenon_stream_t* stream,
                                      size_t size_bytes, void** out_block) {
  const tenon__call_t call = call_of(device, "allocate");
  const tenon__call_t* outer = tenon__call_enter(&call);
  *out_block = NULL;
  const tenon_status_t status =
      device->source.descriptor->allocate(device->handle, stream, size_bytes, out_block);
  tenon__call_leave(outer);
  return status == TENON_ERROR_OUT_OF_MEMORY ? status : tell(device, "allocate", status);
}

void tenon__device_free(const tenon__device_t* device, tenon_stream_t* stream, void* block,
                        size_t size_bytes) {
  if (block == NULL) {
    return;
  }
  const tenon__call_t call = call_of(device, "free");
  const tenon__call_t* outer = tenon__call_enter(&call);
  device->source.descriptor->free(device->handle, stream, block, size_bytes);
  tenon__call_leave(outer);
}

tenon_status_t tenon__device_clear(const tenon__device_t* device, tenon_stream_t* stream,
                                   void* block, size_t size_bytes) {
  if (size_bytes == 0) {
    return TENON_OK;
  }
  const tenon__call_t call = call_of(device, "fill");
  const tenon__call_t* outer = tenon__call_enter(&call);
  const tenon_status_t status =
      device->source.descriptor->fill(device->handle, stream, block, 0, size_bytes);
  tenon__call_leave(outer);
  return tell(device, "fill", status);
}
