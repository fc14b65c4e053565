/* Numbers of values on which shapes depend: what a run learns from data, and what the core writes
 * where they are known before any data. */
#ifndef TENON_CORE_STEP_NUMBERS_H_
#define TENON_CORE_STEP_NUMBERS_H_

#include "core/frame/frame_state.h"

/* After a place's numbers and extents are there: sets the symbols that stand for them. INVALID_DATA
 * where they are not what the plan made shapes of. Does nothing for a place whose numbers no shape
 * depends on. */
tenon_status_t tenon__frame_learn(tenon__frame_t* frame, uint32_t place);
/* The place's memory gets the numbers of its value, whose extents and contents are known by now.
 * For steps that the core does itself: shapes as tensors. INTERNAL where a number is not known in
 * time. */
tenon_status_t tenon__frame_write_numbers(tenon__frame_t* frame, uint32_t place);

#endif
