/* A frame: one graph of a plan at work. It has memory for each place, and arguments and a bound kernel
 * for each step. Bodies reuse their frames from iteration to iteration. */
#ifndef TENON_CORE_FRAME_FRAME_STATE_H_
#define TENON_CORE_FRAME_FRAME_STATE_H_

#include "core/frame/chain_state.h"
#include "core/frame/run_state.h"
#include "core/frame/step_state.h"

/* What the run does with a value's numbers when they are there: takes them for symbols, compares
 * them with what the plan knows. */
enum { TENON_NUMBERS_LEARNT = 1u << 0, TENON_NUMBERS_COMPARED = 1u << 1 };

/* An extent that a symbol stands for, of a value that was replaced: its shape says it otherwise. */
typedef struct tenon__following_t {
  uint32_t symbol;
  tenon_dim_t dim;
} tenon__following_t;

/* Lists lie in the run's arena. schedule, requirements: the plan's. places[p], numbers[p],
 * steps[k] and repeats[k] stand beside the schedule's places and steps. */
typedef struct tenon__frame_t {
  tenon__run_state_t* run;
  uint32_t graph;
  const tenon__schedule_t* schedule;
  char* memory[TENON_DEVICE_LIMIT]; /* of each device's activations: the graph's part */
  tenon__place_state_t* places;
  tenon__step_state_t* steps;
  uint8_t* numbers;     /* of each place: TENON_NUMBERS_* */
  uint32_t found_count; /* symbols that this graph's own steps find, anew in every run */
  uint32_t* found;
  uint32_t sizing_count; /* views whose numbers are extents elsewhere: no step of theirs says so */
  uint32_t* sizing;
  uint32_t given_count; /* places that no step makes, whose numbers a run looks at */
  uint32_t* given;
  uint32_t following_count;
  tenon__following_t* following;
  tenon__at_bound_t* at_bounds; /* in the order of the steps that make them */
  uint32_t at_bound_count;
  bool learns;      /* a run finds extents, or looks at numbers */
  bool is_bound;    /* static steps are */
  uint64_t version; /* one more whenever an address or a bound step may be another one */
  uint64_t clock;   /* of forms: which was used last */
  uint32_t chain_count;
  tenon__chain_t* chains;                 /* in order */
  struct tenon__repeat_state_t** repeats; /* per step, once it has run */
  uint32_t requirement_count;
  const tenon__requirement_t* requirements; /* of this graph, in the plan */
  uint64_t checked_version;                 /* of the extents for which they were found to hold */
} tenon__frame_t;

/* The value that a place holds. */
static inline const tenon__value_node_t* tenon__frame_value(const tenon__frame_t* frame,
                                                            uint32_t place) {
  return &frame->run->engine->plan->network->graphs[frame->graph]
              ->values[frame->schedule->places[place].value];
}

#endif
