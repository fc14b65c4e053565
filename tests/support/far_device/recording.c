/* A growing array of pieces of work of several lanes. Counted: a recording may be destroyed while a
 * stream replays it. */
#include "recording.h"

#include <stdlib.h>

#include "event.h"

enum { FAR_LANES = 16 };

struct far_recording_t {
  tenon_device_t* device;
  uint32_t references;
  bool spoilt;
  uint64_t serial;
  size_t lane_count;
  size_t item_count;
  size_t* offsets; /* of the pieces; once it has ended */
  size_t replays;
  char* items;
  size_t size;
  size_t capacity;
};

static tenon_status_t add(far_recording_t* recording, const far_item_t* what, const void* payload,
                          size_t size) {
  const far_work_t* work = what->work;
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
  *item = *what;
  item->size = whole;
  if (size > 0) {
    memcpy(item + 1, payload, size);
  }
  recording->size += whole;
  ++recording->item_count;
  return TENON_OK;
}

tenon_status_t far_recording_add(far_recording_t* recording, size_t lane, const far_work_t* work,
                                 const void* payload, size_t size) {
  const far_item_t item = {.work = work, .lane = lane};
  return add(recording, &item, payload, size);
}

/* ---- Lanes ---- */

size_t far_recording_count(const far_recording_t* recording) {
  return recording->item_count;
}

uint64_t far_recording_serial(const far_recording_t* recording) {
  return recording->serial;
}

far_recording_t* far_recording_find(const tenon_device_t* device, uint64_t serial) {
  for (const far_queue_t* queue = device->queues; queue != NULL; queue = queue->next) {
    if (queue->recording != NULL && queue->recording->serial == serial) {
      return queue->recording;
    }
  }
  return NULL;
}

static tenon_status_t do_nothing(tenon_device_t* device, const void* payload, bool failed) {
  (void)device, (void)payload, (void)failed;
  return TENON_OK;
}

static const far_work_t joining = {.run = do_nothing, .flags = FAR_WORK_ALWAYS};

tenon_status_t far_recording_join(far_queue_t* queue, far_recording_t* recording, size_t after) {
  if (queue->recording == NULL && recording->lane_count < FAR_LANES) {
    queue->recording = recording;
    queue->lane = recording->lane_count++;
  }
  if (queue->recording != recording) {
    far_recording_spoil(recording);
    return TENON_ERROR_INVALID_STATE;
  }
  const far_item_t item = {.work = &joining, .lane = queue->lane, .after = after};
  return add(recording, &item, NULL, 0);
}

static const far_item_t* piece(const far_recording_t* recording, size_t index) {
  return (const void*)(recording->items + recording->offsets[index]);
}

static bool find_offsets(far_recording_t* recording) {
  size_t offset = 0;
  recording->offsets = calloc(recording->item_count + 1, sizeof(*recording->offsets));
  for (size_t k = 0; k < recording->item_count && recording->offsets != NULL; ++k) {
    recording->offsets[k] = offset;
    offset += piece(recording, k)->size;
  }
  return recording->offsets != NULL;
}

/* Does the first lane's end come behind everything? */
static bool is_joined(const far_recording_t* recording) {
  bool* reached = calloc(recording->item_count + 1, sizeof(*reached));
  bool awaited[FAR_LANES] = {true}; /* what comes next on the lane, backwards */
  bool joined = reached != NULL;
  for (size_t k = recording->item_count; k-- > 0 && joined;) {
    const far_item_t* item = piece(recording, k);
    reached[k] = reached[k] || awaited[item->lane];
    awaited[item->lane] = reached[k];
    joined = reached[k] || item->work == &joining;
    if (reached[k] && item->after > 0) {
      reached[item->after - 1] = true;
    }
  }
  free(reached);
  return joined;
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
  free(recording->offsets);
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
  recording->lane_count = 1;
  far_lock(device);
  recording->serial = ++device->recording_serial;
  stream->queue->recording = recording;
  stream->queue->lane = 0;
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
  if (recording != NULL && stream->queue->lane != 0) { /* another stream's to end */
    far_recording_spoil(recording);
    far_unlock(device);
    return TENON_ERROR_INVALID_STATE;
  }
  for (far_queue_t* queue = device->queues; queue != NULL && recording != NULL;
       queue = queue->next) {
    queue->recording = queue->recording == recording ? NULL : queue->recording;
  }
  if (status == TENON_OK && (recording == NULL || recording->spoilt || !find_offsets(recording) ||
                             !is_joined(recording))) {
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

/* The next piece of a lane, from `at` on, that is not done; the count where there is none. */
static size_t next_on(const far_recording_t* recording, size_t lane, size_t at) {
  while (at < recording->item_count && piece(recording, at)->lane != lane) {
    ++at;
  }
  return at;
}

typedef struct replaying_t {
  const far_recording_t* recording;
  size_t next[FAR_LANES];
  bool* done;
} replaying_t;

/* The piece that is done next. What was recorded has an order, so that there is one. */
static size_t choose_piece(replaying_t* r, bool last_first) {
  const size_t count = r->recording->lane_count;
  for (size_t k = 0; k < count; ++k) {
    const size_t lane = last_first ? count - 1 - k : k;
    r->next[lane] = next_on(r->recording, lane, r->next[lane]);
    const size_t at = r->next[lane];
    if (at == r->recording->item_count) {
      continue;
    }
    const size_t after = piece(r->recording, at)->after;
    if (after == 0 || r->done[after - 1]) {
      ++r->next[lane];
      return at;
    }
  }
  return 0;
}

/* Events in it are marked even after a failure, so that nobody waits for ever. */
static tenon_status_t run_replay(tenon_device_t* device, const void* payload, bool failed) {
  far_recording_t* recording = ((const replay_t*)payload)->recording;
  replaying_t r = {.recording = recording,
                   .done = calloc(recording->item_count + 1, sizeof(*r.done))};
  far_lock(device);
  const bool last_first = recording->replays++ % 2 == 0;
  far_unlock(device);
  const far_setting_t time =
      recording->lane_count > 1 ? FAR_SETTING_JOINED_TIME : FAR_SETTING_WORK_TIME;
  tenon_status_t status = r.done == NULL ? TENON_ERROR_OUT_OF_MEMORY : TENON_OK;
  for (size_t k = 0; k < recording->item_count && r.done != NULL; ++k) {
    const size_t at = choose_piece(&r, last_first);
    const far_item_t* item = piece(recording, at);
    const tenon_status_t now =
        far_work_do(device, item->work, item + 1, failed || status != TENON_OK, time);
    status = status == TENON_OK ? now : status;
    r.done[at] = true;
  }
  free(r.done);
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
