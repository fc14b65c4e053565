/*
 * From the text of a case to the program of a node: an expression, with the shapes of its outputs.
 */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_H_

#include "core/language/environment.h"

/* `shapes`: of each output item, by a shape rule; or NULL: derived here and written to out_shapes
 * (one for each output item). INVALID_DATA where the text means nothing for the node, UNSUPPORTED
 * where something must be known when building, OUT_OF_MEMORY. Outputs that are not present are left
 * out of the program; an operand of the result names its input by the node's number. Reduced axes
 * of an output keep extent 1 unless the INT attribute keepdims is 0; a given shape decides that by
 * its rank. "y = sum(x, [1])" of x [2, s] is a program over the space [2, s] whose one output has
 * axes [0, 1] and shape [2, 1]. UNSUPPORTED also beyond 64 axes or TENON__MOST_INSTRUCTIONS. */
tenon_status_t tenon__expression_instantiate(const tenon__node_text_t* text,
                                             const tenon__inferred_shape_t* shapes,
                                             tenon__expression_t* out_expression,
                                             tenon__inferred_shape_t* out_shapes);

#endif
