/*
 * A kernel's instance: one step prepared. It is bound (bind.h) and run (run.h) to time candidates,
 * to fold constants, and by contexts. Only this module calls a kernel's functions.
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
/* A request: one kernel for one region by one tactic. Everything is borrowed while the instance
 * lives, except `kernel`, which is copied. */
typedef struct tenon__instance_request_t {
  const tenon__kernel_binding_t* kernel;
  const struct tenon_region_t* region;
  const tenon__step_tactic_t* tactic;
  const char* step_name; /* prefix of messages, with operator, plugin and kernel; NULL: no prefix */
  tenon__packed_store_t* store; /* for packed weights */
} tenon__instance_request_t;

/* Prepares a kernel. Returns the kernel's status if it cannot be prepared; the kernel or this
 * function sends a message. A kernel without `prepare` fails only if out of memory. Packing may
 * take long, and reuses equal packed weights of another instance from the store. */
tenon_status_t tenon__instance_create(tenon_allocator_t allocator,
                                      const tenon__instance_request_t* request,
                                      const tenon_sink_t* sink, tenon__instance_t** out_instance);
/* Lets the kernel begin slow preparations for a later tenon__instance_create of the same request.
 * Failures are ignored. */
void tenon__instance_ahead(tenon_allocator_t allocator, const tenon__instance_request_t* request);
/* Releases the caller's reference. The instance is destroyed with the last step that is bound to
 * it. Any thread; NULL is accepted. */
void tenon__instance_release(tenon__instance_t* instance);
/* Returns true if the kernel has packed this value of its region. */
bool tenon__instance_packs(const tenon__instance_t* instance, uint32_t value);
/* Returns true if runs read the bytes of this input of its region. False for an input that the
 * kernel has packed. */
bool tenon__instance_reads(const tenon__instance_t* instance, uint32_t input);

/* Returns true if its kernel is a reference kernel. */
bool tenon__instance_is_reference(const tenon__instance_t* instance);

/* Resources that an execution passes to a kernel: the type behind tenon_run_t. One for each
 * context. */
struct tenon_run_t {
  tenon__thread_pool_t* pool;
  tenon_stream_t* stream;
  void* scratch;
  void* zeroed;         /* of the step */
  void* persistent;     /* of the step */
  tenon_fault_t* fault; /* of the step, in its device's memory; NULL: data errors are not read */
  const tenon_sink_t* sink;
  uint32_t edge;                     /* TENON_EDGE_*: the preceding work on the stream */
  tenon__interrupt_t* interrupt;     /* NULL: the run cannot be cancelled */
  const tenon__instance_t* instance; /* currently running */
  bool failed;                       /* a kernel called fail */
  /* `parallel` is running; and a body called it, which would deadlock. */
  _Atomic bool in_parallel;
  _Atomic bool nested;
  tenon_status_t failure;
  /* Outputs without known extents: set by the caller, one for each output. */
  struct tenon__dynamic_buffer_t** buffers; /* NULL entries for outputs of known extents */
  uint32_t dynamic_count;
};

#endif
