/*
 * What a context has on one of its engine's devices: streams, memory for activations and for what
 * kernels ask, and what it lends to a kernel that runs there.
 */
#ifndef TENON_CORE_FRAME_SPACE_H_
#define TENON_CORE_FRAME_SPACE_H_

#include "core/device/memory.h"
#include "core/kernel/instance.h"
#include "core/plan/plan.h"

/* All zero: nothing yet. Blocks are of the plan's sizes; scratch is for the threads of the pool. */
typedef struct tenon__space_t {
  tenon__memory_t memory; /* of the device, in the order of the stream */
  uint32_t lane_count;    /* streams on which a recording may go on beside one another */
  tenon_stream_t* lanes[TENON_LANE_LIMIT]; /* lanes[0] is the memory's */
  uint64_t lane_scratch[TENON_LANE_LIMIT]; /* where each lane's scratch begins */
  uint32_t event_count;
  tenon_event_t** events; /* with which lanes wait for one another while they are recorded */
  char* activations;
  char* scratch;
  char* zeroed;
  char* persistent;
  char* words;      /* what kernels leave for the host to read: device_words.h */
  char* words_seen; /* the host's copy of them */
  uint64_t activation_bytes;
  uint64_t scratch_bytes;
  uint64_t zeroed_bytes;
  uint64_t persistent_bytes;
  uint64_t words_bytes;
  bool is_busy;           /* work was enqueued since the host waited last */
  bool writes_host;       /* among it a copy to the host */
  uint64_t wait_count;    /* how often it did */
  struct tenon_run_t run; /* lent to kernels; the step's part is set before each */
} tenon__space_t;

/* What a space's `memory` is of, its stream apart, and words_bytes the caller has set. `stream`:
 * native handle of the caller's, or NULL. Zeroed and persistent memory and words begin with zeros.
 * OUT_OF_MEMORY says how many bytes of what were asked for. End it whatever it returns. */
tenon_status_t tenon__space_begin(tenon__space_t* space, const tenon__plan_t* plan, uint32_t device,
                                  uint32_t thread_count, void* stream, const tenon_sink_t* sink);
/* At least so many events. */
tenon_status_t tenon__space_provide_events(tenon__space_t* space, uint32_t count);
/* Waits for what is under way. */
void tenon__space_end(tenon__space_t* space);
/* What a run left there that failed says nothing about the next. */
tenon_status_t tenon__space_clear_words(const tenon__space_t* space);
/* Until all that was asked of the device is done. */
tenon_status_t tenon__space_settle(tenon__space_t* space);

#endif
