/* Why an argument of a step cannot be bound, in words. */
#ifndef TENON_CORE_FRAME_UNFIT_H_
#define TENON_CORE_FRAME_UNFIT_H_

#include "core/frame/frame_state.h"

/* Why a step's argument at a place cannot be bound, to the sink: INVALID_DATA, OUT_OF_MEMORY when
 * `status` is that. Called once binding has failed, so it may be slow: unknown, negative, beyond
 * its base's memory, or too large, with all extents as they are now. */
tenon_status_t tenon__frame_unfit(const tenon__frame_t* frame, const char* step, uint32_t place,
                                  tenon_status_t status);

#endif
