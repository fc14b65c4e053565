/* Rules of arguments and the places of a schedule. */
#ifndef TENON_CORE_LAYOUT_PLACE_RULES_H_
#define TENON_CORE_LAYOUT_PLACE_RULES_H_

#include "core/timing/tuning.h"

/* Do two orders (NULL: rows) put the elements of a tensor of that type to the same places? Axes of
 * one element have no place. */
bool tenon__orders_alike(const tenon__dim_pool_t* pool, const tenon__type_t* type,
                         const uint32_t* a, const uint32_t* b);
/* Is the value kept there in the type that the rule says (none, or NULL: its own)? */
bool tenon__place_is_of_type(const tenon__schedule_t* schedule, uint32_t place,
                             const tenon__value_node_t* value, const tenon_argument_rule_t* rule);
/* Can an argument with this rule (NULL: rows) be read where the place is, at all of the profile's
 * points? FOLLOWS counts as any order: see tenon__place_order. Where extents are known only in a
 * run, what is stored in rows is taken to be in rows. */
bool tenon__place_suits(const tenon__tuning_t* tuning, uint32_t graph,
                        const tenon__schedule_t* schedule, uint32_t place,
                        const tenon_argument_rule_t* rule);
/* Is its first element where the rule wants it? Part of the question above. */
bool tenon__place_is_aligned(const tenon__tuning_t* tuning, uint32_t graph,
                             const tenon__schedule_t* schedule, uint32_t place,
                             const tenon_argument_rule_t* rule);
/* The order of dimensions in which a place lies, NULL for rows; a view's by its strides, in the
 * arena. A view that is not dense counts as rows. OUT_OF_MEMORY only. */
tenon_status_t tenon__place_order(const tenon__tuning_t* tuning, uint32_t graph,
                                  const tenon__schedule_t* schedule, uint32_t place,
                                  tenon__arena_t* arena, const uint32_t** out_order);

#endif
