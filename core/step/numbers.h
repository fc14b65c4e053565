/* Shape values: numbers of tensors on which shapes depend. A run reads them from data, or the core
 * writes them if they are known without data. */
#ifndef TENON_CORE_STEP_NUMBERS_H_
#define TENON_CORE_STEP_NUMBERS_H_

#include "core/frame/frame_state.h"

/* Sets the symbols for a place's numbers and extents, which are available. Does nothing if no shape
 * depends on the place. Returns INVALID_DATA if the numbers contradict the plan. */
tenon_status_t tenon__frame_learn(tenon__frame_t* frame, uint32_t place);
/* Writes the numbers of a place's value, whose extents and contents are known, to its memory. For
 * steps of the core itself: shapes as tensors. Returns INTERNAL if a number is not known in
 * time. */
tenon_status_t tenon__frame_write_numbers(tenon__frame_t* frame, uint32_t place);

#endif
