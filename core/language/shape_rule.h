/*
 * Rules for the shapes and contents of a node's outputs. All return INVALID_DATA if the text is
 * undefined for the node, UNSUPPORTED if a value must be known when building, or OUT_OF_MEMORY.
 * Results are in the arena.
 */
#ifndef TENON_CORE_LANGUAGE_SHAPE_RULE_H_
#define TENON_CORE_LANGUAGE_SHAPE_RULE_H_

#include "core/language/environment.h"

/* Computes the shapes of all output items, in order; `shapes` has one entry for each and is written
 * only on success. Outputs may use earlier ones. An absent output gets rank 0. Called once for each
 * inference of a node. Returns INVALID_DATA for an extent that is certainly negative, an axis
 * without a statement, or a rank above 64. */
tenon_status_t tenon__shape_rule_evaluate(const tenon__node_text_t* rule, tenon__fresh_t fresh,
                                          tenon__inferred_shape_t* shapes, uint32_t shape_count);
/* Broadcasts shapes by NumPy's rules. A symbolic extent with a known one above 1 gives the known
 * one, which the run checks. Extents s and t that may both be 1 give "s == 1 ? t : s", in the order
 * of their ids, so that the result does not depend on the order of the shapes. No shapes give rank
 * 0. Returns INVALID_DATA, with both shapes, for incompatible known extents. */
tenon_status_t tenon__shape_broadcast(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon__inferred_shape_t* shapes, uint32_t count,
                                      const tenon_sink_t* sink, tenon__inferred_shape_t* out_shape);
/* Computes the contents of output item `output` with known dims: one dimension for each element,
 * row-major. Sets inout_type's contents, or leaves them unchanged if the rule has none or there are
 * too many elements. Element i uses "y[i] = ..." , else "y[n] = ..." with n = i, else "y = ...". */
tenon_status_t tenon__contents_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                        const tenon__inferred_shape_t* shape,
                                        tenon__type_t* inout_type);

#endif
