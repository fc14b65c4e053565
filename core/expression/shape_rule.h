/* The index language, instantiated for a node: shapes, contents, index maps, conditions, checks. */
#ifndef TENON_CORE_EXPRESSION_SHAPE_RULE_H_
#define TENON_CORE_EXPRESSION_SHAPE_RULE_H_

#include "core/expression/scope.h"
#include "core/expression/text.h"
#include "core/tensor/index_map.h"

typedef struct tenon__inferred_shape_t {
  uint32_t rank;
  const tenon_dim_t* dims;
} tenon__inferred_shape_t;

/* Makes an extent that only the run knows (output item `output`, axis `axis`), at most `bound`
 * (INVALID: unbounded). Given by the network. */
typedef tenon_dim_t (*tenon__fresh_t)(void* user, uint32_t output, uint32_t axis,
                                      tenon_dim_t bound);

/* A condition over attributes, ranks and presence; it must come out as a known number. Result 0
 * or 1. */
tenon_status_t tenon__condition_evaluate(const tenon__scope_t* scope,
                                         const tenon__syntax_t* condition, const tenon_sink_t* sink,
                                         bool* out_holds);
/* An expression that comes out as a known number: a count. The scope's outputs have their shapes.
 */
tenon_status_t tenon__count_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* count,
                                     const tenon_sink_t* sink, int64_t* out_count);
/* A check may be symbolic: what is not decided is taken to hold. On failure the message, with
 * {expr} replaced by values, is reported; INVALID_DATA. */
tenon_status_t tenon__check_evaluate(const tenon__scope_t* scope, const tenon__syntax_t* condition,
                                     const char* message, const tenon_sink_t* sink);
/* Shapes of all output items, in order; `shapes` has one entry for each. Results in the arena. */
tenon_status_t tenon__shape_rule_evaluate(const tenon__scope_t* scope, const tenon__text_t* rule,
                                          tenon__fresh_t fresh, void* fresh_user,
                                          tenon__arena_t* arena, const tenon_sink_t* sink,
                                          tenon__inferred_shape_t* shapes, uint32_t shape_count);
/* Broadcast of shapes by NumPy's rules. A symbolic extent meets a known one > 1: the known one (the
 * run checks). Incompatible known extents: INVALID_DATA with both shapes in the message. */
tenon_status_t tenon__shape_broadcast(tenon__dim_pool_t* pool, tenon__arena_t* arena,
                                      const tenon__inferred_shape_t* shapes, uint32_t count,
                                      const tenon_sink_t* sink, tenon__inferred_shape_t* out_shape);
/* Contents of output item `output` (dims known): one dimension expression for each element. */
tenon_status_t tenon__contents_evaluate(const tenon__scope_t* scope, const tenon__text_t* rule,
                                        uint32_t output, const tenon__inferred_shape_t* shape,
                                        tenon__arena_t* arena, const tenon_sink_t* sink,
                                        const tenon_dim_t** out_contents, uint32_t* out_count);
/* The index map of output item `output`, whose shape is given. */
tenon_status_t tenon__move_evaluate(const tenon__scope_t* scope, const tenon__text_t* rule,
                                    uint32_t output, const tenon__inferred_shape_t* shape,
                                    tenon__arena_t* arena, const tenon_sink_t* sink,
                                    tenon__index_map_t* out_map);
/* Contents through a move, element by element, where coordinates come out as known numbers;
 * *out_contents is NULL where they do not. `contents` of each node input as in the scope. */
tenon_status_t tenon__move_contents(const tenon__scope_t* scope, const tenon__index_map_t* map,
                                    tenon__arena_t* arena, const tenon_dim_t** out_contents,
                                    uint32_t* out_count);

#endif
