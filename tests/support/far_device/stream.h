/*
 * Streams: each is a thread and a queue of pieces of work, which it does in order, later. A piece
 * is a kind and a copy of its payload, in a ring that is made with the stream: to enqueue allocates
 * nothing, and waits where the ring is full. A recording takes pieces in place of the ring.
 *
 * After a piece failed the stream leaves out what follows, until synchronize has told the failure.
 */
#ifndef TENON_TESTS_SUPPORT_FAR_DEVICE_STREAM_H_
#define TENON_TESTS_SUPPORT_FAR_DEVICE_STREAM_H_

#include "device.h"

typedef struct far_recording_t far_recording_t;

enum {
  /* Is done whatever failed before it, and is no WORK that could be made to fail. */
  FAR_WORK_ALWAYS = 1u << 0,
  /* Cannot be recorded. */
  FAR_WORK_ONCE = 1u << 1
};

/* A kind of work. `payload` is aligned to 16 and may be done again: it is left as it is. `failed`:
 * something before it did; only what is done ALWAYS hears of it. */
typedef struct far_work_t {
  tenon_status_t (*run)(tenon_device_t* device, const void* payload, bool failed);
  /* Lets go of what the payload holds; NULL: nothing. */
  void (*release)(const void* payload);
  uint32_t flags;
} far_work_t;

/* One piece, and behind it its payload; `size` is that of both, a multiple of 16. In a recording:
 * on which lane, and behind which other piece besides, counted from 1; 0: none. */
typedef struct far_item_t {
  const far_work_t* work; /* NULL: what is left at the ring's end */
  size_t size;
  size_t lane;
  size_t after;
} far_item_t;

/* What is behind a stream, or several: streams that were adopted share it. */
struct far_queue_t {
  tenon_device_t* device;
  far_queue_t* next;
  uint32_t references;
  pthread_t thread;
  char* ring;
  uint64_t head; /* bytes that are done */
  uint64_t tail; /* bytes that were put in */
  uint64_t added;
  uint64_t permitted; /* what a lazy device's thread may go on to */
  uint64_t done;
  bool stopping;
  tenon_status_t status; /* the first failure since it was told */
  far_recording_t* recording;
  size_t lane; /* of the recording; 0: whose end is its end */
};

struct tenon_stream_t {
  far_queue_t* queue;
};

/* Puts a piece behind the others; the payload is copied. Stream NULL: does it now, here. */
tenon_status_t far_stream_add(tenon_device_t* device, tenon_stream_t* stream,
                              const far_work_t* work, const void* payload, size_t size);
/* Does one piece, now, which takes so long by the device's clock. */
tenon_status_t far_work_do(tenon_device_t* device, const far_work_t* work, const void* payload,
                           bool failed, far_setting_t time);
/* Waits until all is done that is there now, and gives its failure, which the stream keeps;
 * INVALID_STATE, and a spoilt recording, while it records. Stream NULL: OK. */
tenon_status_t far_stream_finish(tenon_stream_t* stream);
/* While it records: the recording is spoilt, INVALID_STATE. */
tenon_status_t far_stream_needs_no_recording(tenon_stream_t* stream);
/* Lets lazy streams do what they have. Under the lock. */
void far_streams_permit(tenon_device_t* device);

/* Of the descriptor. */
tenon_status_t far_create_stream(tenon_device_t* device, void* native, tenon_stream_t** out_stream);
void far_destroy_stream(tenon_device_t* device, tenon_stream_t* stream);
tenon_status_t far_synchronize(tenon_device_t* device, tenon_stream_t* stream);
void* far_native(tenon_device_t* device, tenon_stream_t* stream, const char* name);

#endif
