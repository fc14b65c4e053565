/*
 * The result of a region, computed node by node: expressions and moves by the core's own evaluator,
 * other nodes by their reference kernels, or by their preferred kernels. Slow, and independent of
 * the kernels that compute the region as a whole.
 */
#ifndef TENON_CORE_REHEARSAL_REFERENCE_RESULT_H_
#define TENON_CORE_REHEARSAL_REFERENCE_RESULT_H_

#include "core/rehearsal/subject.h"
#include "core/timing/trial_data.h"

/* Computes one contiguous row-major tensor for each of the region's outputs (data NULL if unused),
 * or the compared part of large ones. The bytes are in `arena`. With by_reference, reference
 * kernels compute operators, so the result is the operator's definition. Without, the preferred
 * kernels do, so it is one more independent result. *out_known is false if a node cannot be
 * computed this way, or has data-dependent extents. Returns OUT_OF_MEMORY or CANCELLED only; other
 * failures make the result unknown. */
tenon_status_t tenon__reference_compute(const tenon__trial_data_t* data, tenon__ask_node_t ask_node,
                                        bool by_reference, tenon__arena_t* arena,
                                        tenon_tensor_view_t* out_outputs, bool* out_known);

#endif
