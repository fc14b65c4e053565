/* A chain on several streams: a step waits with an event for each step on another stream that reads
 * or writes the same memory (core/plan/branches.h). */
#include "core/step/lanes.h"

#include "core/base/status.h"
#include "core/plan/branches.h"

typedef struct lane_recording_t {
  tenon__frame_t* frame;
  const tenon__chain_t* chain;
  tenon__space_t* space;
  tenon__arena_t arena;
  tenon__ordering_t order;
  tenon__before_t* needs; /* per step: what it waits for on other lanes */
  uint32_t* events;       /* per step: which event says that it is done, or TENON_NONE */
  tenon__before_t end;    /* what lane 0 waits for at last, and has not waited for yet */
  uint32_t event_count;
  uint32_t edges[TENON_LANE_LIMIT];
  bool has_begun[TENON_LANE_LIMIT]; /* the lane's stream is being recorded */
} lane_recording_t;

bool tenon__chain_has_lanes(const tenon__frame_t* frame, const tenon__chain_t* chain) {
  const tenon__space_t* space = &frame->run->spaces[chain->device];
  bool has = false;
  for (uint32_t k = 0; k < chain->count && !has; ++k) {
    has = frame->schedule->steps[chain->first + k].lane > 0;
  }
  return has && space->lane_count > 1 && !frame->run->is_in_a_row;
}

static uint32_t lane_of(const lane_recording_t* r, uint32_t step) {
  return r->frame->schedule->steps[r->chain->first + step].lane;
}

/* ---- What waits for what ---- */

/* Where a root's memory is now. */
static void find_memory(const tenon__frame_t* frame, tenon__memory_use_t* use) {
  const tenon__place_t* place = &frame->schedule->places[use->root];
  const bool is_state =
      place->storage == TENON_STORAGE_STATE || place->storage == TENON_STORAGE_NEXT;
  const uint64_t size_bytes =
      is_state ? frame->run->states[place->index].size_bytes : place->size_bytes;
  use->begin = frame->places[use->root].data;
  use->end = use->begin == NULL ? NULL : use->begin + size_bytes;
}

static void ask_event(lane_recording_t* r, uint32_t step) {
  if (r->events[step] == TENON_NONE) {
    r->events[step] = r->event_count++;
  }
}

/* An event for the beginning, for lanes that wait for no step first, comes as number 0. */
static tenon_status_t find_needs(lane_recording_t* r) {
  const uint32_t count = r->chain->count;
  TENON_TRY(
      tenon__ordering_begin(&r->arena, r->frame->schedule, r->chain->first, count, &r->order));
  for (uint32_t k = 0; k < r->order.use_begin[count]; ++k) {
    find_memory(r->frame, &r->order.uses[k]);
  }
  r->needs = tenon__arena_allocate(&r->arena, count, sizeof *r->needs);
  r->events = tenon__arena_allocate(&r->arena, count, sizeof *r->events);
  TENON_TRY_MEMORY(r->needs != NULL && r->events != NULL);
  r->event_count = 1;
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t lane = lane_of(r, k);
    const uint32_t before = r->order.last.steps[lane];
    tenon__before_t known = {{0}};
    if (before > 0) {
      known = r->order.done[before - 1];
    }
    r->events[k] = TENON_NONE;
    tenon__ordering_needs(&r->order, &known, &r->needs[k]);
    tenon__ordering_place(&r->order, lane, &known);
    for (uint32_t other = 0; other < TENON_LANE_LIMIT; ++other) {
      if (r->needs[k].steps[other] > 0) {
        ask_event(r, r->needs[k].steps[other] - 1);
      }
    }
  }
  const uint32_t last = r->order.last.steps[0];
  const tenon__before_t known = last > 0 ? r->order.done[last - 1] : (tenon__before_t){{0}};
  for (uint32_t lane = 1; lane < TENON_LANE_LIMIT; ++lane) {
    if (r->order.last.steps[lane] > known.steps[lane]) {
      r->end.steps[lane] = r->order.last.steps[lane];
      ask_event(r, r->end.steps[lane] - 1);
    }
  }
  return TENON_OK;
}

/* ---- Enqueuing ---- */

static tenon_status_t wait_for(lane_recording_t* r, uint32_t lane, uint32_t event) {
  r->has_begun[lane] = true;
  r->edges[lane] = 0;
  return tenon__device_wait_event(r->space->memory.device, r->space->lanes[lane],
                                  r->space->events[event]);
}

static tenon_status_t enqueue_step(lane_recording_t* r, uint32_t step,
                                   tenon_status_t (*run)(tenon__frame_t*, uint32_t)) {
  const uint32_t lane = lane_of(r, step);
  struct tenon_run_t* lent = &r->space->run;
  for (uint32_t other = 0; other < TENON_LANE_LIMIT; ++other) {
    const uint32_t need = r->needs[step].steps[other];
    if (need > 0) {
      TENON_TRY(wait_for(r, lane, r->events[need - 1]));
    }
  }
  if (!r->has_begun[lane]) {
    TENON_TRY(wait_for(r, lane, 0));
  }
  lent->stream = r->space->lanes[lane];
  lent->edge = r->edges[lane];
  TENON_TRY(run(r->frame, r->chain->first + step));
  r->edges[lane] = lent->edge;
  return r->events[step] == TENON_NONE
             ? TENON_OK
             : tenon__device_record_event(r->space->memory.device, r->space->lanes[lane],
                                          r->space->events[r->events[step]]);
}

static tenon_status_t enqueue_all(lane_recording_t* r,
                                  tenon_status_t (*run)(tenon__frame_t*, uint32_t)) {
  r->has_begun[0] = true;
  TENON_TRY(
      tenon__device_record_event(r->space->memory.device, r->space->lanes[0], r->space->events[0]));
  for (uint32_t k = 0; k < r->chain->count; ++k) {
    TENON_TRY(enqueue_step(r, k, run));
  }
  for (uint32_t lane = 1; lane < TENON_LANE_LIMIT; ++lane) {
    if (r->end.steps[lane] > 0) {
      TENON_TRY(wait_for(r, 0, r->events[r->end.steps[lane] - 1]));
    }
  }
  return TENON_OK;
}

tenon_status_t tenon__frame_enqueue_lanes(tenon__frame_t* frame, const tenon__chain_t* chain,
                                          tenon_status_t (*run)(tenon__frame_t*, uint32_t step)) {
  tenon__space_t* space = &frame->run->spaces[chain->device];
  lane_recording_t recording = {.frame = frame, .chain = chain, .space = space};
  tenon__arena_initialize(&recording.arena, frame->run->allocator);
  tenon_status_t status = find_needs(&recording);
  if (status == TENON_OK) {
    status = enqueue_all(&recording, run);
  }
  space->run.stream = space->memory.stream;
  space->run.edge = 0;
  tenon__arena_deinitialize(&recording.arena);
  return status;
}
