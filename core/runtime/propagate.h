/* What follows from the extents of the inputs. */
#ifndef TENON_CORE_RUNTIME_PROPAGATE_H_
#define TENON_CORE_RUNTIME_PROPAGATE_H_

#include "core/runtime/types.h"

/* What follows from the extents of the inputs, which are set: once for each change of theirs. */
tenon_status_t tenon__context_propagate_shapes(tenon__context_t* context);

#endif
