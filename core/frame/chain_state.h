/* Consecutive steps of a frame that are recorded together: chains.h. */
#ifndef TENON_CORE_FRAME_CHAIN_STATE_H_
#define TENON_CORE_FRAME_CHAIN_STATE_H_

#include "core/frame/step_state.h"

/* A chain's steps with one set of extents and addresses. */
typedef struct tenon__recorded_t {
  const void** key;  /* of each step its bound kernel, and the addresses of its arguments */
  bool is_used;      /* the key is valid */
  bool was_enqueued; /* step by step, since its steps were bound */
  void* recording;   /* the device's; NULL: none yet */
  uint64_t used_at;
} tenon__recorded_t;

/* Steps that are recorded together: chains.h. Keys have `key_count` entries, in the arena. */
typedef struct tenon__chain_t {
  uint32_t first;
  uint32_t count;
  uint32_t device;
  const char* name; /* of its replays, for profiling tools; NULL: no tool needs it */
  uint32_t key_count;
  const void** key;     /* of the current run */
  uint64_t version;     /* of the frame's addresses for which `current` is valid; 0: none */
  uint32_t current;     /* of `recorded` */
  bool is_unrecordable; /* a recording failed: the steps are enqueued one by one */
  tenon__recorded_t recorded[TENON_FORM_LIMIT];
} tenon__chain_t;

#endif
