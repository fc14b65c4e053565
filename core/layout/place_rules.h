/* Rules of arguments and the places of a schedule. */
#ifndef TENON_CORE_LAYOUT_PLACE_RULES_H_
#define TENON_CORE_LAYOUT_PLACE_RULES_H_

#include "core/timing/tuning.h"

/* Returns true if two orders (NULL: row-major) give the elements of a tensor of that type the same
 * addresses. Axes of extent 1 are ignored. */
bool tenon__orders_alike(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                         const uint32_t* a, const uint32_t* b);
/* Returns true if the place has the type of the rule (no type, or NULL: the value's own). */
bool tenon__place_is_of_type(const tenon__schedule_t* schedule, uint32_t place,
                             const tenon__value_node_t* value, const tenon_argument_rule_t* rule);
/* Returns true if an argument with this rule (NULL: row-major) can read the place, at all of the
 * profile's points. FOLLOWS counts as any order: see tenon__place_order. With data-dependent
 * extents, a place that is stored row-major is assumed to be row-major. */
bool tenon__place_suits(const tenon__tuning_t* tuning, uint32_t graph,
                        const tenon__schedule_t* schedule, uint32_t place,
                        const tenon_argument_rule_t* rule);
/* Returns true if its first element has the alignment of the rule. Part of the previous check. */
bool tenon__place_is_aligned(const tenon__tuning_t* tuning, uint32_t graph,
                             const tenon__schedule_t* schedule, uint32_t place,
                             const tenon_argument_rule_t* rule);
/* Returns the order of dimensions of a place, NULL for row-major; for a view from its strides, in
 * the arena. A view with gaps counts as row-major. Returns OUT_OF_MEMORY only. */
tenon_status_t tenon__place_order(const tenon__tuning_t* tuning, uint32_t graph,
                                  const tenon__schedule_t* schedule, uint32_t place,
                                  tenon__arena_t* arena, const uint32_t** out_order);

#endif
