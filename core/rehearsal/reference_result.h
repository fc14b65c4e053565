/*
 * What a region computes, node by node: expressions and moves by the core's own evaluator, the
 * others by their reference kernels, or by whoever computes them best on their own. Slow, and
 * independent of the kernels that compute the region at once.
 */
#ifndef TENON_CORE_REHEARSAL_REFERENCE_RESULT_H_
#define TENON_CORE_REHEARSAL_REFERENCE_RESULT_H_

#include "core/rehearsal/subject.h"
#include "core/timing/trial_data.h"

/* Outputs as dense rows, of large ones the part that trials look at, one for each of the region's
 * (data NULL where it is unwanted); in the tuning's arena are none of the bytes: `arena` holds
 * them. *out_known false: some node cannot be computed so, or finds its extents itself. A node is
 * computed once everything it reads from inside the region is there. With by_reference operators go
 * to reference kernels, so that the result is what the operator means; without, to whoever is
 * preferred, so that it is one more opinion. Fails with OUT_OF_MEMORY or CANCELLED alone: whatever
 * else goes wrong makes the result unknown. */
tenon_status_t tenon__reference_compute(const tenon__trial_data_t* data, tenon__ask_node_t ask_node,
                                        bool by_reference, tenon__arena_t* arena,
                                        tenon_tensor_view_t* out_outputs, bool* out_known);

#endif
