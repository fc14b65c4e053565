/*
 * What a plan can know of a place before it runs: whether its extents are settled, how many bytes
 * it takes. Dynamic here means: depends on what only the run finds. An extent that depends on the
 * inputs' alone is not: it is known before the first step.
 */
#ifndef TENON_CORE_PLAN_PLACE_H_
#define TENON_CORE_PLAN_PLACE_H_

#include "core/plan/plan.h"

/* Views of views of views: walks along them are repeated, and recur. */
#define TENON_PLACE_MOST_VIEWS 512u

/* Do they depend on what only the run finds: contents, extents made by kernels, trip counts? */
bool tenon__dims_are_dynamic(const tenon__dim_pool_t* pool, uint32_t rank, const tenon_dim_t* dims);
/* Likewise for a map: its extents, its sources' and its coordinates. */
bool tenon__map_is_dynamic(const tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* A value whose memory cannot be planned: no tensor, strings, dynamic extents, or extents without a
 * bound in `max`. Its place is GROWING when a step writes it. */
bool tenon__value_is_dynamic(const tenon__network_t* network, uint32_t graph, uint32_t value,
                             const tenon__extents_t* max);
/* In which type the place keeps its elements. */
static inline tenon_dtype_t tenon__place_dtype(const tenon__graph_t* graph,
                                               const tenon__place_t* place) {
  return place->dtype != TENON_DTYPE_UNDEFINED ? place->dtype
                                               : graph->values[place->value].type.dtype;
}
/* Bytes of the place in its layout and order at these extents. False when an extent is unknown or
 * negative, or the product overflows. A place of the ARENA holds what a run puts there only if
 * this, at the run's extents, is at most its size_bytes: extents that shrink while others grow can
 * break that within a profile, so whoever binds asks. */
bool tenon__place_bytes(const tenon__network_t* network, uint32_t graph,
                        const tenon__place_t* place, const tenon__extents_t* extents,
                        uint64_t* out_bytes);
/* The place at the end of a chain of VIEW and PART; `place` itself when it is neither. TENON_NONE
 * when the chain leaves the table or is longer than TENON_PLACE_MOST_VIEWS. */
uint32_t tenon__place_root(const tenon__schedule_t* schedule, uint32_t place);
/* Are both, or what they are views of, parts of one tensor whose boxes share no element at any
 * extents? Who reads the one may then write the other. False where that cannot be proved. */
bool tenon__places_lie_apart(const tenon__network_t* network, uint32_t graph,
                             const tenon__schedule_t* schedule, uint32_t a, uint32_t b);
/* The first place of the value in the host's memory, TENON_NONE when it has none. Linear in places.
 */
uint32_t tenon__schedule_find(const tenon__schedule_t* schedule, uint32_t value);
/* Is the place made whole by kernels among the first `before` steps, in rows, in memory that is
 * planned? Then it may lie in another's memory for a run: all who read it look it up. */
bool tenon__place_can_move(const tenon__schedule_t* schedule, uint32_t before, uint32_t place);
/* Fills is_dynamic of the places and steps of one graph's schedule. What steps write in memory that
 * cannot be planned (ARENA, OUTPUT) becomes GROWING: an application's output too, which is then
 * copied out of it. Chains of views must end. INTERNAL when a dynamic value was to be written in
 * place as a PART. */
tenon_status_t tenon__schedule_classify(tenon__plan_t* plan, uint32_t graph,
                                        const tenon_sink_t* sink);

/* States of one context in that device's memory: twice where they take turns. */
uint64_t tenon__plan_state_bytes(const tenon__plan_t* plan, uint32_t device);

#endif
