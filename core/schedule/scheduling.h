/*
 * A schedule under construction: places of values in the memory of devices, and steps. For this
 * module only. Each value has a home, the place that its producer writes. A reader that needs
 * another layout or another memory gets a copy, which is made once.
 */
#ifndef TENON_CORE_SCHEDULE_SCHEDULING_H_
#define TENON_CORE_SCHEDULE_SCHEDULING_H_

#include "core/schedule/body_spaces.h"
#include "core/schedule/joins.h"
#include "core/timing/tuning.h"

/* Lists of the schedule are in the plan's arena, tables over values and places in the tuning's. */
typedef struct scheduling_t {
  tenon__tuning_t* tuning;
  tenon__plan_t* plan;
  tenon__arena_t* arena; /* the plan's */
  uint32_t graph;
  const tenon__graph_t* g;
  tenon__schedule_t schedule;
  size_t place_capacity;
  size_t step_capacity;
  uint32_t* home;         /* per value: place, or TENON_NONE */
  uint32_t* next_copy;    /* per place: another place of the same value */
  uint32_t* state_spaces; /* per state: device with its memory */
  uint32_t* output_of;    /* per value: output of the graph at its home, or TENON_NONE */
  const tenon__units_t* units;
  const tenon__body_spaces_t* spaces;
  joins_t joins; /* in-place concatenations */
} scheduling_t;

/* Adds a place as the value's home, or after it. */
tenon_status_t tenon__scheduling_add_place(scheduling_t* s, const tenon__place_t* place,
                                           uint32_t* out_place);
tenon_status_t tenon__scheduling_add_step(scheduling_t* s, const tenon__step_t* step);
/* Adds the step of a chosen region, with one place for each of its inputs and outputs. */
tenon_status_t tenon__scheduling_add_kernel(scheduling_t* s, const tenon__chosen_t* chosen,
                                            const uint32_t* inputs, const uint32_t* outputs,
                                            const char* name);
/* Copies `from` to a new place with that order of dimensions (NULL: row-major), in the same memory.
 * Returns UNSUPPORTED with a message if no kernel of its device can copy it. */
tenon_status_t tenon__scheduling_copy(scheduling_t* s, uint32_t from, const uint32_t* order,
                                      tenon__storage_t storage, uint32_t index,
                                      uint32_t* out_place);
/* Same to a given place of the same value and in the same memory. A PART needs a kernel that
 * supports strided outputs. */
tenon_status_t tenon__scheduling_copy_to(scheduling_t* s, uint32_t from, const tenon__place_t* to,
                                         uint32_t* out_place);
/* Copies `from` with the same layout to another memory. One of the two is the host's. */
tenon_status_t tenon__scheduling_cross(scheduling_t* s, uint32_t from, uint32_t space,
                                       tenon__storage_t storage, uint32_t index,
                                       uint32_t* out_place);
/* Returns a place of the value in that memory, in any layout; copies the value there if there is
 * none. */
tenon_status_t tenon__scheduling_bring(scheduling_t* s, uint32_t value, uint32_t space,
                                       uint32_t* out_place);
/* Returns a place that satisfies the rule. Returns INTERNAL if the value has no place yet. */
tenon_status_t tenon__scheduling_place_for(scheduling_t* s, uint32_t value, uint32_t space,
                                           const tenon_argument_rule_t* rule, uint32_t* out_place);

#endif
