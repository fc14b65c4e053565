/* The value of a node whose inputs are constants and whose extents are known. Kernels are not asked
 * here: folding must give the same numbers on every machine, and needs no device. */
#ifndef TENON_CORE_OPTIMIZER_EVALUATE_NODE_H_
#define TENON_CORE_OPTIMIZER_EVALUATE_NODE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/network/network.h"
#include "core/optimizer/rewriter.h"

/* Evaluates an expression of known extents. `tensors[k]`: operand k, dense; `outputs[o]`: dense
 * memory for output o. Scratch from the arena. Silent. UNSUPPORTED where an extent is open or an
 * access is not affine. Linear in space and instructions. */
tenon_status_t tenon__evaluate_expression(tenon__dim_pool_t* pool,
                                          const tenon__expression_t* expression,
                                          const tenon_tensor_view_t* tensors,
                                          const tenon_tensor_view_t* outputs,
                                          tenon__arena_t* arena);
/* A dense view of weights. strides NULL: rows. It borrows from the weights. */
tenon_tensor_view_t tenon__weights_view(const tenon__weights_t* weights);
/* A view of constant `source` that a move of one source, without fill and of known extents, is:
 * strides in the arena. False when it is no view, or a linear one: those keep the bytes as they
 * are. A transposed or sliced constant is copied by its strides, without a program. */
bool tenon__view_of_constant(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                             const tenon__weights_t* source, tenon__arena_t* arena,
                             tenon_tensor_view_t* out_view);
/* Writes what a move of constants, dense `sources`, makes when it puts them one after the other
 * along an axis of dense `output`. False when it does anything else, or elements are no bytes. */
bool tenon__join_constants(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                           const tenon_tensor_view_t* sources, tenon__arena_t* arena,
                           const tenon_tensor_view_t* output);
/* Dense memory for an output of known extents, from the network's allocator and zero-filled; its
 * view, whose arrays lie in the scratch of the visit. UNSUPPORTED when an extent is not known. The
 * bytes are the caller's, who frees out_size_bytes of them or hands them to weights that own them.
 */
tenon_status_t tenon__allocate_output(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value,
                                      tenon_tensor_view_t* out_view, size_t* out_size_bytes);

#endif
