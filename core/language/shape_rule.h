/* The index language, instantiated for a node: shapes, contents, index maps, conditions, checks. */
#ifndef TENON_CORE_LANGUAGE_SHAPE_RULE_H_
#define TENON_CORE_LANGUAGE_SHAPE_RULE_H_

#include "core/dimension/shape.h"
#include "core/language/scope.h"
#include "core/language/text.h"

/* Makes an extent that only the run knows (output item `output`, axis `axis`), at most `bound`
 * (INVALID: unbounded). Given by the network. */
typedef tenon_dim_t (*tenon__fresh_t)(void* user, uint32_t output, uint32_t axis,
                                      tenon_dim_t bound);

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

#endif
