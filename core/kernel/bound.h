/*
 * The insides of instances and bound steps, shared by the files that make and run them.
 *
 * Memory of a kernel's own lies in two arenas: what it allocates while it is prepared lives as long
 * as the instance, what it allocates while it is bound as long as the binding.
 *
 * The other rooms know both types by name alone (instance.h, bind.h).
 */
#ifndef TENON_CORE_KERNEL_BOUND_H_
#define TENON_CORE_KERNEL_BOUND_H_

#include "core/base/call.h"
#include "core/base/status.h"

#include "core/kernel/kernel_binding.h"
#include "core/plan/plan.h"

typedef struct tenon__packing_key_t {
  tenon__digest_t key;
  struct tenon__packing_key_t* next;
} tenon__packing_key_t;

/* Counted: whoever is bound to it keeps it, also when a refit has put another in its place. */
struct tenon__instance_t {
  tenon_allocator_t allocator;
  _Atomic uint32_t reference_count;
  tenon__kernel_binding_t kernel;
  const struct tenon_region_t* region;
  const tenon__step_tactic_t* tactic;    /* borrowed, as the region is */
  const char* name;                      /* of the step; NULL: nobody needs to be told which */
  const char* prefix;                    /* "name (operator, plugin:kernel): ", for messages */
  tenon__call_t running;                 /* enqueue, for who asks where a thread is */
  void* prepared;                        /* the kernel's; NULL is as good as any */
  bool is_prepared;                      /* so the kernel's destroy is owed */
  struct tenon__packed_store_t* store;   /* borrowed: outlives whoever is bound to it */
  struct tenon__packing_key_t* packings; /* what prepare packed, the last first */
  uint32_t packing_count;
  bool* packed; /* of each of the region's values: did prepare name it as a packing's source? */
  tenon__arena_t memory; /* what prepare allocates */
};

/* Of one frame: shapes, strides and places are settled; data may move from run to run. */
struct tenon__bound_t {
  tenon_allocator_t allocator;
  tenon__instance_t* instance;
  void* bound;   /* the kernel's */
  bool is_bound; /* so its unbind is owed */
  uint32_t input_count;
  uint32_t output_count;
  tenon__arena_t memory; /* what bind allocates, and moves */
};

/* Another of the kernel's functions. */
static inline tenon__call_t tenon__instance_call(const tenon__instance_t* instance,
                                                 const char* function) {
  tenon__call_t call = instance->running;
  call.function = function;
  return call;
}

/* A kernel that fails should say why; where it does not, this says that it did. */
static inline tenon_status_t tenon__kernel_failed(const tenon__prefix_sink_t* heard,
                                                  const char* what, tenon_status_t status) {
  if (heard->error_count == 0) {
    tenon__report(&heard->sink, TENON_SEVERITY_ERROR, "the kernel cannot be %s: %s", what,
                  tenon__status_text(status));
  }
  return status;
}

#endif
