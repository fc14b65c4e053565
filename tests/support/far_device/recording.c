/* A growing array of pieces of work. Counted: a recording may be destroyed while a stream replays
 * it. */
#include "recording.h"

#include <stdlib.h>

#include "event.h"

struct far_recording_t {
  tenon_device_t* device;
  uint32_t references;
  bool spoilt;
  char* items;
  size_t size;
  size_t capacity;
};

tenon_status_t far_recording_add(far_recording_t* recording, const far_work_t* work,
                                 const void* payload, size_t size) {
  if ((work->flags & FAR_WORK_ONCE) != 0 || recording->spoilt) {
    recording->spoilt = true;
    return TENON_ERROR_INVALID_STATE;
  }
  const size_t whole = sizeof(far_item_t) + (size + 15) / 16 * 16;
  if (recording->capacity - recording->size < whole) {
    const size_t capacity = (recording->capacity + whole) * 2;
    char* items = realloc(recording->items, capacity);
    if (items == NULL) {
      recording->spoilt = true;
      return TENON_ERROR_OUT_OF_MEMORY;
    }
    recording->items = items;
    recording->capacity = capacity;
  }
  far_item_t* item = (void*)(recording->items + recording->size);
  *item = (far_item_t){.work = work, .size = whole};
  if (size > 0) {
    memcpy(item + 1, payload, size);
  }
  recording->size += whole;
  return TENON_OK;
}

void far_recording_spoil(far_recording_t* recording) {
  recording->spoilt = true;
}

/* The piece at `offset`, and the next one's place; NULL past the end. */
static const far_item_t* item_at(const far_recording_t* recording, size_t* inout_offset) {
  if (*inout_offset >= recording->size) {
    return NULL;
  }
  const far_item_t* item = (const void*)(recording->items + *inout_offset);
  *inout_offset += item->size;
  return item;
}

void far_recording_release(far_recording_t* recording) {
  far_lock(recording->device);
  const bool last = --recording->references == 0;
  far_unlock(recording->device);
  if (!last) {
    return;
  }
  size_t offset = 0;
  for (const far_item_t* item = item_at(recording, &offset); item != NULL;
       item = item_at(recording, &offset)) {
    if (item->work->release != NULL) {
      item->work->release(item + 1);
    }
  }
  free(recording->items);
  free(recording);
}

tenon_status_t far_begin_record(tenon_device_t* device, tenon_stream_t* stream) {
  tenon_status_t status = far_enter(device, FAR_CALL_BEGIN_RECORD);
  if (status != TENON_OK) {
    return status;
  }
  if (stream == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  status = far_stream_needs_no_recording(stream);
  far_recording_t* recording = status == TENON_OK ? calloc(1, sizeof(*recording)) : NULL;
  if (recording == NULL) {
    return status == TENON_OK ? TENON_ERROR_OUT_OF_MEMORY : status;
  }
  recording->device = device;
  recording->references = 1;
  far_lock(device);
  stream->queue->recording = recording;
  far_unlock(device);
  return TENON_OK;
}

tenon_status_t far_end_record(tenon_device_t* device, tenon_stream_t* stream,
                              void** out_recording) {
  tenon_status_t status = far_enter(device, FAR_CALL_END_RECORD);
  if (stream == NULL) {
    return TENON_ERROR_INVALID_STATE;
  }
  far_lock(device);
  far_recording_t* recording = stream->queue->recording;
  stream->queue->recording = NULL;
  if (status == TENON_OK && (recording == NULL || recording->spoilt)) {
    status = TENON_ERROR_INVALID_STATE;
  }
  if (status == TENON_OK) {
    ++device->counts.live_recordings;
    *out_recording = recording;
  }
  far_unlock(device);
  if (status != TENON_OK && recording != NULL) {
    far_recording_release(recording);
  }
  return status;
}

/* ---- Replaying ---- */

typedef struct replay_t {
  far_recording_t* recording;
} replay_t;

/* Events in it are marked even after a failure, so that nobody waits for ever. */
static tenon_status_t run_replay(tenon_device_t* device, const void* payload, bool failed) {
  const far_recording_t* recording = ((const replay_t*)payload)->recording;
  tenon_status_t status = TENON_OK;
  size_t offset = 0;
  for (const far_item_t* item = item_at(recording, &offset); item != NULL;
       item = item_at(recording, &offset)) {
    const tenon_status_t now =
        far_work_do(device, item->work, item + 1, failed || status != TENON_OK);
    status = status == TENON_OK ? now : status;
  }
  return status;
}

static void release_replay(const void* payload) {
  far_recording_release(((const replay_t*)payload)->recording);
}

tenon_status_t far_replay(tenon_device_t* device, tenon_stream_t* stream, void* recording) {
  static const far_work_t work = {
      .run = run_replay, .release = release_replay, .flags = FAR_WORK_ALWAYS | FAR_WORK_ONCE};
  const replay_t replay = {recording};
  tenon_status_t status = far_enter(device, FAR_CALL_REPLAY);
  if (status != TENON_OK) {
    return status;
  }
  if (replay.recording->device != device) {
    return far_mistake(device, "a recording of another device");
  }
  far_lock(device);
  ++replay.recording->references;
  far_unlock(device);
  size_t offset = 0;
  for (const far_item_t* item = item_at(recording, &offset); item != NULL;
       item = item_at(recording, &offset)) {
    far_event_expect(item);
  }
  status = far_stream_add(device, stream, &work, &replay, sizeof(replay));
  if (status != TENON_OK) {
    far_recording_release(replay.recording);
  }
  return status;
}

void far_destroy_recording(tenon_device_t* device, void* recording) {
  far_count(device, FAR_CALL_DESTROY_RECORDING);
  if (recording == NULL) {
    return;
  }
  far_lock(device);
  --device->counts.live_recordings;
  far_unlock(device);
  far_recording_release(recording);
}
