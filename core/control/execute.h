/* Running a graph: its steps, one after the other, and the bodies that they run. */
#ifndef TENON_CORE_CONTROL_EXECUTE_H_
#define TENON_CORE_CONTROL_EXECUTE_H_

#include "core/frame/frame_state.h"

/* Runs the graph's steps in order, in the thread that calls; parameters are lent, inputs taken.
 * Kernels of known extents are bound once. CANCELLED when somebody wants its end; whatever fails,
 * what its kernels left in zeroed memory is not known then. Called anew for each iteration of a
 * body, and for the branch that a choice takes. */
tenon_status_t tenon__frame_run(tenon__frame_t* frame);

#endif
