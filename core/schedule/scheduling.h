/*
 * A schedule while it is made: places of values in the memory of devices, and steps. For this room
 * alone. Every value has a home, where its producer leaves it; a reader that wants it otherwise, or
 * elsewhere, gets a copy, made once.
 */
#ifndef TENON_CORE_SCHEDULE_SCHEDULING_H_
#define TENON_CORE_SCHEDULE_SCHEDULING_H_

#include "core/schedule/body_spaces.h"
#include "core/schedule/joins.h"
#include "core/timing/tuning.h"

/* Lists of the schedule lie in the plan's arena, tables over values and places in the tuning's. */
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
  uint32_t* state_spaces; /* per state: in whose memory it lies */
  uint32_t* output_of;    /* per value: output of the graph that it is home to, or TENON_NONE */
  const tenon__units_t* units;
  const tenon__body_spaces_t* spaces;
  joins_t joins; /* what is written in place */
} scheduling_t;

/* Behind the value's home, or as that. */
tenon_status_t tenon__scheduling_add_place(scheduling_t* s, const tenon__place_t* place,
                                           uint32_t* out_place);
tenon_status_t tenon__scheduling_add_step(scheduling_t* s, const tenon__step_t* step);
/* The step of a chosen region; one place for each of its inputs and outputs. */
tenon_status_t tenon__scheduling_add_kernel(scheduling_t* s, const tenon__chosen_t* chosen,
                                            const uint32_t* inputs, const uint32_t* outputs,
                                            const char* name);
/* A copy of `from` into a new place with that order of dimensions (NULL: rows), in the same memory.
 * UNSUPPORTED, with words, where no kernel of its device makes it. */
tenon_status_t tenon__scheduling_copy(scheduling_t* s, uint32_t from, const uint32_t* order,
                                      tenon__storage_t storage, uint32_t index,
                                      uint32_t* out_place);
/* Likewise into a place that is described, of the same value and in the same memory; a PART needs
 * a kernel that writes strides. */
tenon_status_t tenon__scheduling_copy_to(scheduling_t* s, uint32_t from, const tenon__place_t* to,
                                         uint32_t* out_place);
/* A copy of `from`, as it lies, in another memory: one of the two is the host's. */
tenon_status_t tenon__scheduling_cross(scheduling_t* s, uint32_t from, uint32_t space,
                                       tenon__storage_t storage, uint32_t index,
                                       uint32_t* out_place);
/* A place of the value in that memory, whatever its layout; brought there if there is none. */
tenon_status_t tenon__scheduling_bring(scheduling_t* s, uint32_t value, uint32_t space,
                                       uint32_t* out_place);
/* One that is as the rule says. INTERNAL where the value has no place yet. */
tenon_status_t tenon__scheduling_place_for(scheduling_t* s, uint32_t value, uint32_t space,
                                           const tenon_argument_rule_t* rule, uint32_t* out_place);

#endif
