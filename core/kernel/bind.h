/* A prepared step bound to shapes. */
#ifndef TENON_CORE_KERNEL_BIND_H_
#define TENON_CORE_KERNEL_BIND_H_

#include "core/kernel/instance.h"

/* What a step is bound to. */
typedef struct tenon__bind_request_t {
  const tenon__extents_t* extents; /* for spaces and moves */
  /* Arguments as the kernel will see them (dims, strides; data may change later). */
  const tenon_argument_t* inputs;
  const tenon_argument_t* outputs;
  uint32_t thread_count; /* of the pool with which it will run */
} tenon__bind_request_t;

typedef struct tenon__bound_t tenon__bound_t;
/* Keeps a share of the instance, borrows nothing else: extents and arguments may go. The kernel's
 * words are passed on, with its status; what the plan says that cannot be is INVALID_DATA. */
tenon_status_t tenon__bound_create(tenon_allocator_t allocator, tenon__instance_t* instance,
                                   const tenon__bind_request_t* request, const tenon_sink_t* sink,
                                   tenon__bound_t** out_bound);
/* The kernel's unbind is called if its bind was. NULL is fine. */
void tenon__bound_destroy(tenon__bound_t* bound);

#endif
