/*
 * An open device, and all operations of the core on its memory and its streams. Plans, trials and
 * runs call devices only through this interface. It notes the called function of the plugin,
 * reports failures with the device's name, and implements devices whose memory is the host's:
 * there, memory comes from the allocator, and a copy is a memory copy.
 *
 * One thread opens and closes a device. Any thread may call the other functions at any time.
 */
#ifndef TENON_CORE_DEVICE_DEVICE_H_
#define TENON_CORE_DEVICE_DEVICE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* Maximum number of devices of a plan, the host included. */
enum { TENON_DEVICE_LIMIT = 8 };

/* The descriptor that offers the device, and the device's index. Borrowed; outlives the device. */
typedef struct tenon__device_source_t {
  const tenon_device_descriptor_t* descriptor;
  void* state; /* the plugin's */
  const char* plugin;
  uint32_t index;
} tenon__device_source_t;

/* All zero: not open. */
typedef struct tenon__device_t {
  tenon__device_source_t source;
  tenon_device_t* handle;
  const char* fingerprint; /* lives as long as the device is open */
  const tenon_sink_t* sink;
  const tenon_device_watch_t* watch; /* NULL: no monitoring */
} tenon__device_t;

/* Opens a device. Returns the plugin's status if it cannot be opened; the plugin or this function
 * has sent a message. `sink` receives messages of later failures of this device. Closing a device
 * that is not open does nothing. */
tenon_status_t tenon__device_open(const tenon__device_source_t* source, const tenon_sink_t* sink,
                                  tenon__device_t* out_device);
void tenon__device_close(tenon__device_t* device);

/* Returns true if the device reports that it works. A lost device does not, and has sent a
 * message. */
bool tenon__device_is_well(const tenon__device_t* device);

/* Reads the device's current state; zeros if it reports none. */
tenon_status_t tenon__device_read(const tenon__device_t* device,
                                  tenon_device_reading_t* out_reading);
/* Returns true if a vendor's profiling tool observes the device. Then the tool shows work that a
 * thread enqueues between begin_range and end_range under the range's name. Ranges nest. */
bool tenon__device_is_watched(const tenon__device_t* device);
void tenon__device_begin_range(const tenon__device_t* device, const char* name);
void tenon__device_end_range(const tenon__device_t* device);

/* Returns true if its memory is the host's. */
bool tenon__device_is_host(const tenon__device_t* device);
/* Returns true if work is complete when the call that requests it returns. */
bool tenon__device_is_inline(const tenon__device_t* device);
/* Returns true if it has the instruction set or capability `name`. NULL: none is required. */
bool tenon__device_has(const tenon__device_t* device, const char* name);

/* Creates a stream; NULL without a failure if the device completes work immediately. `native` is a
 * stream of the caller to be adopted, or NULL. Destroying NULL and waiting for NULL do nothing. */
tenon_status_t tenon__device_create_stream(const tenon__device_t* device, void* native,
                                           tenon_stream_t** out_stream);
void tenon__device_destroy_stream(const tenon__device_t* device, tenon_stream_t* stream);
/* Waits until all work enqueued on the stream is complete. Reports failures of that work. */
tenon_status_t tenon__device_synchronize(const tenon__device_t* device, tenon_stream_t* stream);

/* Returns the native handle of a stream by its name, or NULL if there is none of that name. */
void* tenon__device_native(const tenon__device_t* device, tenon_stream_t* stream, const char* name);

/* Events mark points in a stream. The event is NULL and the calls do nothing if work is completed
 * immediately. `elapsed` gives the device's time between two events that it has reached. */
tenon_status_t tenon__device_create_event(const tenon__device_t* device, tenon_event_t** out_event);
void tenon__device_destroy_event(const tenon__device_t* device, tenon_event_t* event);
tenon_status_t tenon__device_record_event(const tenon__device_t* device, tenon_stream_t* stream,
                                          tenon_event_t* event);
/* Work that is enqueued on the stream from now on runs after the work that precedes the event. */
tenon_status_t tenon__device_wait_event(const tenon__device_t* device, tenon_stream_t* stream,
                                        tenon_event_t* event);
tenon_status_t tenon__device_elapsed(const tenon__device_t* device, tenon_event_t* begin,
                                     tenon_event_t* end, double* out_seconds);

/* Returns true if work can be recorded on the device. Work that is enqueued on a stream between
 * begin and end is recorded and not run; each replay enqueues all of it. Destroying NULL does
 * nothing. */
bool tenon__device_records(const tenon__device_t* device);
/* Returns true if several streams that wait for each other's events can be recorded together. */
bool tenon__device_records_streams(const tenon__device_t* device);
tenon_status_t tenon__device_begin_record(const tenon__device_t* device, tenon_stream_t* stream);
tenon_status_t tenon__device_end_record(const tenon__device_t* device, tenon_stream_t* stream,
                                        void** out_recording);
tenon_status_t tenon__device_replay(const tenon__device_t* device, tenon_stream_t* stream,
                                    void* recording);
void tenon__device_destroy_recording(const tenon__device_t* device, void* recording);

/* Copies between the host's memory and the device's, or within the latter, by `direction`
 * (TENON_COPY_*), in the stream's order. Both blocks must stay valid until the copy is complete. */
tenon_status_t tenon__device_copy(const tenon__device_t* device, tenon_stream_t* stream,
                                  int32_t direction, void* target, const void* source,
                                  size_t size_bytes);
/* Allocates a block on a device with its own memory, in the stream's order. The caller reports
 * OUT_OF_MEMORY. Freeing NULL does nothing. */
tenon_status_t tenon__device_allocate(const tenon__device_t* device, tenon_stream_t* stream,
                                      size_t size_bytes, void** out_block);
void tenon__device_free(const tenon__device_t* device, tenon_stream_t* stream, void* block,
                        size_t size_bytes);
/* Fills a block of a device with its own memory with zeros, in the stream's order. */
tenon_status_t tenon__device_clear(const tenon__device_t* device, tenon_stream_t* stream,
                                   void* block, size_t size_bytes);

#endif
