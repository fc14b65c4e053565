/* Reads a plan, which may come from anybody. */
#ifndef TENON_CORE_PLAN_FILE_READER_H_
#define TENON_CORE_PLAN_FILE_READER_H_

#include "core/plan/plan.h"

/* Checks everything that is structure: bounds, ids, kinds, program validity, offsets within the
 * arena, digest. INVALID_DATA says what. Weights of the network point into `data`, which outlives
 * the plan. `find` as for tenon__network_read. */
tenon_status_t tenon__plan_read(tenon_allocator_t allocator, const void* data, size_t size_bytes,
                                tenon__find_operator_t find, void* find_user,
                                const tenon_sink_t* sink, tenon__plan_t** out_plan);
/* Digests of all weights and packed weights against those recorded. */
tenon_status_t tenon__plan_verify(const tenon__plan_t* plan, const tenon_sink_t* sink);

#endif
