/* Running a frame's steps, and what is learned from the data on the way. */
#ifndef TENON_CORE_RUNTIME_EXECUTE_H_
#define TENON_CORE_RUNTIME_EXECUTE_H_

#include "core/runtime/state.h"

/* Runs the graph's steps in order. Parameters are set. CANCELLED when somebody wants its end. */
tenon_status_t tenon__frame_run(tenon__frame_t* frame);
/* After a value's numbers and extents are there: symbols that stand for them. */
tenon_status_t tenon__frame_learn(tenon__frame_t* frame, uint32_t place);

#endif
