/*
 * Conversions of a graph's values: a step that wants a value otherwise than it lies has a copy
 * before it, and that copy's time is a kernel's like any other. Asked for while layouts are chosen,
 * and by the schedule, which makes the copies. One thread.
 */
#ifndef TENON_CORE_CANDIDATE_CONVERSIONS_H_
#define TENON_CORE_CANDIDATE_CONVERSIONS_H_

#include "core/candidate/chosen.h"

/* Orders of a value's dimensions in memory, outermost first; NULL: rows. Borrowed. Compared as
 * pointers where they are remembered: the same layout's order, each time. In which types
 * (UNDEFINED: its own). And in whose memory: where times are asked for, that is known. */
typedef struct orders_t {
  const uint32_t* from;
  const uint32_t* to;
  tenon_dtype_t from_dtype;
  tenon_dtype_t to_dtype;
  uint32_t device;
} orders_t;

typedef struct conversions_t {
  tenon__tuning_t* tuning;
  uint32_t graph;
  tenon__arena_t* arena;
  struct known_conversion_t** known; /* per value: a list of those that were asked for */
  uint32_t* device_of;               /* per value: in whose memory its producer leaves it */
} conversions_t;

/* Those of one graph. What is found lies in the arena; the orders that are asked for have to live
 * as long. Coordinates of all values are made in the pool at once, so that the plan does not depend
 * on which conversions were asked for. */
tenon_status_t tenon__conversions_begin(tenon__tuning_t* tuning, uint32_t graph,
                                        tenon__arena_t* arena, conversions_t* out_conversions);
/* How long the copy takes, measured or as its kernel says; without a figure, too, where nobody can
 * make it. Found once. */
tenon_status_t tenon__conversions_time(conversions_t* conversions, uint32_t value, orders_t orders,
                                       tenon__time_t* out_time);

/* The copy as a region, in the arena, and who makes it; nobody is no error. The value is a tensor
 * of known rank. */
tenon_status_t tenon__conversion_choose(tenon__tuning_t* tuning, uint32_t graph, uint32_t value,
                                        orders_t orders, tenon__arena_t* arena,
                                        tenon__chosen_t* out_copy);

#endif
