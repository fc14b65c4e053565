/* Rules of moves: conversion to an index map, and contents of a move's output. */
#ifndef TENON_CORE_LANGUAGE_MOVE_RULE_H_
#define TENON_CORE_LANGUAGE_MOVE_RULE_H_

#include "core/language/environment.h"
#include "core/tensor/index_map.h"

/* Makes the index map of output item `output` with the given shape, in the text's arena. Sources
 * are in the order of their statements; the first one with coordinates in range supplies the
 * element. A variadic input has a source for each item, an absent one none. Returns INVALID_DATA if
 * a coordinate is missing, and UNSUPPORTED if the fill is not known to be one element. */
tenon_status_t tenon__move_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                    const tenon__inferred_shape_t* shape,
                                    tenon__index_map_t* out_map);
/* Computes the contents of a move's output, element by element, from the scope's contents of its
 * inputs. Sets inout_type's contents, or leaves them unchanged if coordinates are not known
 * numbers, for more than 1024 elements, and for a symbolic extent. A LINEAR map shares its source's
 * array. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__move_contents(const tenon__scope_t* scope, const tenon__index_map_t* map,
                                    tenon__arena_t* arena, tenon__type_t* inout_type);

#endif
