/* Data that all frames of a context share: memory on devices, extents, states, observers. Only the
 * context's thread writes it. */
#ifndef TENON_CORE_FRAME_RUN_STATE_H_
#define TENON_CORE_FRAME_RUN_STATE_H_

#include "core/base/interrupt.h"
#include "core/base/thread_pool.h"
#include "core/engine/engine_state.h"
#include "core/frame/observer.h"
#include "core/frame/space.h"

/* The way in which a state is updated. */
typedef enum tenon__state_way_t {
  TENON_STATE_STAYS,        /* it is not updated */
  TENON_STATE_IN_PLACE,     /* steps overwrite it */
  TENON_STATE_TURNS,        /* double-buffered: steps write `next`, later exchanged with `data` */
  TENON_STATE_COPIED,       /* the host copies it from another place after the run */
  TENON_STATE_COPIED_ASIDE, /* same through `next`, as the other place is that of a state */
} tenon__state_way_t;

/* Row-major and contiguous. `next` may be NULL. */
typedef struct tenon__state_memory_t {
  tenon__state_way_t way;
  uint32_t space; /* number of the device whose memory it is */
  void* data;
  void* next;
  size_t size_bytes;
} tenon__state_memory_t;

/* It owns the spaces, one for each of the plan's devices. Arrays are in its arena. */
typedef struct tenon__run_state_t {
  tenon_allocator_t allocator;
  tenon__engine_t* engine;
  tenon__arena_t arena; /* frames and arrays, allocated once */
  tenon__thread_pool_t* pool;
  tenon__space_t spaces[TENON_DEVICE_LIMIT];
  tenon__extents_t extents;
  tenon__extents_t bounds; /* same, with data-dependent extents at their bounds: device_words.h */
  bool has_bounds;         /* a value is stored at its bound; if false, `bounds` is unused */
  bool has_faults;         /* a step's kernel may report data errors: device_words.h */
  bool awaits_collection;  /* work was enqueued, and the host has not waited yet */
  bool awaits_words;       /* status blocks with extents are being copied to the host */
  bool awaits_faults;      /* status blocks with data errors alone are on the devices */
  bool is_in_a_row;        /* all steps are recorded on one stream; the plan's lanes are ignored */
  struct tenon__frame_t* frames;           /* per graph */
  int64_t (*input_dims)[TENON_RANK_LIMIT]; /* of each input, as set */
  tenon__state_memory_t* states;
  tenon__interrupt_t interrupt;
  tenon__observer_t observer;
  struct tenon__timing_t* timing; /* NULL: not requested */
  const tenon__device_t* watched; /* device whose vendor's tools need steps' names; NULL: none */
} tenon__run_state_t;

/* Returns the address of a place with storage STATE or NEXT, valid until the next update of
 * states. */
static inline void* tenon__state_data(const tenon__run_state_t* run, const tenon__place_t* place) {
  const tenon__state_memory_t* state = &run->states[place->index];
  return place->storage == TENON_STORAGE_NEXT ? state->next : state->data;
}

#endif
