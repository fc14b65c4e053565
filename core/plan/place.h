/*
 * Properties of a place that a plan knows before a run: whether its extents are settled, and its
 * size in bytes. Here "dynamic" means that they are data-dependent. An extent that depends on the
 * inputs' extents only is not dynamic, because it is known before the first step.
 */
#ifndef TENON_CORE_PLAN_PLACE_H_
#define TENON_CORE_PLAN_PLACE_H_

#include "core/plan/plan.h"

/* Maximum length of a chain of views. Walks along them are repeated and recursive. */
#define TENON_PLACE_MOST_VIEWS 512u

/* Returns true if they are data-dependent: on contents, extents that kernels find, or trip
 * counts. */
bool tenon__dims_are_dynamic(const tenon__dim_pool_t* pool, uint32_t rank, const tenon_dim_t* dims);
/* Same for a map: its extents, its sources' extents and its coordinates. */
bool tenon__map_is_dynamic(const tenon__dim_pool_t* pool, const tenon__index_map_t* map);
/* Returns true if the memory of the value cannot be planned: it is no tensor, has strings, dynamic
 * extents, or extents without a bound in `max`. Its place is GROWING if a step writes it. */
bool tenon__value_is_dynamic(const tenon__network_t* network, uint32_t graph, uint32_t value,
                             const tenon__extents_t* max);
/* Returns the type of the place's elements. */
static inline tenon_dtype_t tenon__place_dtype(const tenon__graph_t* graph,
                                               const tenon__place_t* place) {
  return place->dtype != TENON_DTYPE_UNDEFINED ? place->dtype
                                               : graph->values[place->value].type.dtype;
}
/* Computes the bytes of the place in its layout and order at these extents. Returns false if an
 * extent is unknown or negative, or the size overflows. A place of the ARENA is large enough for a
 * run only if this size, at the run's extents, is at most its size_bytes. A profile may contain
 * extents that shrink while others grow, so binding checks the size. */
bool tenon__place_bytes(const tenon__network_t* network, uint32_t graph,
                        const tenon__place_t* place, const tenon__extents_t* extents,
                        uint64_t* out_bytes);
/* Returns the place at the end of a chain of VIEW and PART, or `place` itself if it is neither.
 * Returns TENON_NONE if the chain leaves the table or is longer than TENON_PLACE_MOST_VIEWS. */
uint32_t tenon__place_root(const tenon__schedule_t* schedule, uint32_t place);
/* Returns true if both places, or their bases, are parts of one tensor with boxes that are disjoint
 * at all extents. A step may then read one and write the other. Returns false if this cannot be
 * proved. */
bool tenon__places_lie_apart(const tenon__network_t* network, uint32_t graph,
                             const tenon__schedule_t* schedule, uint32_t a, uint32_t b);
/* Returns the first place of the value in the host's memory, or TENON_NONE. Linear in places. */
uint32_t tenon__schedule_find(const tenon__schedule_t* schedule, uint32_t value);
/* Returns true if kernels among the first `before` steps write the whole place, row-major, in
 * planned memory. Then it may be stored in other memory during a run, because all its readers look
 * up its address. */
bool tenon__place_can_move(const tenon__schedule_t* schedule, uint32_t before, uint32_t place);
/* Sets is_dynamic of the places and steps of one graph's schedule. ARENA and OUTPUT places that
 * steps write and that cannot be planned become GROWING. An application's output is then copied
 * from the growing memory. Chains of views must end. Returns INTERNAL if a dynamic value is a
 * PART. */
tenon_status_t tenon__schedule_classify(tenon__plan_t* plan, uint32_t graph,
                                        const tenon_sink_t* sink);

/* Returns the bytes of one context's states in that device's memory. Double-buffered states count
 * twice. */
uint64_t tenon__plan_state_bytes(const tenon__plan_t* plan, uint32_t device);

#endif
