/*
 * Functions of texts on tensors: ranks, extents, presence, types, coordinates. A tensor is a name
 * of an input or output, or an item of a variadic one; extents and ranks that are not known are
 * UNSUPPORTED, what an operator cannot mean is INVALID_DATA.
 *
 * They come out as known numbers where the scope knows them, as dimensions where only the run does:
 * dim(x, 0) of an input [batch, 3] is the symbol `batch`.
 */
#ifndef TENON_CORE_LANGUAGE_SHAPE_FUNCTIONS_H_
#define TENON_CORE_LANGUAGE_SHAPE_FUNCTIONS_H_

#include "core/language/environment.h"

tenon__function_t tenon__call_rank;       /* rank(x) */
tenon__function_t tenon__call_dim;        /* dim(x, k): negative k from the end */
tenon__function_t tenon__call_elements;   /* elements(x), elements(x, a, b): of axes a to b - 1 */
tenon__function_t tenon__call_count;      /* count(xs): items of a variadic port */
tenon__function_t tenon__call_sum_dim;    /* sum_dim(xs, k): of all items */
tenon__function_t tenon__call_same_dim;   /* same_dim(xs, k): that all items must have */
tenon__function_t tenon__call_before;     /* before(k, a): extents a of the items before item k */
tenon__function_t tenon__call_present;    /* present(x) */
tenon__function_t tenon__call_defined;    /* defined(attribute): set by the node, not defaulted */
tenon__function_t tenon__call_dtype;      /* dtype(x): the type's mnemonic */
tenon__function_t tenon__call_fresh;      /* fresh(bound), fresh(): shape rules only */
tenon__function_t tenon__call_coordinate; /* o(j), o(p..q): moves only */
tenon__function_t tenon__call_element; /* element(x, c0, c1, ...): an integer that the run reads */

#endif
