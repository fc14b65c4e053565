/* What follows from the extents of the inputs. */
#ifndef TENON_CORE_CONTEXT_PROPAGATE_H_
#define TENON_CORE_CONTEXT_PROPAGATE_H_

#include "core/context/context_state.h"

/* What follows from the extents of the inputs, which are set: once for each change of theirs. Sets
 * the inputs' symbols, works out all dimensions, asks what the rules left to the run and whether
 * every value fits its place, and has static steps bound anew. Nothing happens while no input's
 * extents have changed. INVALID_ARGUMENT where two inputs say different numbers for one symbol. */
tenon_status_t tenon__context_propagate_shapes(tenon__context_t* context);

#endif
