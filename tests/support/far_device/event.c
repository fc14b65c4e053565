/* An event counts its recordings and how many of them were reached. */
#include "event.h"

#include <stdlib.h>
#include <time.h>

#include "recording.h"

struct tenon_event_t {
  tenon_device_t* device;
  uint32_t references;
  uint64_t recorded;
  uint64_t reached;
  uint64_t recording;    /* the serial of that in which it was recorded last; 0: none */
  size_t piece;          /* and which piece of it that is, counted from 1 */
  double seconds;        /* of the clock, when it was last reached */
  tenon_status_t status; /* of the stream, then */
};

/* ---- Their life ---- */

tenon_status_t far_create_event(tenon_device_t* device, tenon_event_t** out_event) {
  const tenon_status_t status = far_enter(device, FAR_CALL_CREATE_EVENT);
  tenon_event_t* event = status == TENON_OK ? calloc(1, sizeof(*event)) : NULL;
  if (event == NULL) {
    return status == TENON_OK ? TENON_ERROR_OUT_OF_MEMORY : status;
  }
  event->device = device;
  event->references = 1;
  far_lock(device);
  ++device->counts.live_events;
  far_unlock(device);
  *out_event = event;
  return TENON_OK;
}

static void retain(tenon_event_t* event) {
  far_lock(event->device);
  ++event->references;
  far_unlock(event->device);
}

static void release(tenon_event_t* event) {
  far_lock(event->device);
  const bool last = --event->references == 0;
  far_unlock(event->device);
  if (last) {
    free(event);
  }
}

void far_destroy_event(tenon_device_t* device, tenon_event_t* event) {
  far_count(device, FAR_CALL_DESTROY_EVENT);
  if (event == NULL) {
    return;
  }
  far_lock(device);
  --device->counts.live_events;
  far_unlock(device);
  release(event);
}

/* ---- As work ---- */

typedef struct moment_t {
  tenon_event_t* event;
  uint64_t number; /* of the recording; 0: the next, for one that is replayed */
} moment_t;

static void release_moment(const void* payload) {
  release(((const moment_t*)payload)->event);
}

static double now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static tenon_status_t reach(tenon_device_t* device, const void* payload, bool failed) {
  const moment_t* moment = payload;
  tenon_event_t* event = moment->event;
  const double seconds = now();
  far_lock(device);
  const bool is_counted = device->settings[FAR_SETTING_WORK_TIME] > 0;
  const uint64_t number = moment->number == 0 ? event->reached + 1 : moment->number;
  event->reached = number > event->reached ? number : event->reached;
  event->seconds = is_counted ? 1e-9 * (double)device->clock : seconds;
  event->status = device->lost ? TENON_ERROR_DEVICE : failed ? TENON_ERROR_CANCELLED : TENON_OK;
  far_changed(device);
  far_unlock(device);
  return TENON_OK;
}

static const far_work_t reaching = {
    .run = reach, .release = release_moment, .flags = FAR_WORK_ALWAYS};

/* Until that recording was reached; the event may be another device's. */
static tenon_status_t wait_for(const moment_t* moment) {
  tenon_event_t* event = moment->event;
  far_lock(event->device);
  if (event->reached < moment->number) { /* else nobody waits, and lazy work stays undone */
    far_streams_permit(event->device);
  }
  while (event->reached < moment->number) {
    far_wait(event->device);
  }
  const tenon_status_t status = event->device->lost ? TENON_ERROR_DEVICE : event->status;
  far_unlock(event->device);
  return status;
}

/* That what was waited for failed is told where it failed. */
static tenon_status_t run_wait(tenon_device_t* device, const void* payload, bool failed) {
  (void)device;
  (void)failed;
  (void)wait_for(payload);
  return TENON_OK;
}

static const far_work_t waiting = {
    .run = run_wait, .release = release_moment, .flags = FAR_WORK_ALWAYS | FAR_WORK_ONCE};

void far_event_expect(const far_item_t* item) {
  if (item->work != &reaching) {
    return;
  }
  const moment_t* moment = (const void*)(item + 1);
  far_lock(moment->event->device);
  ++moment->event->recorded;
  far_unlock(moment->event->device);
}

/* ---- Of the descriptor ---- */

/* Where it is recorded: behind what is in the stream's recording, or now. */
static bool note_recording(tenon_stream_t* stream, tenon_event_t* event) {
  far_lock(event->device);
  const far_recording_t* recording = stream == NULL ? NULL : stream->queue->recording;
  event->recording = recording == NULL ? 0 : far_recording_serial(recording);
  event->piece = recording == NULL ? 0 : far_recording_count(recording) + 1;
  far_unlock(event->device);
  return recording != NULL;
}

/* Of an event of a recording that goes on: the stream is recorded with it. */
static bool joins(tenon_stream_t* stream, tenon_event_t* event, tenon_status_t* out_status) {
  far_lock(event->device);
  far_recording_t* recording =
      event->recording == 0 ? NULL : far_recording_find(event->device, event->recording);
  if (recording != NULL) {
    *out_status = stream == NULL ? TENON_ERROR_INVALID_STATE
                                 : far_recording_join(stream->queue, recording, event->piece);
  }
  far_unlock(event->device);
  return recording != NULL;
}

tenon_status_t far_record_event(tenon_device_t* device, tenon_stream_t* stream,
                                tenon_event_t* event) {
  tenon_status_t status = far_enter(device, FAR_CALL_RECORD_EVENT);
  if (status != TENON_OK) {
    return status;
  }
  if (event->device != device) {
    return far_mistake(device, "records an event of another device");
  }
  moment_t moment = {event, 0};
  if (!note_recording(stream, event)) {
    far_lock(device);
    moment.number = ++event->recorded;
    far_unlock(device);
  }
  retain(event);
  status = far_stream_add(device, stream, &reaching, &moment, sizeof(moment));
  if (status != TENON_OK) {
    release(event);
  }
  return status;
}

tenon_status_t far_wait_event(tenon_device_t* device, tenon_stream_t* stream,
                              tenon_event_t* event) {
  tenon_status_t status = far_enter(device, FAR_CALL_WAIT_EVENT);
  if (status != TENON_OK) {
    return status;
  }
  if (joins(stream, event, &status)) {
    return status;
  }
  far_lock(event->device);
  const moment_t moment = {event, event->recorded};
  far_unlock(event->device);
  if (stream == NULL) {
    return wait_for(&moment);
  }
  retain(event);
  status = far_stream_add(device, stream, &waiting, &moment, sizeof(moment));
  if (status != TENON_OK) {
    release(event);
  }
  return status;
}

tenon_status_t far_elapsed(tenon_device_t* device, tenon_event_t* begin, tenon_event_t* end,
                           double* out_seconds) {
  const tenon_status_t status = far_enter(device, FAR_CALL_ELAPSED);
  if (status != TENON_OK) {
    return status;
  }
  far_lock(device);
  const bool there = begin->recorded > 0 && begin->reached >= begin->recorded &&
                     end->recorded > 0 && end->reached >= end->recorded;
  const double seconds = end->seconds - begin->seconds;
  far_unlock(device);
  if (!there) {
    return TENON_ERROR_INVALID_STATE;
  }
  *out_seconds = seconds;
  return TENON_OK;
}
