/*
 * Streams, events and graphs of the stand-in. Streams that wait for an event of a capture are
 * captured with it; what a graph does not put in an order comes in another one each time.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "streams.h"

/* Streams that wait for an event of a capture are captured with it, on lanes of their own. */
struct CUstream_st {
  uint64_t capture; /* its serial; none that is being captured: the stream is not */
  unsigned lane;
};
struct CUevent_st {
  bool recorded;
  uint64_t capture;    /* in which it was recorded last; 0: none */
  stand_in_work_t* at; /* behind this; NULL: at the beginning */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stand_in_list_t* captures; /* that go on */
static uint64_t capture_serial;

/* ---- Work ---- */

static void fill(const stand_in_work_t* work) {
  for (size_t row = 0; row < (work->height > 0 ? work->height : 1); row++) {
    char* target = (char*)work->target + row * work->pitch;
    if (work->element == 1) { /* many, most of the time */
      memset(target, (int)work->value, work->size);
    }
    for (size_t k = 0; k < work->size && work->element > 1; k += work->element) {
      memcpy(target + k, &work->value, work->element);
    }
  }
}

static void do_work(const stand_in_work_t* work) {
  if (work->kernel != NULL) {
    stand_in_run(work->kernel, &work->config, work->cluster, work->parameters);
  } else if (work->call != NULL) {
    work->call(work->parameters);
  } else if (work->source != NULL) {
    memmove(work->target, work->source, work->size);
  } else if (work->target != NULL) {
    fill(work);
  }
}

/* The capture of that number, which goes on; NULL. Under the lock. */
static stand_in_list_t* find_capture(uint64_t serial) {
  stand_in_list_t* found = captures;
  while (found != NULL && found->serial != serial) {
    found = found->next;
  }
  return found;
}

/* Behind what is on the lane. Under the lock. */
static void keep_work(stand_in_list_t* capture, unsigned lane, const stand_in_work_t* work) {
  stand_in_work_t* kept = malloc(sizeof(*kept));
  *kept = *work;
  kept->next = NULL;
  kept->lane = lane;
  if (work->parameters != NULL) {
    kept->parameters = aligned_alloc(64, (work->parameter_bytes + 63) / 64 * 64);
    memcpy(kept->parameters, work->parameters, work->parameter_bytes);
  }
  *capture->end = kept;
  capture->end = &kept->next;
  capture->last[lane] = kept;
}

CUresult stand_in_work(CUstream stream, const stand_in_work_t* work) {
  (void)pthread_mutex_lock(&lock);
  stand_in_list_t* capture = stream == NULL ? NULL : find_capture(stream->capture);
  if (capture == NULL) {
    do_work(work);
  } else {
    keep_work(capture, stream->lane, work);
  }
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

/* ---- Streams, events, graphs ---- */

static bool is_captured(CUstream stream) {
  (void)pthread_mutex_lock(&lock);
  const bool captured = find_capture(stream->capture) != NULL;
  (void)pthread_mutex_unlock(&lock);
  return captured;
}

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  *stream = calloc(1, sizeof(**stream));
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream stream) {
  stand_in_called(__func__);
  free(stream);
  return CUDA_SUCCESS;
}
CUresult cuStreamSynchronize(CUstream stream) {
  stand_in_called(__func__);
  return is_captured(stream) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  stand_in_called(__func__);
  *status = is_captured(stream) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  (void)pthread_mutex_lock(&lock);
  stand_in_list_t* capture = find_capture(event->capture);
  const stand_in_list_t* own = find_capture(stream->capture);
  CUresult result =
      own == capture || own == NULL ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  if (capture != NULL && own == NULL) {
    stream->capture = capture->serial;
    stream->lane = capture->lane_count++;
    result = stream->lane < STAND_IN_LANES ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  }
  if (capture != NULL && result == CUDA_SUCCESS) {
    const stand_in_work_t wait = {.after = event->at};
    keep_work(capture, stream->lane, &wait);
  }
  (void)pthread_mutex_unlock(&lock);
  return result;
}
CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  stand_in_called(__func__);
  (void)flags;
  *event = calloc(1, sizeof(**event));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent event) {
  stand_in_called(__func__);
  free(event);
  return CUDA_SUCCESS;
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  stand_in_called(__func__);
  (void)pthread_mutex_lock(&lock);
  const stand_in_list_t* capture = stream == NULL ? NULL : find_capture(stream->capture);
  event->recorded = true;
  event->capture = capture == NULL ? 0 : capture->serial;
  event->at = capture == NULL ? NULL : capture->last[stream->lane];
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}
CUresult cuEventSynchronize(CUevent event) {
  stand_in_called(__func__);
  (void)event;
  return CUDA_SUCCESS;
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  stand_in_called(__func__);
  *milliseconds = 1.0F;
  return begin->recorded && end->recorded ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  stand_in_called(__func__);
  (void)mode;
  if (is_captured(stream)) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  stand_in_list_t* capture = calloc(1, sizeof(*capture));
  (void)pthread_mutex_lock(&lock);
  capture->end = &capture->first;
  capture->lane_count = 1;
  capture->serial = ++capture_serial;
  capture->next = captures;
  captures = capture;
  stream->capture = capture->serial;
  stream->lane = 0;
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

bool stand_in_waits(const stand_in_work_t* work) {
  return work->kernel == NULL && work->call == NULL && work->target == NULL;
}

/* Marks what comes before what is marked: on its lane, and what that waited for. */
static bool mark_before(const stand_in_list_t* list) {
  stand_in_work_t* before[STAND_IN_LANES] = {NULL};
  bool changes = false;
  for (stand_in_work_t* work = list->first; work != NULL; work = work->next) {
    stand_in_work_t* reached[] = {before[work->lane], work->after};
    for (int k = 0; k < 2; k++) {
      if (work->is_reached && reached[k] != NULL && !reached[k]->is_reached) {
        reached[k]->is_reached = changes = true;
      }
    }
    before[work->lane] = work;
  }
  return changes;
}
/* Does the first lane's end come behind all work? */
static bool is_joined(const stand_in_list_t* list) {
  bool joined = true;
  if (list->last[0] != NULL) {
    list->last[0]->is_reached = true;
  }
  while (mark_before(list)) {
  }
  for (const stand_in_work_t* work = list->first; work != NULL; work = work->next) {
    joined = joined && (work->is_reached || stand_in_waits(work));
  }
  return joined;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  stand_in_called(__func__);
  (void)pthread_mutex_lock(&lock);
  stand_in_list_t* capture =
      stream->lane == 0 ? find_capture(stream->capture) : NULL; /* whose it is */
  *graph = (CUgraph)capture;
  for (stand_in_list_t** place = &captures; *place != NULL && capture != NULL;) {
    if (*place == capture) {
      *place = capture->next;
    } else {
      place = &(*place)->next;
    }
  }
  (void)pthread_mutex_unlock(&lock);
  if (capture == NULL) {
    return CUDA_ERROR_ILLEGAL_STATE;
  }
  return is_joined(capture) ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}
/* The executable takes the graph's work, and the graph is empty from then on. */
CUresult cuGraphInstantiate(CUgraphExec* recording, CUgraph graph, unsigned long long flags) {
  stand_in_called(__func__);
  stand_in_list_t* made = calloc(1, sizeof(*made));
  (void)flags;
  made->first = ((stand_in_list_t*)graph)->first;
  made->lane_count = ((stand_in_list_t*)graph)->lane_count;
  ((stand_in_list_t*)graph)->first = NULL;
  *recording = (CUgraphExec)made;
  return CUDA_SUCCESS;
}
static void free_list(stand_in_list_t* list) {
  while (list->first != NULL) {
    stand_in_work_t* work = list->first;
    list->first = work->next;
    free(work->parameters);
    free(work);
  }
  free(list);
}
CUresult cuGraphUpload(CUgraphExec recording, CUstream stream) {
  stand_in_called(__func__);
  (void)recording, (void)stream;
  return CUDA_SUCCESS;
}
/* The next piece of a lane that is not done; NULL. */
static stand_in_work_t* next_on(const stand_in_list_t* list, unsigned lane) {
  stand_in_work_t* work = list->first;
  while (work != NULL && (work->lane != lane || work->is_done)) {
    work = work->next;
  }
  return work;
}
/* In an order that is as good as any other: once the last lane goes on as far as it can before
 * others do, once the first. */
static void replay(stand_in_list_t* list) {
  const bool last_first = list->replays++ % 2 == 0;
  for (stand_in_work_t* work = list->first; work != NULL; work = work->next) {
    work->is_done = false;
  }
  for (unsigned k = 0; k < list->lane_count;) {
    stand_in_work_t* work = next_on(list, last_first ? list->lane_count - 1 - k : k);
    const bool may = work != NULL && (work->after == NULL || work->after->is_done);
    if (may) {
      do_work(work);
      work->is_done = true;
    }
    k = may ? 0 : k + 1; /* what was waited for may be done now */
  }
}
CUresult cuGraphLaunch(CUgraphExec recording, CUstream stream) {
  stand_in_called(__func__);
  (void)stream;
  (void)pthread_mutex_lock(&lock);
  replay((stand_in_list_t*)recording);
  (void)pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}
CUresult cuGraphDestroy(CUgraph graph) {
  stand_in_called(__func__);
  free_list((stand_in_list_t*)graph);
  return CUDA_SUCCESS;
}
CUresult cuGraphExecDestroy(CUgraphExec recording) {
  stand_in_called(__func__);
  free_list((stand_in_list_t*)recording);
  return CUDA_SUCCESS;
}
