/* Reads a plan from an untrusted source. */
#ifndef TENON_CORE_PLAN_FILE_READER_H_
#define TENON_CORE_PLAN_FILE_READER_H_

#include "core/plan/plan.h"

/* A plan's bytes, and the function that finds its operators. */
typedef struct tenon__plan_source_t {
  const void* data;
  size_t size_bytes;
  tenon__find_operator_t find; /* as for tenon__network_read */
  void* find_user;
} tenon__plan_source_t;

/* Reads a plan and checks its structure: bounds, ids, kinds, program validity, offsets within the
 * arena, digest. Weights of the network point into the source's data, which must outlive the plan.
 * Returns INVALID_DATA with a message. */
tenon_status_t tenon__plan_read(tenon_allocator_t allocator, const tenon__plan_source_t* source,
                                const tenon_sink_t* sink, tenon__plan_t** out_plan);
/* Compares the digests of weights and packed weights with the recorded ones. `read_only`: only
 * those of weights that each run reads. */
tenon_status_t tenon__plan_verify(const tenon__plan_t* plan, bool read_only,
                                  const tenon_sink_t* sink);

#endif
