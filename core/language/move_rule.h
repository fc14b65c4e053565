/* Texts of moves: to an index map, and contents through one. */
#ifndef TENON_CORE_LANGUAGE_MOVE_RULE_H_
#define TENON_CORE_LANGUAGE_MOVE_RULE_H_

#include "core/language/environment.h"
#include "core/tensor/index_map.h"

/* The index map of output item `output`, whose shape is given; it lies in the text's arena. Sources
 * stand in the order of their statements, of which the first whose coordinates are in range counts;
 * a variadic input is a source for each of its items, an absent one is none. INVALID_DATA where a
 * coordinate is missing, UNSUPPORTED where what fills is not known to be one element. */
tenon_status_t tenon__move_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                    const tenon__inferred_shape_t* shape,
                                    tenon__index_map_t* out_map);
/* Contents through a move, element by element, where coordinates come out as known numbers; those
 * of inputs are the scope's. inout_type's are set, or stay as they are: also for more than 1024
 * elements or an open extent. A LINEAR map's are its source's own array. OUT_OF_MEMORY only. */
tenon_status_t tenon__move_contents(const tenon__scope_t* scope, const tenon__index_map_t* map,
                                    tenon__arena_t* arena, tenon__type_t* inout_type);

#endif
