/* The ring, the thread that empties it, and those who wait for it. */
#include "stream.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "recording.h"

enum { RING_SIZE = 1 << 20, ITEM_ALIGNMENT = 16 };

/* ---- The thread ---- */

static void pass_time(tenon_device_t* device, far_setting_t setting) {
  far_lock(device);
  device->clock += device->settings[setting];
  far_unlock(device);
}

tenon_status_t far_work_do(tenon_device_t* device, const far_work_t* work, const void* payload,
                           bool failed, far_setting_t time) {
  if ((work->flags & FAR_WORK_ALWAYS) != 0) {
    return work->run(device, payload, failed);
  }
  if (failed) {
    return TENON_OK;
  }
  pass_time(device, time);
  const tenon_status_t status = far_enter(device, FAR_CALL_WORK);
  return status == TENON_OK ? work->run(device, payload, false) : status;
}

static void pause_for(uint64_t microseconds) {
  const struct timespec time = {.tv_sec = (time_t)(microseconds / 1000000),
                                .tv_nsec = (long)(microseconds % 1000000 * 1000)};
  if (microseconds > 0) {
    (void)nanosleep(&time, NULL);
  } else {
    (void)sched_yield();
  }
}

/* The next piece; under the lock. */
static const far_item_t* next_item(far_queue_t* queue) {
  const far_item_t* item = (const void*)(queue->ring + queue->head % RING_SIZE);
  if (item->work == NULL) {
    queue->head += item->size;
    item = (const void*)queue->ring;
  }
  return item;
}

static void* work_on(void* user) {
  far_queue_t* queue = user;
  tenon_device_t* device = queue->device;
  far_lock(device);
  for (;;) {
    while (queue->done == queue->permitted && !queue->stopping) {
      far_wait(device);
    }
    if (queue->done == queue->permitted) {
      break;
    }
    const far_item_t* item = next_item(queue);
    const bool failed = queue->status != TENON_OK;
    const uint64_t delay = device->settings[FAR_SETTING_DELAY];
    far_unlock(device);
    pause_for(delay);
    const tenon_status_t status =
        far_work_do(device, item->work, item + 1, failed, FAR_SETTING_WORK_TIME);
    if (item->work->release != NULL) {
      item->work->release(item + 1);
    }
    far_lock(device);
    queue->status = failed ? queue->status : status;
    queue->head += item->size;
    ++queue->done;
    far_changed(device);
  }
  far_unlock(device);
  return NULL;
}

/* ---- Adding ---- */

static void permit(far_queue_t* queue) {
  if (queue->permitted != queue->added) {
    queue->permitted = queue->added;
    far_changed(queue->device);
  }
}

void far_streams_permit(tenon_device_t* device) {
  for (far_queue_t* queue = device->queues; queue != NULL; queue = queue->next) {
    permit(queue);
  }
}

/* Room for `size` bytes in one piece; waits for it. Under the lock. */
static far_item_t* make_room(far_queue_t* queue, size_t size) {
  const size_t left = RING_SIZE - queue->tail % RING_SIZE;
  const size_t needed = left < size ? left + size : size;
  while (queue->tail + needed - queue->head > RING_SIZE) {
    far_streams_permit(queue->device);
    far_wait(queue->device);
  }
  far_item_t* item = (void*)(queue->ring + queue->tail % RING_SIZE);
  queue->tail += needed;
  if (left < size) {
    *item = (far_item_t){.size = left};
    item = (void*)queue->ring;
  }
  return item;
}

tenon_status_t far_stream_add(tenon_device_t* device, tenon_stream_t* stream,
                              const far_work_t* work, const void* payload, size_t size) {
  const size_t whole =
      sizeof(far_item_t) + (size + ITEM_ALIGNMENT - 1) / ITEM_ALIGNMENT * ITEM_ALIGNMENT;
  if (stream == NULL) {
    const tenon_status_t status = far_work_do(device, work, payload, false, FAR_SETTING_WORK_TIME);
    if (status == TENON_OK && work->release != NULL) {
      work->release(payload);
    }
    return status;
  }
  far_queue_t* queue = stream->queue;
  if (queue->device != device) {
    return far_mistake(device, "a stream of another device");
  }
  if (whole > RING_SIZE / 2) {
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  far_lock(device);
  tenon_status_t status = TENON_OK;
  if (queue->recording != NULL) {
    status = far_recording_add(queue->recording, queue->lane, work, payload, size);
  } else {
    far_item_t* item = make_room(queue, whole);
    *item = (far_item_t){.work = work, .size = whole};
    if (size > 0) {
      memcpy(item + 1, payload, size);
    }
    ++queue->added;
    if (device->settings[FAR_SETTING_LAZY] == 0) {
      permit(queue);
    }
  }
  far_unlock(device);
  return status;
}

/* ---- Waiting ---- */

tenon_status_t far_stream_needs_no_recording(tenon_stream_t* stream) {
  if (stream == NULL) {
    return TENON_OK;
  }
  tenon_device_t* device = stream->queue->device;
  far_lock(device);
  const bool records = stream->queue->recording != NULL;
  if (records) {
    far_recording_spoil(stream->queue->recording);
  }
  far_unlock(device);
  return records ? TENON_ERROR_INVALID_STATE : TENON_OK;
}

/* Under the lock. */
static void finish(far_queue_t* queue) {
  const uint64_t last = queue->added;
  far_streams_permit(queue->device);
  while (queue->done < last) {
    far_wait(queue->device);
  }
}

tenon_status_t far_stream_finish(tenon_stream_t* stream) {
  if (stream == NULL) {
    return TENON_OK;
  }
  tenon_status_t status = far_stream_needs_no_recording(stream);
  if (status == TENON_OK) {
    far_lock(stream->queue->device);
    finish(stream->queue);
    status = stream->queue->status;
    far_unlock(stream->queue->device);
  }
  return status;
}

tenon_status_t far_synchronize(tenon_device_t* device, tenon_stream_t* stream) {
  tenon_status_t status = far_enter(device, FAR_CALL_SYNCHRONIZE);
  if (far_stream_needs_no_recording(stream) != TENON_OK) {
    return TENON_ERROR_INVALID_STATE;
  }
  const tenon_status_t done = far_stream_finish(stream);
  if (stream != NULL) {
    far_lock(device);
    stream->queue->status = TENON_OK;
    far_unlock(device);
  }
  status = status == TENON_OK ? done : status;
  return far_is_lost(device) ? TENON_ERROR_DEVICE : status;
}

/* ---- Their life ---- */

/* Signals are for the host's threads. */
static bool start_thread(far_queue_t* queue) {
  sigset_t all;
  sigset_t before;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&queue->thread, NULL, work_on, queue) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return started;
}

static far_queue_t* make_queue(tenon_device_t* device) {
  far_queue_t* queue = calloc(1, sizeof(*queue));
  char* ring = malloc(RING_SIZE);
  if (queue == NULL || ring == NULL) {
    free(queue);
    free(ring);
    return NULL;
  }
  *queue = (far_queue_t){.device = device, .ring = ring};
  if (!start_thread(queue)) {
    free(ring);
    free(queue);
    return NULL;
  }
  far_lock(device);
  queue->next = device->queues;
  device->queues = queue;
  far_unlock(device);
  return queue;
}

tenon_status_t far_create_stream(tenon_device_t* device, void* native,
                                 tenon_stream_t** out_stream) {
  const tenon_status_t status = far_enter(device, FAR_CALL_CREATE_STREAM);
  if (status != TENON_OK) {
    return status;
  }
  if (native != NULL && ((const far_queue_t*)native)->device != device) {
    return far_mistake(device, "adopts a stream of another device");
  }
  tenon_stream_t* stream = calloc(1, sizeof(*stream));
  far_queue_t* queue = native != NULL || stream == NULL ? native : make_queue(device);
  if (stream == NULL || queue == NULL) {
    free(stream);
    return TENON_ERROR_OUT_OF_MEMORY;
  }
  stream->queue = queue;
  far_lock(device);
  ++queue->references;
  ++device->counts.live_streams;
  far_unlock(device);
  *out_stream = stream;
  return TENON_OK;
}

/* What is enqueued is done first. */
static void stop(far_queue_t* queue) {
  tenon_device_t* device = queue->device;
  far_lock(device);
  far_recording_t* recording = queue->lane == 0 ? queue->recording : NULL;
  queue->recording = NULL;
  finish(queue);
  queue->stopping = true;
  far_changed(device);
  far_queue_t** place = &device->queues;
  while (*place != queue) {
    place = &(*place)->next;
  }
  *place = queue->next;
  far_unlock(device);
  (void)pthread_join(queue->thread, NULL);
  if (recording != NULL) {
    far_recording_release(recording);
  }
  free(queue->ring);
  free(queue);
}

void far_destroy_stream(tenon_device_t* device, tenon_stream_t* stream) {
  far_count(device, FAR_CALL_DESTROY_STREAM);
  if (stream == NULL) {
    return;
  }
  far_lock(device);
  --device->counts.live_streams;
  const bool last = --stream->queue->references == 0;
  far_unlock(device);
  if (last) {
    stop(stream->queue);
  }
  free(stream);
}

void* far_native(tenon_device_t* device, tenon_stream_t* stream, const char* name) {
  (void)device;
  return stream != NULL && strcmp(name, "far.stream/1") == 0 ? stream->queue : NULL;
}
