/*
 * Internal structures of instances and bound steps, for the files that make and run them.
 *
 * A kernel's own memory is in two arenas. Memory allocated in prepare lives as long as the
 * instance, and memory allocated in bind as long as the binding.
 *
 * For other modules, both types are opaque (instance.h, bind.h).
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

/* Reference-counted: bound steps hold a reference, also after a refit has replaced the instance. */
struct tenon__instance_t {
  tenon_allocator_t allocator;
  _Atomic uint32_t reference_count;
  tenon__kernel_binding_t kernel;
  const struct tenon_region_t* region;
  const tenon__step_tactic_t* tactic;    /* borrowed, as the region is */
  const char* name;                      /* of the step; NULL: not needed in messages */
  const char* prefix;                    /* "name (operator, plugin:kernel): ", for messages */
  tenon__call_t running;                 /* enqueue, as the current call of a thread */
  void* prepared;                        /* the kernel's; may be NULL */
  bool is_prepared;                      /* the kernel's destroy must be called */
  struct tenon__packed_store_t* store;   /* borrowed; outlives all bound steps */
  struct tenon__packing_key_t* packings; /* packings of prepare, the last first */
  uint32_t packing_count;
  bool* packed;          /* for each of the region's values: it is the source of a packing */
  tenon__arena_t memory; /* allocated by prepare */
};

/* Bound for one frame: shapes, strides and places are fixed; data addresses may change between
 * runs. */
struct tenon__bound_t {
  tenon_allocator_t allocator;
  tenon__instance_t* instance;
  void* bound;   /* the kernel's */
  bool is_bound; /* the kernel's unbind must be called */
  bool writes_nothing;
  uint32_t input_count;
  uint32_t output_count;
  tenon__arena_t memory; /* allocated by bind, and moves */
};

/* Returns the call of another of the kernel's functions. */
static inline tenon__call_t tenon__instance_call(const tenon__instance_t* instance,
                                                 const char* function) {
  tenon__call_t call = instance->running;
  call.function = function;
  return call;
}

/* Reports the failure of a kernel that has sent no message itself. */
static inline tenon_status_t tenon__kernel_failed(const tenon__prefix_sink_t* heard,
                                                  const char* what, tenon_status_t status) {
  if (heard->error_count == 0) {
    tenon__report(&heard->sink, TENON_SEVERITY_ERROR, "the kernel cannot be %s: %s", what,
                  tenon__status_text(status));
  }
  return status;
}

#endif
