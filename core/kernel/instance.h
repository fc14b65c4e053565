/*
 * A kernel's instance: one step prepared. It is bound (bind.h) and run (run.h) to time candidates,
 * to fold constants, and by contexts. This room is the only one that calls a kernel's functions.
 */
#ifndef TENON_CORE_KERNEL_INSTANCE_H_
#define TENON_CORE_KERNEL_INSTANCE_H_

#include <stdatomic.h>

#include "core/base/interrupt.h"
#include "core/base/thread_pool.h"
#include "core/kernel/kernel_binding.h"
#include "core/kernel/packed_store.h"
#include "core/plan/plan.h"

typedef struct tenon__instance_t tenon__instance_t;
/* What is prepared: one kernel for one region by one tactic. All is borrowed while the instance
 * lives, but for `kernel`, which is copied. */
typedef struct tenon__instance_request_t {
  const tenon__kernel_binding_t* kernel;
  const struct tenon_region_t* region;
  const tenon__step_tactic_t* tactic;
  const char* step_name; /* before messages, with operator, plugin and kernel; NULL: nothing is */
  tenon__packed_store_t* store; /* where weights are packed to */
} tenon__instance_request_t;

/* The kernel's own status when it cannot be prepared; it or this says why. Where the kernel has no
 * `prepare` there is nothing to fail but memory. Packing may take long, and finds what another
 * instance packed alike in the store. */
tenon_status_t tenon__instance_create(tenon_allocator_t allocator,
                                      const tenon__instance_request_t* request,
                                      const tenon_sink_t* sink, tenon__instance_t** out_instance);
/* The kernel may begin what takes long when the same is created. Nothing can fail that counts. */
void tenon__instance_ahead(tenon_allocator_t allocator, const tenon__instance_request_t* request);
/* Gives up the caller's share; it ends with the last step that is bound to it. Any thread; NULL is
 * fine. */
void tenon__instance_release(tenon__instance_t* instance);
/* Did the kernel pack this value of its region? */
bool tenon__instance_packs(const tenon__instance_t* instance, uint32_t value);
/* Does running read the bytes of this input of its region? Not of one that the kernel packed. */
bool tenon__instance_reads(const tenon__instance_t* instance, uint32_t input);

/* Is its kernel there to be right, not to be fast? */
bool tenon__instance_is_reference(const tenon__instance_t* instance);

/* What one execution lends to a kernel: the type behind tenon_run_t. One for each context. */
struct tenon_run_t {
  tenon__thread_pool_t* pool;
  tenon_stream_t* stream;
  void* scratch;
  void* zeroed;         /* of the step */
  void* persistent;     /* of the step */
  tenon_fault_t* fault; /* of the step, in its device's memory; NULL: nobody would read it */
  const tenon_sink_t* sink;
  uint32_t edge;                     /* TENON_EDGE_*: what stands before it on the stream */
  tenon__interrupt_t* interrupt;     /* NULL: the run goes to its end */
  const tenon__instance_t* instance; /* at work */
  bool failed;                       /* a kernel called fail */
  /* `parallel` is running; and a body called it, which nobody can wait for. */
  _Atomic bool in_parallel;
  _Atomic bool nested;
  tenon_status_t failure;
  /* Outputs without known extents: set by whoever calls, one for each output. */
  struct tenon__dynamic_buffer_t** buffers; /* NULL entries for outputs of known extents */
  uint32_t dynamic_count;
};

#endif
