/*
 * Converts the text of a case to the program of a node: an expression, with the shapes of its
 * outputs.
 */
#ifndef TENON_CORE_LANGUAGE_INSTANTIATE_H_
#define TENON_CORE_LANGUAGE_INSTANTIATE_H_

#include "core/language/environment.h"

/* Makes the program. `shapes` has the shape of each output item by a shape rule. NULL: shapes are
 * derived and written to out_shapes (one for each output item). Absent outputs are omitted from the
 * program. Operands of the result refer to inputs by the node's indices. Reduced axes of an output
 * keep extent 1 unless the INT attribute keepdims is 0; a given shape decides that by its rank. For
 * example, "y = sum(x, [1])" for x [2, s] is a program over the space [2, s] whose output has axes
 * [0, 1] and shape [2, 1]. Returns INVALID_DATA if the text is undefined for the node, UNSUPPORTED
 * if a value must be known when building, or beyond 64 axes or TENON__MOST_INSTRUCTIONS, or
 * OUT_OF_MEMORY. */
tenon_status_t tenon__expression_instantiate(const tenon__node_text_t* text,
                                             const tenon__inferred_shape_t* shapes,
                                             tenon__expression_t* out_expression,
                                             tenon__inferred_shape_t* out_shapes);

#endif
