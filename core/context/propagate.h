/* Propagation of the inputs' extents. */
#ifndef TENON_CORE_CONTEXT_PROPAGATE_H_
#define TENON_CORE_CONTEXT_PROPAGATE_H_

#include "core/context/context_state.h"

/* Called in each run; does nothing if no input's extents have changed. Sets the inputs' symbols,
 * computes all dimensions, checks the shape constraints and that each value fits its place, and
 * binds static steps again. Returns INVALID_ARGUMENT if two inputs have different numbers for one
 * symbol. */
tenon_status_t tenon__context_propagate_shapes(tenon__context_t* context);

#endif
