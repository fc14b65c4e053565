/*
 * A device that is open, and what the core does with its memory and its streams. Everything that a
 * plan, a trial or a run asks of a device goes through here, so that a plugin's function is called
 * with its name noted, a failure is told with the device's, and a host need not know which devices
 * are its own memory: for these, memory is the allocator's and a copy is a copy.
 *
 * A device is opened and closed by one thread; all between is for any thread at any time.
 */
#ifndef TENON_CORE_DEVICE_DEVICE_H_
#define TENON_CORE_DEVICE_DEVICE_H_

#include <stdbool.h>

#include "tenon/plugin.h"

/* The most that one plan has, the host among them. */
enum { TENON_DEVICE_LIMIT = 8 };

/* Who offers it and which of them it is; borrowed, and outlives it. */
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
  const tenon_device_watch_t* watch; /* NULL: it has none */
} tenon__device_t;

/* The plugin's own status when it cannot be opened; it, or this, has said why. `sink` is where this
 * device's failures are told from now on. Closing what is not open does nothing. */
tenon_status_t tenon__device_open(const tenon__device_source_t* source, const tenon_sink_t* sink,
                                  tenon__device_t* out_device);
void tenon__device_close(tenon__device_t* device);

/* Does it say that it works? One that is lost does not, and has said why. */
bool tenon__device_is_well(const tenon__device_t* device);

/* What it tells of itself now; zeros where it tells nothing. */
tenon_status_t tenon__device_read(const tenon__device_t* device,
                                  tenon_device_reading_t* out_reading);
/* Do tools of its maker want to know what runs when? Then what a thread asks of it between the two
 * is shown under the name. They nest. */
bool tenon__device_is_watched(const tenon__device_t* device);
void tenon__device_begin_range(const tenon__device_t* device, const char* name);
void tenon__device_end_range(const tenon__device_t* device);

/* Is its memory the host's? */
bool tenon__device_is_host(const tenon__device_t* device);
/* Is work done when the call that asks for it returns? */
bool tenon__device_is_inline(const tenon__device_t* device);
/* Has it the instruction set or capability `name`? NULL: it need have none. */
bool tenon__device_has(const tenon__device_t* device, const char* name);

/* NULL without a failure where work is done at once. `native`: a caller's, to be adopted, or NULL.
 * Destroying NULL does nothing; waiting for it neither. */
tenon_status_t tenon__device_create_stream(const tenon__device_t* device, void* native,
                                           tenon_stream_t** out_stream);
void tenon__device_destroy_stream(const tenon__device_t* device, tenon_stream_t* stream);
/* Until all that was asked for on the stream is done; what failed on the way is told here. */
tenon_status_t tenon__device_synchronize(const tenon__device_t* device, tenon_stream_t* stream);

/* The native handle behind a stream, by its name; NULL: none of that name. */
void* tenon__device_native(const tenon__device_t* device, tenon_stream_t* stream, const char* name);

/* Marks of time in a stream; NULL where work is done at once, and then nothing happens. `elapsed`
 * is the device's own time between two that it has come to. */
tenon_status_t tenon__device_create_event(const tenon__device_t* device, tenon_event_t** out_event);
void tenon__device_destroy_event(const tenon__device_t* device, tenon_event_t* event);
tenon_status_t tenon__device_record_event(const tenon__device_t* device, tenon_stream_t* stream,
                                          tenon_event_t* event);
/* What is asked of the stream from now on comes after what the event was recorded behind. */
tenon_status_t tenon__device_wait_event(const tenon__device_t* device, tenon_stream_t* stream,
                                        tenon_event_t* event);
tenon_status_t tenon__device_elapsed(const tenon__device_t* device, tenon_event_t* begin,
                                     tenon_event_t* end, double* out_seconds);

/* Can work be recorded there? Then what is asked of a stream between begin and end is kept and not
 * done, and each replay asks for all of it. Destroying NULL does nothing. */
bool tenon__device_records(const tenon__device_t* device);
/* And on several streams, which join by waiting for events? */
bool tenon__device_records_streams(const tenon__device_t* device);
tenon_status_t tenon__device_begin_record(const tenon__device_t* device, tenon_stream_t* stream);
tenon_status_t tenon__device_end_record(const tenon__device_t* device, tenon_stream_t* stream,
                                        void** out_recording);
tenon_status_t tenon__device_replay(const tenon__device_t* device, tenon_stream_t* stream,
                                    void* recording);
void tenon__device_destroy_recording(const tenon__device_t* device, void* recording);

/* Between the host's memory and the device's own, or within the latter, as `direction` says
 * (TENON_COPY_*). In the stream's order; both ends stay until that is done. */
tenon_status_t tenon__device_copy(const tenon__device_t* device, tenon_stream_t* stream,
                                  int32_t direction, void* target, const void* source,
                                  size_t size_bytes);
/* A block of a device whose memory is its own. OUT_OF_MEMORY is for the caller to tell. Freeing
 * NULL does nothing. In the stream's order. */
tenon_status_t tenon__device_allocate(const tenon__device_t* device, tenon_stream_t* stream,
                                      size_t size_bytes, void** out_block);
void tenon__device_free(const tenon__device_t* device, tenon_stream_t* stream, void* block,
                        size_t size_bytes);
/* Zeros, of a device whose memory is its own; in the stream's order. */
tenon_status_t tenon__device_clear(const tenon__device_t* device, tenon_stream_t* stream,
                                   void* block, size_t size_bytes);

#endif
