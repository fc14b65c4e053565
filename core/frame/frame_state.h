/* A frame: one graph of a plan in execution. It has memory for each place, and arguments and a
 * bound kernel for each step. Bodies reuse their frames from iteration to iteration. */
#ifndef TENON_CORE_FRAME_FRAME_STATE_H_
#define TENON_CORE_FRAME_FRAME_STATE_H_

#include "core/frame/chain_state.h"
#include "core/frame/run_state.h"
#include "core/frame/step_state.h"

/* Use of a value's numbers when they are available: set symbols from them, or compare them with the
 * plan. */
enum { TENON_NUMBERS_LEARNT = 1u << 0, TENON_NUMBERS_COMPARED = 1u << 1 };

/* A symbol for an extent of a value that was replaced, and the expression of the extent in the
 * value's shape. */
typedef struct tenon__following_t {
  uint32_t symbol;
  tenon_dim_t dim;
} tenon__following_t;

/* Lists are in the run's arena. `schedule` and `requirements` belong to the plan. places[p],
 * numbers[p], steps[k] and repeats[k] have the indices of the schedule's places and steps. */
typedef struct tenon__frame_t {
  tenon__run_state_t* run;
  uint32_t graph;
  const tenon__schedule_t* schedule;
  char* memory[TENON_DEVICE_LIMIT]; /* of each device's activations: the graph's part */
  tenon__place_state_t* places;
  tenon__step_state_t* steps;
  uint8_t* numbers;     /* of each place: TENON_NUMBERS_* */
  uint32_t found_count; /* symbols that this graph's own steps find in each run */
  uint32_t* found;
  uint32_t sizing_count; /* views whose numbers are extents of other values; no step writes them */
  uint32_t* sizing;
  uint32_t given_count; /* places that no step writes and whose numbers a run reads */
  uint32_t* given;
  uint32_t following_count;
  tenon__following_t* following;
  tenon__at_bound_t* at_bounds; /* in the order of the steps that write them */
  uint32_t at_bound_count;
  bool learns;      /* a run finds extents, or reads numbers */
  bool is_bound;    /* static steps are bound */
  uint64_t version; /* incremented whenever an address or a bound step may have changed */
  uint64_t clock;   /* time stamps of the last use of forms */
  uint32_t chain_count;
  tenon__chain_t* chains;                 /* in order */
  struct tenon__repeat_state_t** repeats; /* per step, after its first run */
  uint32_t requirement_count;
  const tenon__requirement_t* requirements; /* of this graph, part of the plan */
  uint64_t checked_version;                 /* version of the extents for which they were checked */
} tenon__frame_t;

/* Returns the value that a place holds. */
static inline const tenon__value_node_t* tenon__frame_value(const tenon__frame_t* frame,
                                                            uint32_t place) {
  return &frame->run->engine->plan->network->graphs[frame->graph]
              ->values[frame->schedule->places[place].value];
}

#endif
