/* Running a graph: its steps, one after the other, and the bodies that they run. */
#ifndef TENON_CORE_CONTROL_EXECUTE_H_
#define TENON_CORE_CONTROL_EXECUTE_H_

#include "core/frame/frame_state.h"

/* Runs the graph's steps in order, in the calling thread. The parameters have been lent and the
 * inputs set. Kernels of known extents are bound once. Returns CANCELLED if the run was cancelled.
 * After any failure, the contents of memory that kernels require to be zero are unknown. Called
 * again for each iteration of a body, and for the selected branch of an If. */
tenon_status_t tenon__frame_run(tenon__frame_t* frame);

#endif
