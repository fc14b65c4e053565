/* Deep copies of expressions and index maps into an arena, for nodes whose meaning was made
 * elsewhere. */
#ifndef TENON_CORE_NETWORK_DEEP_COPY_H_
#define TENON_CORE_NETWORK_DEEP_COPY_H_

#include "core/program/program.h"
#include "core/tensor/index_map.h"

/* OUT_OF_MEMORY only. */
tenon_status_t tenon__expression_copy(tenon__arena_t* arena, const tenon__expression_t* expression,
                                      tenon__expression_t* out_expression);
tenon_status_t tenon__index_map_copy(tenon__arena_t* arena, const tenon__index_map_t* map,
                                     tenon__index_map_t* out_map);

#endif
