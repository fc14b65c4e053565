/*
 * Conversions of a graph's values. If a step needs a value in another form than the one in which it
 * is stored, a copy precedes the step. Kernels make these copies, and their times count like all
 * others. Used while layouts are chosen, and by the schedule, which adds the copies. One thread.
 */
#ifndef TENON_CORE_CANDIDATE_CONVERSIONS_H_
#define TENON_CORE_CANDIDATE_CONVERSIONS_H_

#include "core/candidate/chosen.h"

/* Orders of a value's dimensions in memory, outermost first; NULL: row-major. Borrowed. Known times
 * are found by comparing these pointers, so a layout must always pass the same array. The types are
 * those of the value before and after; UNDEFINED: the value's own. `device` is the memory that
 * holds it. It is known when times are requested. */
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
  struct known_conversion_t** known; /* per value: a list of the requested ones */
  uint32_t* device_of;               /* per value: device whose memory its producer writes */
} conversions_t;

/* Begins the conversions of one graph. Results are stored in the arena; the orders must live as
 * long. The coordinates of all values are created in the pool immediately, so that the plan does
 * not depend on the requested conversions. */
tenon_status_t tenon__conversions_begin(tenon__tuning_t* tuning, uint32_t graph,
                                        tenon__arena_t* arena, conversions_t* out_conversions);
/* Returns the time of the copy, measured or estimated by its kernel; unknown if no kernel can make
 * the copy. It is determined once. */
tenon_status_t tenon__conversions_time(conversions_t* conversions, uint32_t value, orders_t orders,
                                       tenon__time_t* out_time);

/* Makes the copy a region, in the arena, with its candidate. No candidate is not an error. The
 * value is a tensor of known rank. */
tenon_status_t tenon__conversion_choose(tenon__tuning_t* tuning, uint32_t graph, uint32_t value,
                                        orders_t orders, tenon__arena_t* arena,
                                        tenon__chosen_t* out_copy);

#endif
