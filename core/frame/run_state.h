/* What all frames of a context share: memory on devices, extents, states, observers. One thread
 * writes it, the context's. */
#ifndef TENON_CORE_FRAME_RUN_STATE_H_
#define TENON_CORE_FRAME_RUN_STATE_H_

#include "core/base/interrupt.h"
#include "core/base/thread_pool.h"
#include "core/engine/engine_state.h"
#include "core/frame/observer.h"
#include "core/frame/space.h"

/* How a state becomes what it is to be. */
typedef enum tenon__state_way_t {
  TENON_STATE_STAYS,        /* it does not */
  TENON_STATE_IN_PLACE,     /* steps write over it */
  TENON_STATE_TURNS,        /* steps write `next`, which takes turns with `data` */
  TENON_STATE_COPIED,       /* the host copies it from another place, when the run is over */
  TENON_STATE_COPIED_ASIDE, /* likewise by way of `next`: the other place is of a state */
} tenon__state_way_t;

/* Dense rows. `next`: NULL where there is none. */
typedef struct tenon__state_memory_t {
  tenon__state_way_t way;
  uint32_t space; /* number of the device whose memory it is */
  void* data;
  void* next;
  size_t size_bytes;
} tenon__state_memory_t;

/* Spaces are its own, one for each of the plan's devices; arrays lie in its arena. */
typedef struct tenon__run_state_t {
  tenon_allocator_t allocator;
  tenon__engine_t* engine;
  tenon__arena_t arena; /* frames and arrays: made once */
  tenon__thread_pool_t* pool;
  tenon__space_t spaces[TENON_DEVICE_LIMIT];
  tenon__extents_t extents;
  tenon__extents_t bounds; /* likewise, what a run finds at its bound: device_words.h */
  bool has_bounds;         /* is there a value that lies at its bound? Else `bounds` is nothing */
  bool has_faults;         /* some step's kernel may tell one: device_words.h */
  bool awaits_collection;  /* enqueued, and the host has not waited yet */
  bool awaits_words;       /* likewise for what devices leave for the host to read */
  bool is_in_a_row;        /* all is recorded on one stream, whatever lanes the plan has */
  struct tenon__frame_t* frames;           /* per graph */
  int64_t (*input_dims)[TENON_RANK_LIMIT]; /* of each input, as set */
  tenon__state_memory_t* states;
  tenon__interrupt_t interrupt;
  tenon__observer_t observer;
  struct tenon__timing_t* timing; /* NULL: nobody asked */
  const tenon__device_t* watched; /* whose maker's tools want steps' names; NULL: none does */
} tenon__run_state_t;

/* Of a place whose storage is STATE or NEXT: where it is until the next update of states. */
static inline void* tenon__state_data(const tenon__run_state_t* run, const tenon__place_t* place) {
  const tenon__state_memory_t* state = &run->states[place->index];
  return place->storage == TENON_STORAGE_NEXT ? state->next : state->data;
}

#endif
