/* Texts of moves: to an index map, and contents through one. */
#ifndef TENON_CORE_LANGUAGE_MOVE_RULE_H_
#define TENON_CORE_LANGUAGE_MOVE_RULE_H_

#include "core/language/environment.h"
#include "core/tensor/index_map.h"

/* The index map of output item `output`, whose shape is given; it lies in the text's arena. */
tenon_status_t tenon__move_evaluate(const tenon__node_text_t* rule, uint32_t output,
                                    const tenon__inferred_shape_t* shape,
                                    tenon__index_map_t* out_map);
/* Contents through a move, element by element, where coordinates come out as known numbers;
 * *out_contents is NULL where they do not. `contents` of each node input as in the scope. */
tenon_status_t tenon__move_contents(const tenon__scope_t* scope, const tenon__index_map_t* map,
                                    tenon__arena_t* arena, const tenon_dim_t** out_contents,
                                    uint32_t* out_count);

#endif
