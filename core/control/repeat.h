/*
 * Steps that repeat a body, or map it over slices: what crosses before, between and after the
 * iterations. Who runs the step runs the body between lending and taking.
 */
#ifndef TENON_CORE_CONTROL_REPEAT_H_
#define TENON_CORE_CONTROL_REPEAT_H_

#include "core/control/repeat_state.h"
#include "core/frame/frame_state.h"

/* One run of such a step. On the stack of one step's run. `most` is the trip count and the shortest
 * sliced extent, whichever is less; INT64_MAX: the condition alone ends it. */
typedef struct tenon__repeat_t {
  tenon__frame_t* frame;
  const tenon__step_t* step;
  tenon__frame_t* body;
  tenon__repeat_state_t* state;
  const tenon__control_layout_t* layout;
  int64_t iteration; /* so many have been taken */
  int64_t most;
} tenon__repeat_t;

/* Takes what the graph gives: carried values' beginnings, what the body captures, how often. The
 * step's state is made when it runs for the first time, and is the frame's. */
tenon_status_t tenon__repeat_begin(tenon__frame_t* frame, uint32_t step,
                                   tenon__repeat_t* out_repeat);
/* Is there another iteration? Also false once the condition, the first or what the last iteration
 * gave, does not hold. */
bool tenon__repeat_goes_on(const tenon__repeat_t* repeat);
/* The body's parameters for it, lent until they are taken back. */
tenon_status_t tenon__repeat_set_parameters(const tenon__repeat_t* repeat);
/* What the body made: carried on, and collected. INVALID_DATA where its extents changed. */
tenon_status_t tenon__repeat_take(tenon__repeat_t* repeat);
/* The step's outputs, when there is no other. */
tenon_status_t tenon__repeat_end(const tenon__repeat_t* repeat);

#endif
