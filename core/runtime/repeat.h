/* Steps that repeat a body: carried values, slices, what is collected. */
#ifndef TENON_CORE_RUNTIME_REPEAT_H_
#define TENON_CORE_RUNTIME_REPEAT_H_

#include "core/runtime/state.h"

tenon_status_t tenon__repeat_run(tenon__frame_t* frame, uint32_t step);
void tenon__control_destroy(struct tenon__control_state_t* control, tenon_allocator_t allocator);

#endif
