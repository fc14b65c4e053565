/*
 * In-place concatenations: producers write values directly to the place of the concatenation that
 * reads them, so that no copy is needed. Chosen after units and layouts; the schedule makes the
 * places.
 */
#ifndef TENON_CORE_SCHEDULE_JOINS_H_
#define TENON_CORE_SCHEDULE_JOINS_H_

#include "core/fusion/unit.h"

/* The concatenation to which a value belongs. */
typedef struct join_part_t {
  uint32_t unit;   /* the unit of the concatenation; TENON_NONE: it has its own place */
  uint32_t source; /* of its map */
} join_part_t;

/* Lists in the tuning's arena. */
typedef struct joins_t {
  join_part_t* parts; /* per value */
  uint32_t* whole_of; /* per value: the in-place concatenation that makes it, or NONE */
} joins_t;

/* Chooses in-place concatenations. A value can be a part if the tactic of its producer supports
 * strided outputs and writes the order of the concatenation on the same device, all its other
 * readers accept strides, and memory for the whole can be planned. The schedule copies all other
 * inputs (constants, inputs, values that others need row-major, a value for the second time). A
 * concatenation is in place if that is not slower: the additional time of writers and readers, if
 * measured, is compared with the time of the move. Without times, the bytes that are not moved
 * decide. */
tenon_status_t tenon__joins_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   const tenon__units_t* units, joins_t* out_joins);

#endif
