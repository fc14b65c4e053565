/*
 * Rules for the shapes and contents of a node's outputs. All fail with INVALID_DATA where the text
 * means nothing for the node, with UNSUPPORTED where something must be known when building, and
 * with OUT_OF_MEMORY. Results lie in the arena.
 */
#ifndef TENON_CORE_LANGUAGE_SHAPE_RULE_H_
#define TENON_CORE_LANGUAGE_SHAPE_RULE_H_

#include "core/language/environment.h"

/* Shapes of all output items, in order; `shapes` has one entry for each. Outputs may be said in
 * terms of those before them. An output that is not present gets rank 0. `shapes` is written on
 * success alone. INVALID_DATA for an extent that is negative for certain, an axis that no statement
 * gives, or a rank above 64. Called once for a node each time it is inferred. */
tenon_status_t tenon__shape_rule_evaluate(const tenon__node_text_t* rule, tenon__fresh_t fresh,
                                          tenon__inferred_shape_t* shapes, uint32_t shape_count);
/* Broadcast of shapes by NumPy's rules. A symbolic extent meets a known one > 1: the known one (the
 * run checks). Incompatible known extents: INVALID_DATA with both shapes in the message. Extents s
 * and t that may both be 1 make "s == 1 ? t : s", in the order of their ids, so that both ways
 * around give the same dimension. No shape at all: rank 0. */
tenon_status_t tenon__shape_broadcast(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon__inferred_shape_t* shapes, uint32_t count,
                                      const tenon_sink_t* sink, tenon__inferred_shape_t* out_shape);
/* Contents of output item `output` (dims known): one dimension for each element, row-major.
 * inout_type's are set, or stay as they are where the rule says nothing or there are too many.
 * Element i takes "y[i] = ..." , else "y[n] = ..." with n = i, else "y = ...". */
tenon_status_t tenon__contents_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                        const tenon__inferred_shape_t* shape,
                                        tenon__type_t* inout_type);

#endif
