/* The value of a node with constant inputs and known extents. No kernel is used here: folding must
 * give the same numbers on all machines, and needs no device. */
#ifndef TENON_CORE_OPTIMIZER_EVALUATE_NODE_H_
#define TENON_CORE_OPTIMIZER_EVALUATE_NODE_H_

#include "core/base/arena.h"
#include "core/dimension/dimension.h"
#include "core/network/network.h"
#include "core/optimizer/rewriter.h"

/* Evaluates an expression of known extents. `tensors[k]` is operand k, contiguous. `outputs[o]` is
 * contiguous memory for output o. Scratch is from the arena. Linear in space and instructions.
 * Sends no messages. Returns UNSUPPORTED if an extent is unknown or an access is not affine. */
tenon_status_t tenon__evaluate_expression(tenon__dim_pool_t* pool,
                                          const tenon__expression_t* expression,
                                          const tenon_tensor_view_t* tensors,
                                          const tenon_tensor_view_t* outputs,
                                          tenon__arena_t* arena);
/* Returns a contiguous row-major view of weights (strides NULL), borrowed from the weights. */
tenon_tensor_view_t tenon__weights_view(const tenon__weights_t* weights);
/* Returns the view of constant `source` that equals a move of one source, without fill and with
 * known extents. Strides are in the arena. A transposed or sliced constant is then copied by its
 * strides, without a program. Returns false if it is no view, or a linear one, which keeps the
 * bytes unchanged. */
bool tenon__view_of_constant(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                             const tenon__weights_t* source, tenon__arena_t* arena,
                             tenon_tensor_view_t* out_view);
/* Writes the result of a move that concatenates constants, contiguous `sources`, along an axis of
 * contiguous `output`. Returns false for any other move, and for elements that are not whole
 * bytes. */
bool tenon__join_constants(tenon__dim_pool_t* pool, const tenon__index_map_t* map,
                           const tenon_tensor_view_t* sources, tenon__arena_t* arena,
                           const tenon_tensor_view_t* output);
/* Allocates contiguous zero-filled memory for an output of known extents from the network's
 * allocator, and returns its view, with arrays in the scratch of the visit. The caller owns the
 * bytes, and frees out_size_bytes of them or passes them to owning weights. Returns UNSUPPORTED if
 * an extent is unknown. */
tenon_status_t tenon__allocate_output(tenon__rewriter_t* rewriter, uint32_t graph, uint32_t value,
                                      tenon_tensor_view_t* out_view, size_t* out_size_bytes);

#endif
