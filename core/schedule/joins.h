/*
 * Concatenations in place: which values their producers write straight into the place of the
 * concatenation that reads them, so that nothing is left to move. Asked once units and layouts are
 * chosen; the schedule makes the places.
 */
#ifndef TENON_CORE_SCHEDULE_JOINS_H_
#define TENON_CORE_SCHEDULE_JOINS_H_

#include "core/fusion/unit.h"

/* Of one value: what it is a part of. */
typedef struct join_part_t {
  uint32_t unit;   /* of the units: the concatenation; TENON_NONE: it has a place of its own */
  uint32_t source; /* of its map */
} join_part_t;

/* Lists in the tuning's arena. */
typedef struct joins_t {
  join_part_t* parts; /* per value */
  uint32_t* whole_of; /* per value: the unit that it is made by, where that is in place; or NONE */
} joins_t;

/* A part is written by a kernel whose tactic takes strided outputs and would leave it in the order
 * in which the concatenation lies, on the same device; all who read it besides take strides, and
 * memory for the whole can be planned. What of the concatenation is none (constants, inputs, what
 * others want in rows, a value for the second time) the schedule copies. In place is what is no
 * slower: what writers and readers of parts take longer, where it may be measured, against the
 * move; without times the bytes that are not moved decide. */
tenon_status_t tenon__joins_choose(tenon__tuning_t* tuning, uint32_t graph,
                                   const tenon__units_t* units, joins_t* out_joins);

#endif
