/*
 * State of a context on one of its engine's devices: streams, memory for activations and
 * workspaces, and the structure that it passes to kernels there.
 */
#ifndef TENON_CORE_FRAME_SPACE_H_
#define TENON_CORE_FRAME_SPACE_H_

#include "core/device/memory.h"
#include "core/kernel/instance.h"
#include "core/plan/plan.h"

/* All zero: not begun. Blocks have the plan's sizes. Scratch is for the threads of the pool. */
typedef struct tenon__space_t {
  tenon__memory_t memory; /* of the device, in the order of the stream */
  uint32_t lane_count;    /* streams on which parts of a recording may run in parallel */
  tenon_stream_t* lanes[TENON_LANE_LIMIT]; /* lanes[0] is the memory's */
  uint64_t lane_scratch[TENON_LANE_LIMIT]; /* offset of each stream's scratch */
  uint32_t event_count;
  tenon_event_t** events; /* with which streams wait for each other during recording */
  char* activations;
  char* scratch;
  char* zeroed;
  char* persistent;
  char* words;      /* status block that kernels write for the host: device_words.h */
  char* words_seen; /* the host's copy of it */
  uint64_t activation_bytes;
  uint64_t scratch_bytes;
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
  uint64_t words_bytes;
  bool is_busy;           /* work was enqueued since the host's last wait */
  bool writes_host;       /* this work includes a copy to the host */
  uint64_t wait_count;    /* number of the host's waits */
  struct tenon_run_t run; /* passed to kernels; the step's members are set before each call */
} tenon__space_t;

/* Allocates a space's streams and memory. The caller has set `memory`, except its stream, and
 * words_bytes. `stream` is a native handle of the caller, or NULL. Zeroed memory, persistent memory
 * and the status block begin with zeros. The message of OUT_OF_MEMORY gives the purpose and the
 * bytes. Call tenon__space_end in any case. */
tenon_status_t tenon__space_begin(tenon__space_t* space, const tenon__plan_t* plan, uint32_t device,
                                  uint32_t thread_count, void* stream, const tenon_sink_t* sink);
/* Creates events until there are at least `count`. */
tenon_status_t tenon__space_provide_events(tenon__space_t* space, uint32_t count);
/* Waits for enqueued work and frees everything. */
void tenon__space_end(tenon__space_t* space);
/* Clears the status block after a failed run. */
tenon_status_t tenon__space_clear_words(const tenon__space_t* space);
/* Waits for all work enqueued on the device. */
tenon_status_t tenon__space_settle(tenon__space_t* space);

#endif
