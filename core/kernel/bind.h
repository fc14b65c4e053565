/* A prepared step bound to shapes. */
#ifndef TENON_CORE_KERNEL_BIND_H_
#define TENON_CORE_KERNEL_BIND_H_

#include "core/kernel/instance.h"

/* The arguments to which a step is bound. */
typedef struct tenon__bind_request_t {
  const tenon__extents_t* extents; /* for spaces and moves */
  /* Arguments as passed to the kernel (dims, strides; data may change later). */
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  uint32_t thread_count; /* of the thread pool of its runs */
} tenon__bind_request_t;

typedef struct tenon__bound_t tenon__bound_t;
/* Binds a kernel. Holds a reference to the instance and borrows nothing else. The kernel's messages
 * and status are passed on. Returns INVALID_DATA if the plan is inconsistent. */
tenon_status_t tenon__bound_create(tenon_allocator_t allocator, tenon__instance_t* instance,
                                   const tenon__bind_request_t* request, const tenon_sink_t* sink,
                                   tenon__bound_t** out_bound);
/* Returns true if no output has elements. The kernel is not called then. */
bool tenon__bound_writes_nothing(const tenon__bound_t* bound);
/* Calls the kernel's unbind if bind was called. NULL is accepted. */
void tenon__bound_destroy(tenon__bound_t* bound);

#endif
