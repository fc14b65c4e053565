/*
 * Steps that repeat a body (Loop) or map it over slices (Scan): transfers before, between and after
 * the iterations. The code that runs the step runs the body between tenon__repeat_set_parameters
 * and tenon__repeat_take.
 */
#ifndef TENON_CORE_CONTROL_REPEAT_H_
#define TENON_CORE_CONTROL_REPEAT_H_

#include "core/control/repeat_state.h"
#include "core/frame/frame_state.h"

/* One run of such a step, on the stack of that run. `most` is the smaller of the trip count and the
 * shortest sliced extent; INT64_MAX: only the condition ends the loop. */
typedef struct tenon__repeat_t {
  tenon__frame_t* frame;
  const tenon__step_t* step;
  tenon__frame_t* body;
  tenon__repeat_state_t* state;
  const tenon__control_layout_t* layout;
  int64_t iteration; /* number of completed iterations */
  int64_t most;
} tenon__repeat_t;

/* Reads the inputs of the step: initial carried values, captured values and the trip count. The
 * step's state is created in its first run and belongs to the frame. */
tenon_status_t tenon__repeat_begin(tenon__frame_t* frame, uint32_t step,
                                   tenon__repeat_t* out_repeat);
/* Returns true if another iteration follows. Returns false if the trip count is reached, or if the
 * condition (the initial one, or the last iteration's) is false. */
bool tenon__repeat_goes_on(const tenon__repeat_t* repeat);
/* Sets the body's parameters for the iteration, borrowed until tenon__repeat_take. */
tenon_status_t tenon__repeat_set_parameters(const tenon__repeat_t* repeat);
/* Takes the body's results: carried values for the next iteration, and collected slices. Returns
 * INVALID_DATA if their extents changed. */
tenon_status_t tenon__repeat_take(tenon__repeat_t* repeat);
/* Sets the step's outputs after the last iteration. */
tenon_status_t tenon__repeat_end(const tenon__repeat_t* repeat);

#endif
