/* Control nodes, executed by the core: what crosses between a graph and its bodies, and choosing
 * one. */
#ifndef TENON_CORE_RUNTIME_CONTROL_H_
#define TENON_CORE_RUNTIME_CONTROL_H_

#include "core/runtime/state.h"

/* A place's memory becomes a copy of the argument: control's results. */
tenon_status_t tenon__frame_store(tenon__frame_t* frame, uint32_t place,
                                  const tenon_argument_t* argument);
/* A body's parameter takes the argument, a tensor in rows; its memory is lent until the body has
 * run. */
tenon_status_t tenon__frame_lend(tenon__frame_t* body, uint32_t parameter,
                                 const tenon_argument_t* argument);
/* The one number (or condition) at a place. */
tenon_status_t tenon__frame_scalar(tenon__frame_t* frame, uint32_t place, int64_t* out_number);

tenon_status_t tenon__control_run(tenon__frame_t* frame, uint32_t step);

#endif
