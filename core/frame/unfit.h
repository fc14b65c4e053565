/* Messages for arguments of a step that cannot be bound. */
#ifndef TENON_CORE_FRAME_UNFIT_H_
#define TENON_CORE_FRAME_UNFIT_H_

#include "core/frame/frame_state.h"

/* Sends the reason why a step's argument at a place cannot be bound: unknown, negative, beyond its
 * base's memory, or too large, with all current extents. Returns OUT_OF_MEMORY if `status` is that,
 * else INVALID_DATA. Called only after binding has failed, so it may be slow. */
tenon_status_t tenon__frame_unfit(const tenon__frame_t* frame, const char* step, uint32_t place,
                                  tenon_status_t status);

#endif
